"""A signal as files hold it: one series a zone, before it is cut into slots."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, frozen_float
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.jsonfile import read_text
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon_formats import FORMATS
from carbonopt.io.carbon_formats.cambium import CAMBIUM
from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.carbon_formats.json_format import Row
from carbonopt.io.carbon_formats.labels import UNLABELLED, Labels, joined
from carbonopt.io.carbon_formats.plain import PLAIN
from carbonopt.io.carbon_json import read_json_issues, read_json_table
from carbonopt.io.csvfile import Table, read_table
from carbonopt.io.gaps import filled, spacing
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.times import HOUR_NS, TIME, TIME_RULE, TimeArray, local_times, nanoseconds, utc_times

MISSING = ("", "nan", "null", "none")
"""What stands where a value is missing."""
NO_NEIGHBOUR = "must be there: what is first or last cannot be filled"


@dataclass(frozen=True, eq=False)
class SignalSeries:
    """Carbon intensity, or price, of one zone as a file holds it.

    Parameters
    ----------
    zone
        Name of the zone in the file.
    times
        UTC times from which the values hold, shape (N,), ``datetime64[ns]``, N >= 2, evenly spaced.
    values
        Intensity [gCO2eq/kWh] or price [currency/kWh] from each time to the next, shape (N,).
    file
        Where it was read from; empty for a series made in a program.
    labels
        What the source says about the values.
    """

    zone: str
    times: TimeArray
    values: FloatArray
    file: str = ""
    labels: Labels = UNLABELLED

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        times = np.array(self.times, dtype="datetime64[ns]")
        times.setflags(write=False)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", frozen_float(self.values))

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


def slot_means(series: SignalSeries, time: TimeGrid) -> FloatArray:
    """Return the time-weighted mean of `series`, repeated periodically, over each slot.

    Returns
    -------
    FloatArray
        In the unit of the series, shape (T,). A slot inside one value is that value, to the last bit.
    """
    step = series.step_ns
    count = len(series.times)
    slot = round(time.slot_hours * HOUR_NS)
    begin = (nanoseconds(time.start) - series.begin_ns) % (count * step)
    edges = begin + slot * np.arange(time.slots + 1, dtype=np.int64)
    rows = edges[:-1, None] // step + np.arange(-(-slot // step) + 1)
    overlap = np.minimum(edges[1:, None], (rows + 1) * step) - np.maximum(edges[:-1, None], rows * step)
    share = np.clip(overlap, 0, None) / slot
    return np.asarray((share * series.values[rows % count]).sum(axis=1))


def read_series(path: str | os.PathLike[str], reading: Reading = AS_THEY_ARE) -> list[SignalSeries]:
    """Read every zone of one file, sorted by time, without resampling.

    Parameters
    ----------
    path
        The file, of any of the formats above.
    reading
        What to take where the file leaves a choice.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right.
    """
    if read_text(path).lstrip()[:1] in ("{", "["):
        return _json_series(*read_json_table(path), reading)
    bare = next(kind for kind in FORMATS if not kind.has_header)
    headers = [name for kind in CAMBIUM for columns in kind.value.values() for name in columns]
    table = read_table(path, headerless=(TIME, tuple(bare.layout(reading.intensity))), preamble=headers)
    kind = _format(table, reading)
    time, *zones_at, value = table.columns(kind.layout(reading.intensity)).values()
    labels = kind.labels
    if len(set(kind.value.values())) > 1:
        labels = replace(labels, scope=reading.intensity)
    at = (time, zones_at[0] if zones_at else None, value)
    return series_of(table, at, [labels] * len(table.lines), reading, kind)


def read_issues(path: str | os.PathLike[str]) -> list[SignalSeries]:
    """Read every zone of every forecast in one file, as `read_series` does; a file of CSV is one forecast."""
    if read_text(path).lstrip()[:1] not in ("{", "["):
        return read_series(path)
    return [series for issue in read_json_issues(path) for series in _json_series(*issue, AS_THEY_ARE)]


def _json_series(table: Table, rows: Sequence[Row], reading: Reading) -> list[SignalSeries]:
    zone = 0 if any(table.cells[0]) else None
    return series_of(table, (1, zone, 2), [row.labels for row in rows], reading, PLAIN)


def series_of(
    table: Table, at: tuple[int, int | None, int], labels: Sequence[Labels], reading: Reading, kind: CarbonFormat
) -> list[SignalSeries]:
    """Return the zones of a table whose columns of times, zones and values are `at`; `labels` of each row."""
    time, zone, value = at
    zones = _zones(table, zone)
    tz = None if labels[0].time_zone else reading.tz
    times, faults = _times(table, time, zones, tz, kind.shift_hours)
    if tz is not None:
        labels = [replace(row, time_zone=tz) for row in labels]
    values = table.numbers(value) * kind.g_per_kwh
    if zone is not None:
        faults += table.faults(zone, np.array([not name for name in zones]), "must name a zone")
    orders = _orders(zones, times)
    steps = {}
    if not faults:  # a faulty time or zone would show again as a gap
        local = not labels[0].time_zone
        found = {name: spacing(table, time, times, order, reading.fill, local) for name, order in orders.items()}
        faults += [fault for zone_spacing in found.values() for fault in zone_spacing.faults]
        steps = {name: zone_spacing.step_ns for name, zone_spacing in found.items()}
    bad = ~(np.isfinite(values) & (kind.signed | (values >= 0)))
    if reading.fill is not None:
        missing = np.array([cell.strip().lower() in MISSING for cell in table.cells[value]])
        ends = np.unique([row for order in orders.values() for row in (order[0], order[-1])])
        faults += table.faults(value, missing & np.isin(np.arange(len(bad)), ends), NO_NEIGHBOUR)
        bad &= ~missing
    faults += table.faults(
        value, bad, "must be a finite number" if kind.signed else "must be a number of g/kWh, at least 0"
    )
    if faults:
        raise InputError(faults)
    return [
        _one_series(name, times[order], values[order], table.file, joined(labels[row] for row in order), steps, reading)
        for name, order in orders.items()
    ]


def _one_series(
    name: str,
    times: TimeArray,
    values: FloatArray,
    file: str,
    labels: Labels,
    steps: Mapping[str, int],
    reading: Reading,
) -> SignalSeries:
    if reading.fill is not None:
        times, values, told = filled(times, values, steps[name], reading.fill)
        labels = replace(labels, filled=told)
    return SignalSeries(name, times, values, file, labels)


def _zones(table: Table, column: int | None) -> list[str]:
    if column is not None:
        return [cell.strip() for cell in table.cells[column]]
    stem = PurePath(table.file).name.removesuffix(".gz").removesuffix(".csv").removesuffix(".json")
    return [stem] * len(table.lines)


def _times(
    table: Table, column: int, zones: Sequence[str], tz: str | None, shift_hours: float
) -> tuple[TimeArray, list[Fault]]:
    """Return the UTC beginning of each row's value, and what is wrong with the cells."""
    cells = table.cells[column]
    faults: list[Fault] = []
    if tz is None:
        times = utc_times(cells)
        wrong = np.isnat(times)
    else:
        local = local_times(cells, zones, tz)
        times = local.times
        wrong = np.isnat(times) & ~local.never
        faults += table.faults(column, local.never, f"is skipped in {tz}, where clocks go forward then")
        once = f"is an hour that {tz} has twice, and stands once: must have its offset, e.g. +02:00"
        faults += table.faults(column, local.once, once)
    times = times + np.timedelta64(round(shift_hours * HOUR_NS), "ns")
    return times, table.faults(column, wrong, TIME_RULE) + faults


