"""Readers of carbon signals: Electricity Maps' export, a plain table, and Caspian's headerless pairs.

========================= ===================================================== ==================
format                    columns                                               zone
========================= ===================================================== ==================
Electricity Maps' export  ``Datetime (UTC)``, ``Zone Id``, ``Carbon intensity   its column
                          gCO₂eq/kWh (direct)`` and ``(LCA)``/``(Life cycle)``
plain                     ``datetime,zone,carbon_intensity_g_per_kwh``          its column
Caspian                   no header: time, intensity                            name of the file
========================= ===================================================== ==================

A value holds from its time until the next one: the signal is piecewise constant, and a slot's intensity
is its time-weighted mean over the slot. Times are ISO 8601; one without a time zone is UTC.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import PurePath

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.time import TimeGrid, format_utc, parse_utc, to_utc
from carbonopt.io.jobs import Table, read_table

TimeArray = npt.NDArray[np.datetime64]
_Layout = dict[str, tuple[str, ...]]

HOUR_NS = 3_600_000_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"\s*\d{4}-\d\d-\d\d([T ]|\s*$)")
_TIME_RULE = "must be an ISO 8601 time in 1700-2199, e.g. 2022-01-01T00:00:00Z"
_PLAIN: _Layout = {name: (name,) for name in ("datetime", "zone", "carbon_intensity_g_per_kwh")}
_CASPIAN = ("datetime", "carbon_intensity_g_per_kwh")
_ELECTRICITY_MAPS: _Layout = {"Datetime (UTC)": ("Datetime (UTC)",), "Zone Id": ("Zone Id",)}
_INTENSITIES: _Layout = {
    "lca": ("Carbon intensity gCO₂eq/kWh (Life cycle)", "Carbon intensity gCO₂eq/kWh (LCA)"),
    "direct": ("Carbon intensity gCO₂eq/kWh (direct)",),
}


@dataclass(frozen=True, eq=False)
class CarbonSeries:
    """Carbon intensity of one zone as a file holds it.

    Parameters
    ----------
    zone
        Name of the zone in the file.
    times
        UTC times from which the values hold, shape (N,), ``datetime64[ns]``, N >= 2, evenly spaced.
    g_per_kwh
        Intensity from each time to the next [gCO2eq/kWh], shape (N,).
    file
        Where it was read from; empty for a series made in a program.
    """

    zone: str
    times: TimeArray
    g_per_kwh: FloatArray
    file: str = ""

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        times = np.array(self.times, dtype="datetime64[ns]")
        times.setflags(write=False)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "g_per_kwh", frozen_float(self.g_per_kwh))

    @property
    def step_ns(self) -> int:
        """How long each value holds [ns]."""
        return int((self.times[1] - self.times[0]).astype(np.int64))

    @property
    def begin_ns(self) -> int:
        """Time of the first value [ns since 1970 UTC]."""
        return int(self.times[0].astype(np.int64))

    @property
    def end_ns(self) -> int:
        """End of the last value [ns since 1970 UTC]."""
        return self.begin_ns + len(self.times) * self.step_ns


def read_carbon(
    *paths: str | os.PathLike[str],
    zones: Sequence[str] | None = None,
    start: datetime | str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    zone_names: Mapping[str, str] | None = None,
    wrap: bool = False,
    intensity: str = "lca",
) -> CarbonSignal:
    r"""Read the carbon signal of some zones over some slots.

    Parameters
    ----------
    *paths
        Files, plain or gzip, each of any of the formats above. A zone may go on from one file to the next.
    zones
        Zones to take, in this order, by their names in the files; None for all, in the files' order.
    start
        Beginning of slot 0; None for the first time that all zones have.
    slots
        Number of slots T; None for as many whole slots as all zones have.
    slot_hours
        Length of a slot [h]: shorter than, equal to or longer than the files' own.
    zone_names
        New names of zones: ``{"DE": "Frankfurt"}``.
    wrap
        Repeat each zone's data, whole, before its beginning and after its end.
    intensity
        ``"lca"`` (life cycle) or ``"direct"`` (combustion only) from files that hold both. Other files hold
        one intensity and do not say which; it is taken as it is.

    Returns
    -------
    CarbonSignal
        Time-weighted mean of each slot [gCO2eq/kWh], shape (Z, T).

    Raises
    ------
    InputError
        With every fault of every file (column, line, value, what would be right), for an unknown zone, and
        for a window outside the data.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "DE.csv")
    ...     _ = path.write_text("2023-11-14T00:00:00Z,400\n2023-11-14T01:00:00Z,300\n")
    ...     signal = read_carbon(path, slot_hours=0.5)
    >>> signal.zones, signal.g_per_kwh.tolist()
    (('DE',), [[400.0, 400.0, 300.0, 300.0]])
    """
    found = _read_all(paths, intensity)
    chosen = _chosen(found, zones, zone_names or {})
    time = _window(chosen, start, slots, slot_hours)
    if not wrap or slots is None:
        _require_cover(chosen, time)
    names = [(zone_names or {}).get(series.zone, series.zone) for series in chosen]
    return CarbonSignal(tuple(names), np.array([slot_means(series, time) for series in chosen]), time)


def _read_all(paths: Sequence[str | os.PathLike[str]], intensity: str) -> dict[str, CarbonSeries]:
    """Return the zones of all files by name, every file's faults at once."""
    parts: dict[str, list[CarbonSeries]] = {}
    faults: list[Fault] = [] if paths else [Fault("paths", "must name at least one file")]
    for path in paths:
        try:
            for series in read_series(path, intensity):
                parts.setdefault(series.zone, []).append(series)
        except InputError as error:
            faults += error.faults
    for several in parts.values():
        several.sort(key=lambda series: series.begin_ns)
        faults += [fault for pair in pairwise(several) for fault in _seam_faults(*pair)]
    if faults:
        raise InputError(faults)
    return {zone: _join(several) for zone, several in parts.items()}


