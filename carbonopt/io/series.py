"""Carbon intensity as files hold it: one series a zone, before it is cut into slots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.jsonfile import read_text
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon_formats import FORMATS
from carbonopt.io.carbon_formats.format import INTENSITIES, CarbonFormat
from carbonopt.io.carbon_formats.json_format import Row
from carbonopt.io.carbon_formats.labels import UNLABELLED, Labels, joined
from carbonopt.io.carbon_json import read_json_issues, read_json_table
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.times import HOUR_NS, TIME, TIME_RULE, TimeArray, nanoseconds, utc_times


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
    labels
        What the source says about the values.
    """

    zone: str
    times: TimeArray
    g_per_kwh: FloatArray
    file: str = ""
    labels: Labels = UNLABELLED

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


def slot_means(series: CarbonSeries, time: TimeGrid) -> FloatArray:
    """Return the time-weighted mean of `series`, repeated periodically, over each slot.

    Returns
    -------
    FloatArray
        [gCO2eq/kWh], shape (T,). A slot inside one value is that value, to the last bit.
    """
    step = series.step_ns
    count = len(series.times)
    slot = round(time.slot_hours * HOUR_NS)
    begin = (nanoseconds(time.start) - series.begin_ns) % (count * step)
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
    if intensity not in INTENSITIES:
        raise InputError(Fault("intensity", f"must be {one_of(INTENSITIES)}", shown(intensity)))
    if read_text(path).lstrip()[:1] in ("{", "["):
        return _json_series(*read_json_table(path))
    bare = next(kind for kind in FORMATS if not kind.has_header)
    table = read_table(path, headerless=(TIME, tuple(bare.layout(intensity))))
    kind = _format(table, intensity)
    time, *zones_at, value = table.columns(kind.layout(intensity)).values()
    labels = kind.labels
    if len(set(kind.value.values())) > 1:
        labels = replace(labels, scope=intensity)
    at = (time, zones_at[0] if zones_at else None, value)
    return _series(table, at, [labels] * len(table.lines), kind.g_per_kwh)


def read_issues(path: str | os.PathLike[str]) -> list[CarbonSeries]:
    """Read every zone of every forecast in one file, as `read_series` does; a file of CSV is one forecast."""
    if read_text(path).lstrip()[:1] not in ("{", "["):
        return read_series(path)
    return [series for issue in read_json_issues(path) for series in _json_series(*issue)]


def _json_series(table: Table, rows: Sequence[Row]) -> list[CarbonSeries]:
    zone = 0 if any(table.cells[0]) else None
    return _series(table, (1, zone, 2), [row.labels for row in rows])


def _series(
    table: Table, at: tuple[int, int | None, int], labels: Sequence[Labels], g_per_kwh: float = 1.0
) -> list[CarbonSeries]:
    """Return the zones of a table whose columns of times, zones and values are `at`; `labels` of each row."""
    time, zone, value = at
    times = utc_times(table.cells[time])
    values = table.numbers(value) * g_per_kwh
    stem = PurePath(table.file).name.removesuffix(".gz").removesuffix(".csv").removesuffix(".json")
    if zone is None:
        zones = [stem] * len(times)
    else:
        zones = [cell.strip() for cell in table.cells[zone]]
    faults = table.faults(time, np.isnat(times), TIME_RULE)
    if zone is not None:
        faults += table.faults(zone, np.array([not name for name in zones]), "must name a zone")
    orders = _orders(zones, times)
    if not faults:  # a faulty time or zone would show again as a gap
        faults += [fault for order in orders.values() for fault in _spacing_faults(table, time, times, order)]
    faults += table.faults(value, ~((values >= 0) & (values < np.inf)), "must be a number of g/kWh, at least 0")
    if faults:
        raise InputError(faults)
    return [
        CarbonSeries(name, times[order], values[order], table.file, joined(labels[row] for row in order))
        for name, order in orders.items()
    ]


def _format(table: Table, intensity: str) -> CarbonFormat:
    """Return the format whose columns the header has most of, the first of several."""
    for kind in FORMATS:
        if not kind.has_header and table.header == tuple(kind.layout(intensity)):
            return kind
    headed = [kind for kind in FORMATS if kind.has_header]
    known = [sum(bool(table.spelled(names)) for names in kind.layout(intensity).values()) for kind in headed]
    if not any(known):
        titles = " or ".join(kind.title for kind in headed)
        raise InputError(
            Fault("", f"is no known header: must be {titles}", shown(",".join(table.header)), file=table.file)
        )
    return headed[int(np.argmax(known))]


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
        hours = gaps[place] / HOUR_NS
        before = table.place(int(order[place]))
        problem = f"must be {step / HOUR_NS:g} h after {before}, not {hours:g} h: a zone's rows must leave no gap"
        if not gaps[place]:
            problem = f"is a duplicate of {before}: a zone has each time once"
        faults.append(table.fault(column, int(order[place + 1]), problem))
    return faults