def _format(table: Table, reading: Reading) -> CarbonFormat:
    """Return the format whose columns the header has most of, the first of several that are of one kind.

    Raises
    ------
    InputError
        If the header is of none, or holds values of several kinds and `reading` does not say which.
    """
    for kind in FORMATS:
        if not kind.has_header and table.header == tuple(kind.layout(reading.intensity)):
            return kind
    headed = [kind for kind in FORMATS if kind.has_header]
    known = [sum(bool(table.spelled(names)) for names in kind.layout(reading.intensity).values()) for kind in headed]
    telling = [kind for kind in headed if table.spelled(kind.time) or table.spelled(kind.value[reading.intensity])]
    if not telling:  # a column of zones alone may be anything's
        titles = " or ".join(kind.title for kind in headed)
        raise InputError(
            Fault("", f"is no known header: must be {titles}", shown(",".join(table.header)), file=table.file)
        )
    best = [kind for kind, columns in zip(headed, known, strict=True) if columns == max(known)]
    return _of_kind(best, table, reading.kind) if best[0] in CAMBIUM else best[0]


def _of_kind(formats: Sequence[CarbonFormat], table: Table, kind: str | None) -> CarbonFormat:
    """Return the one of several formats that is of a kind, None where there is only one."""
    held = [format.labels.kind for format in formats]
    if kind is None and len(held) == 1:
        return formats[0]
    if kind in held:
        return formats[held.index(kind)]
    text = f"holds {', '.join(held)} rates: must be one of these (kind, --kind)"
    raise InputError(Fault("kind", text, "none was named" if kind is None else shown(kind), file=table.file))


def _orders(zones: Sequence[str], times: TimeArray) -> dict[str, IntArray]:
    """Return the rows of each zone, by name in the file's order, sorted by time."""
    rows: dict[str, list[int]] = {}
    for row, zone in enumerate(zones):
        rows.setdefault(zone, []).append(row)
    return {zone: np.array(own)[np.argsort(times[own], kind="stable")] for zone, own in rows.items()}
