"""Readers of carbon signals: Electricity Maps' export, a plain table, and Caspian's headerless pairs.

========================= ===================================================== ==================
format                    columns                                               zone
========================= ===================================================== ==================
Electricity Maps' export  ``Datetime (UTC)``, ``Zone Id``, ``Carbon intensity   its column
                          gCO₂eq/kWh (direct)`` and ``(LCA)``/``(Life cycle)``
plain                     ``datetime,zone,carbon_intensity_g_per_kwh``          its column
Caspian                   no header: time, intensity                            name of the file
========================= ===================================================== ==================

Besides, what each other module of `carbonopt.io.carbon_formats` reads: JSON of five sources, CarbonCast, Cambium and
EIA-930.

A value holds from its time until the next one: the signal is piecewise constant, and a slot's intensity
is its time-weighted mean over the slot. Times are ISO 8601; one without a time zone is UTC.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.time import TimeGrid, parse_utc
from carbonopt.io.carbon_formats.labels import joined, mixing_faults
from carbonopt.io.reading import Reading
from carbonopt.io.series import SignalSeries, read_series, slot_means
from carbonopt.io.times import HOUR_NS, TIME_RULE, moment, nanoseconds, utc_text


def read_carbon(
    *paths: str | os.PathLike[str],
    zones: Sequence[str] | None = None,
    start: datetime | str | None = None,
    slots: int | None = None,
    slot_hours: float = 1.0,
    zone_names: Mapping[str, str] | None = None,
    wrap: bool = False,
    intensity: str = "lca",
    mixed: Sequence[str] = (),
    kind: str | None = None,
    fill: str | None = None,
    tz: str | None = None,
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
    intensity, mixed, kind, fill, tz
        What to take where the files leave a choice: see `carbonopt.io.reading.Reading`.

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
    reading = Reading(intensity, kind, fill, tz, tuple(mixed))
    found = read_zones(paths, lambda path: read_series(path, reading))
    chosen = _chosen(found, zones, zone_names or {})
    _require_as_asked(chosen, reading)
    mixing = mixing_faults((series.file, series.labels) for series in chosen)
    mixing = [fault for fault in mixing if fault.field.removeprefix("labels.") not in mixed]
    if mixing:
        raise InputError(mixing)
    time = _window(chosen, start, slots, slot_hours)
    if not wrap or slots is None:
        require_cover(chosen, time, "" if slots is None else ", unless wrap (--wrap) repeats them")
    names = [(zone_names or {}).get(series.zone, series.zone) for series in chosen]
    labels = {name: series.labels.told() for name, series in zip(names, chosen, strict=True) if series.labels.told()}
    return CarbonSignal(tuple(names), np.array([slot_means(series, time) for series in chosen]), time, labels)


def read_zones(
    paths: Sequence[str | os.PathLike[str]], read: Callable[[str | os.PathLike[str]], list[SignalSeries]]
) -> dict[str, SignalSeries]:
    """Return the zones of all files by name, each file by `read`.

    Raises
    ------
    InputError
        With every file's faults at once.
    """
    parts: dict[str, list[SignalSeries]] = {}
    faults: list[Fault] = [] if paths else [Fault("paths", "must name at least one file")]
    for path in paths:
        try:
            for series in read(path):
                parts.setdefault(series.zone, []).append(series)
        except InputError as error:
            faults += error.faults
    for several in parts.values():
        several.sort(key=lambda series: series.begin_ns)
        faults += [fault for pair in pairwise(several) for fault in _seam_faults(*pair)]
    if faults:
        raise InputError(faults)
    return {zone: _join(several) for zone, several in parts.items()}


def _seam_faults(before: SignalSeries, after: SignalSeries) -> list[Fault]:
    if (after.begin_ns, after.step_ns) == (before.end_ns, before.step_ns):
        return []
    step = f"{before.step_ns / HOUR_NS:g} h"
    problem = f"must go on from {utc_text(before.end_ns)} every {step}, where {before.file} ends zone {after.zone!r}"
    return [Fault("datetime", problem, utc_text(after.begin_ns), file=after.file)]


def _join(parts: Sequence[SignalSeries]) -> SignalSeries:
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.values for part in parts])
    files = ", ".join(part.file for part in parts)
    return SignalSeries(parts[0].zone, times, values, files, joined(part.labels for part in parts))


def _chosen(
    found: Mapping[str, SignalSeries], zones: Sequence[str] | None, zone_names: Mapping[str, str]
) -> list[SignalSeries]:
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


def _require_as_asked(chosen: Sequence[SignalSeries], reading: Reading) -> None:
    """Refuse a series that its source says is of another kind or scope than what was asked for by name."""
    faults = []
    for series in chosen:
        kind, scope = series.labels.kind, series.labels.scope
        if reading.kind is not None and kind and reading.kind.split()[-1] not in kind:
            faults.append(
                Fault("kind", f"is not what zone {series.zone!r} holds: {kind}", reading.kind, file=series.file)
            )
        if reading.intensity == "direct" and scope == "lca":
            faults.append(
                Fault("intensity", f"is not what zone {series.zone!r} holds: lca", "direct", file=series.file)
            )
    if faults:
        raise InputError(faults)


def _window(
    chosen: Sequence[SignalSeries], start: datetime | str | None, slots: int | None, slot_hours: float
) -> TimeGrid:
    try:
        given = parse_utc(start) if isinstance(start, str) else start
    except ValueError:
        raise InputError(Fault("start", TIME_RULE, shown(start))) from None
    begin = max(series.begin_ns for series in chosen) if given is None else nanoseconds(given)
    hours = TimeGrid(1 if slots is None else slots, slot_hours).hours
    if slot_hours * HOUR_NS <= 0.5 or hours * HOUR_NS >= 2**62:
        problem = "must give slots of at least 1 ns and a window of at most 146 years"
        raise InputError(Fault("slot_hours", problem, shown(slot_hours)))
    slot = round(slot_hours * HOUR_NS)
    end = min(series.end_ns for series in chosen)
    return TimeGrid(max(1, (end - begin) // slot) if slots is None else slots, slot_hours, moment(begin))


def require_cover(chosen: Sequence[SignalSeries], time: TimeGrid, way_out: str) -> None:
    """Refuse slots outside the data of a zone; `way_out` ends the message."""
    begin = nanoseconds(time.start)
    end = begin + time.slots * round(time.slot_hours * HOUR_NS)
    faults = [
        Fault(
            "start" if begin < series.begin_ns else "slots",
            f"must stay inside the data of zone {series.zone!r}, {utc_text(series.begin_ns)} to"
            f" {utc_text(series.end_ns)}{way_out}",
            f"{utc_text(begin)} to {utc_text(end)}",
            file=series.file,
        )
        for series in chosen
        if begin < series.begin_ns or end > series.end_ns
    ]
    if faults:
        raise InputError(faults)