def _seam_faults(before: CarbonSeries, after: CarbonSeries) -> list[Fault]:
    if (after.begin_ns, after.step_ns) == (before.end_ns, before.step_ns):
        return []
    step = f"{before.step_ns / HOUR_NS:g} h"
    problem = f"must go on from {_text(before.end_ns)} every {step}, where {before.file} ends zone {after.zone!r}"
    return [Fault("datetime", problem, _text(after.begin_ns), file=after.file)]


def _join(parts: Sequence[CarbonSeries]) -> CarbonSeries:
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.g_per_kwh for part in parts])
    return CarbonSeries(parts[0].zone, times, values, ", ".join(part.file for part in parts))


def _chosen(
    found: Mapping[str, CarbonSeries], zones: Sequence[str] | None, zone_names: Mapping[str, str]
) -> list[CarbonSeries]:
    files = ", ".join(dict.fromkeys(series.file for series in found.values()))
    asked = {"zones": list(found) if zones is None else zones, "zone_names": list(zone_names)}
    faults = [
        Fault(field, f"is an unknown zone: the files have {one_of(list(found))}", shown(zone), row, files)
        for field, names in asked.items()
        for row, zone in enumerate(names)
        if zone not in found
    ]
    if not asked["zones"]:
        faults.append(Fault("zones", "must name at least one zone, or be None for all"))
    if faults:
        raise InputError(faults)
    return [found[zone] for zone in asked["zones"]]


