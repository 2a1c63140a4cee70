"""Reader and writer of forecast archives: a table of issues, and forecasts as four sources publish them."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.files import write_bytes
from carbonopt.core.jsonfile import read_text
from carbonopt.core.time import TimeGrid, format_utc, parse_utc
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.io.forecast import COLUMNS, read_forecast
from carbonopt.io.series import SignalSeries, read_issues, slot_means
from carbonopt.io.times import HOUR_NS, nanoseconds


def read_archive(
    *paths: str | os.PathLike[str], time: TimeGrid, zone: str | None = None, issued_at: str | None = None
) -> ForecastArchive:
    """Read the forecasts of one zone.

    Parameters
    ----------
    *paths
        Tables ``issue_time,target_time,carbon_intensity_g_per_kwh`` with or without the columns ``member`` and
        ``zone``; or forecasts as WattTime (also forecast/historical, all its issues), Electricity Maps, NESO
        and CarbonCast publish them. Each file may hold other issues.
    time
        The slots of the signal. An issue counts from the first slot that begins at or after it.
    zone
        The zone to take; None where there is one only.
    issued_at
        When the forecast of a file was issued that does not say it, as those of NESO and CarbonCast.

    Raises
    ------
    InputError
        With file, field, value and what would be right: also for an issue without a time, members of unequal
        length, and a zone that is not there.
    """
    issues: dict[int, FloatArray] = {}
    names: dict[str, None] = {}
    if not paths:
        raise InputError(Fault("paths", "must name at least one file"))
    for path in paths:
        try:
            if _is_table(path):
                found = _stacked(read_forecast(path, time, zone))
                names[zone or ""] = None
            else:
                found = _from_source(path, time, zone, issued_at, names)
        except InputError as error:
            raise error.in_file(path) from None
        twice = sorted(issues.keys() & found.keys())
        if twice:
            words = "is a duplicate: another file has a forecast that counts from this slot"
            raise InputError(Fault("issue_time", words, format_utc(time.slot_start(twice[0])), file=str(path)))
        issues |= found
    if len(names) > 1:
        raise InputError(Fault("zone", f"must be given: {one_of(tuple(names))}", file=str(paths[0])))
    return ForecastArchive(
        next(iter(names)), time, np.array(sorted(issues)), _joined(issues, str(paths[0])), str(paths[0])
    )


def _is_table(path: str | os.PathLike[str]) -> bool:
    return "issue_time" in read_text(path).partition("\n")[0]


def _stacked(members: Mapping[str, Mapping[int, FloatArray]]) -> dict[int, FloatArray]:
    """Return the members of each issue, shape (M, its length)."""
    issues = {}
    for slot in sorted({slot for own in members.values() for slot in own}):
        own = {name: values[slot] for name, values in members.items() if slot in values}
        sizes = {name: values.size for name, values in own.items()}
        if len(own) < len(members) or len(set(sizes.values())) > 1:
            told = ", ".join(f"{name or 'no name'}: {sizes.get(name, 0)}" for name in members)
            words = "must have as many values in each issue: members are of equal length"
            raise InputError(Fault("member", words, f"{told} from slot {slot}"))
        issues[slot] = np.array(list(own.values()))
    return issues


def _from_source(
    path: str | os.PathLike[str], time: TimeGrid, zone: str | None, issued_at: str | None, names: dict[str, None]
) -> dict[int, FloatArray]:
    """Return the issues of a source's file by slot, shape (1, its length); `names` gets its zones."""
    latest: dict[int, tuple[int, FloatArray]] = {}
    found = [series for series in read_issues(path) if zone is None or series.zone == zone]
    if not found:
        raise InputError(Fault("zone", f"has no forecast of {zone!r}"))
    for series in found:
        names[series.zone] = None
        text = series.labels.issued_at or issued_at
        if "forecast" not in series.labels.status.split(", "):
            raise InputError(Fault("labels.status", "must be forecast", shown(series.labels.status)))
        if not text:
            raise InputError(Fault("issued_at", "must be given: the file does not say when the forecast was issued"))
        moment = nanoseconds(parse_utc(text))
        slot, values = _in_slots(series, moment, time)
        if slot not in latest or moment > latest[slot][0]:
            latest[slot] = (moment, values)
    return {slot: values[None, :] for slot, (_, values) in latest.items()}


def _in_slots(series: SignalSeries, moment: int, time: TimeGrid) -> tuple[int, FloatArray]:
    """Return the first whole slot after the issue at `moment` [ns], and the slots' means from there on."""
    length = round(time.slot_hours * HOUR_NS)
    zero = nanoseconds(time.start)
    slot = -(-(moment - zero) // length)
    end = (series.end_ns - zero) // length
    begin = zero + slot * length
    if series.begin_ns > begin:
        words = f"must be at most {format_utc(time.slot_start(slot))}, the first slot after its issue"
        raise InputError(Fault("forecast.begin", words, str(series.times[0].astype("datetime64[s]"))))
    if end <= slot:
        words = f"ends too early: must reach {format_utc(time.slot_start(slot + 1))}, the end of the first slot"
        raise InputError(Fault("forecast.horizon", words))
    grid = TimeGrid(end - slot, time.slot_hours, time.slot_start(slot))
    return slot, slot_means(series, grid)


def _joined(issues: Mapping[int, FloatArray], file: str) -> FloatArray:
    """Return the issues in order, NaN after the end of the shorter ones, shape (I, M, H)."""
    ordered = [issues[slot] for slot in sorted(issues)]
    members = {len(values) for values in ordered}
    if len(members) > 1:
        words = "must be as many in each issue"
        raise InputError(Fault("member", words, " and ".join(map(str, sorted(members))), file=file))
    horizon = max(values.shape[1] for values in ordered)
    joined = np.full((len(ordered), members.pop(), horizon), np.nan)
    for row, values in enumerate(ordered):
        joined[row, :, : values.shape[1]] = values
    return joined


def write_archive(archive: ForecastArchive, path: str | os.PathLike[str]) -> None:
    """Write an archive as the table that `read_archive` and ``--forecast`` read."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["zone", "member", *COLUMNS])
    for row, slot in enumerate(archive.issued_at.tolist()):
        issued = format_utc(archive.time.slot_start(slot))
        targets = [format_utc(archive.time.slot_start(slot + lead)) for lead in range(archive.lengths[row])]
        for member, values in enumerate(archive.g_per_kwh[row]):
            writer.writerows(_rows(archive.zone, member, issued, targets, values.tolist()))
    write_bytes(path, text.getvalue().encode())


def _rows(
    zone: str, member: int, issued: str, targets: Sequence[str], values: Sequence[float]
) -> list[tuple[str, int, str, str, str]]:
    return [(zone, member, issued, target, repr(value)) for target, value in zip(targets, values, strict=False)]