def _window(
    chosen: Sequence[CarbonSeries], start: datetime | str | None, slots: int | None, slot_hours: float
) -> TimeGrid:
    try:
        given = parse_utc(start) if isinstance(start, str) else start
    except ValueError:
        raise InputError(Fault("start", _TIME_RULE, shown(start))) from None
    begin = max(series.begin_ns for series in chosen) if given is None else _nanoseconds(given)
    hours = TimeGrid(1 if slots is None else slots, slot_hours).hours
    slot = round(slot_hours * HOUR_NS)
    if slot < 1 or hours * HOUR_NS >= 2**62:
        problem = "must give slots of at least 1 ns and a window of at most 146 years"
        raise InputError(Fault("slot_hours", problem, shown(slot_hours)))
    end = min(series.end_ns for series in chosen)
    return TimeGrid(max(1, (end - begin) // slot) if slots is None else slots, slot_hours, _moment(begin))


def _require_cover(chosen: Sequence[CarbonSeries], time: TimeGrid) -> None:
    begin = _nanoseconds(time.start)
    end = begin + time.slots * round(time.slot_hours * HOUR_NS)
    faults = [
        Fault(
            "start" if begin < series.begin_ns else "slots",
            f"must stay inside the data of zone {series.zone!r}, {_text(series.begin_ns)} to {_text(series.end_ns)}, "
            "unless wrap=True and slots repeat them",
            f"{_text(begin)} to {_text(end)}",
            file=series.file,
        )
        for series in chosen
        if begin < series.begin_ns or end > series.end_ns
    ]
    if faults:
        raise InputError(faults)


def slot_means(series: CarbonSeries, time: TimeGrid) -> FloatArray:
    """Return the time-weighted mean of `series`, repeated periodically, over each slot.

    Returns
    -------
    FloatArray
        [gCO2eq/kWh], shape (T,). A slot inside one value is that value, to the last bit.
    """
    step, count = series.step_ns, len(series.times)
    slot = round(time.slot_hours * HOUR_NS)
    begin = (_nanoseconds(time.start) - series.begin_ns) % (count * step)
    edges = begin + slot * np.arange(time.slots + 1, dtype=np.int64)
    rows = edges[:-1, None] // step + np.arange(-(-slot // step) + 1)
    overlap = np.minimum(edges[1:, None], (rows + 1) * step) - np.maximum(edges[:-1, None], rows * step)
    share = np.clip(overlap, 0, None) / slot
    return np.asarray((share * series.g_per_kwh[rows % count]).sum(axis=1))


def read_series(path: str | os.PathLike[str], intensity: str = "lca") -> list[CarbonSeries]:
    """Read every zone of one file, sorted by time, without resampling.

    Parameters
    ----------
    path
        The file, of any of the formats above.
    intensity
        As in `read_carbon`.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.
    """
    if intensity not in _INTENSITIES:
        raise InputError(Fault("intensity", f"must be {one_of(tuple(_INTENSITIES))}", shown(intensity)))
    table = read_table(path, headerless=(_TIME, _CASPIAN))
    time, zone, value = _columns(table, intensity)
    times, values = _times(table.cells[time]), table.numbers(value)
    stem = PurePath(path).name.removesuffix(".gz").removesuffix(".csv")
    zones = [stem] * len(times) if zone is None else [cell.strip() for cell in table.cells[zone]]
    faults = table.faults(time, np.isnat(times), _TIME_RULE)
    if zone is not None:
        faults += table.faults(zone, np.array([not name for name in zones]), "must name a zone")
    orders = _orders(zones, times)
    if not faults:  # a faulty time or zone would show again as a gap
        faults += [fault for order in orders.values() for fault in _spacing_faults(table, time, times, order)]
    faults += table.faults(value, ~((values >= 0) & (values < np.inf)), "must be a number of g/kWh, at least 0")
    if faults:
        raise InputError(faults)
    return [CarbonSeries(name, times[order], values[order], table.file) for name, order in orders.items()]


def _columns(table: Table, intensity: str) -> tuple[int, int | None, int]:
    """Return where time, zone (None: the file's name) and intensity stand."""
    if table.header == _CASPIAN:
        return 0, None, 1
    spellings = _INTENSITIES[intensity]
    layouts = [_PLAIN, _ELECTRICITY_MAPS | {spellings[0]: spellings}]
    known = [sum(bool(table.spelled(names)) for names in layout.values()) for layout in layouts]
    if not any(known):
        problem = "is no known header: must be 'datetime,zone,carbon_intensity_g_per_kwh' or Electricity Maps' export"
        raise InputError(Fault("", problem, shown(",".join(table.header)), file=table.file))
    time, zone, value = table.columns(layouts[int(np.argmax(known))]).values()
    return time, zone, value


def _times(cells: Sequence[str]) -> TimeArray:
    """Return cells as UTC times, NaT where a cell is none (pandas alone would take ``now`` and ``2022``)."""
    import pandas as pd

    texts = [cell.strip() if _TIME.match(cell) else "" for cell in cells]
    parsed = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, format="ISO8601", errors="coerce")
    times = np.array(pd.DatetimeIndex(parsed).tz_localize(None), dtype="datetime64[us]")
    outside = (times < np.datetime64("1700")) | (times >= np.datetime64("2200"))  # what 64 bits of ns can hold
    times[outside] = np.datetime64("NaT")
    return times.astype("datetime64[ns]")


def _orders(zones: Sequence[str], times: TimeArray) -> dict[str, IntArray]:
    """Return the rows of each zone, by name in the file's order, sorted by time."""
    rows: dict[str, list[int]] = {}
    for row, zone in enumerate(zones):
        rows.setdefault(zone, []).append(row)
    return {zone: np.array(own)[np.argsort(times[own], kind="stable")] for zone, own in rows.items()}


def _spacing_faults(table: Table, column: int, times: TimeArray, order: IntArray) -> list[Fault]:
    """Return a fault for each row that is not one step after the row before; most rows say how long that is."""
    gaps = np.diff(times[order].astype(np.int64))
    lengths, counts = np.unique(gaps[gaps > 0], return_counts=True)
    if not lengths.size:
        return [table.fault(column, int(order[-1]), "must be followed: a zone needs two times or more")]
    step = int(lengths[np.argmax(counts)])
    faults = []
    for place in np.flatnonzero(gaps != step):
        hours, line = gaps[place] / HOUR_NS, table.lines[order[place]]
        problem = f"must be {step / HOUR_NS:g} h after line {line}, not {hours:g} h: a zone's rows must leave no gap"
        if not gaps[place]:
            problem = f"is a duplicate of line {line}: a zone has each time once"
        faults.append(table.fault(column, int(order[place + 1]), problem))
    return faults


def _nanoseconds(moment: datetime) -> int:
    return (to_utc(moment) - _EPOCH) // timedelta(microseconds=1) * 1000


def _moment(nanoseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def _text(nanoseconds: int) -> str:
    return format_utc(_moment(nanoseconds))
