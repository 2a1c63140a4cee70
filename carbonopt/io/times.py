"""Times as CSV files hold them, in nanoseconds since 1970 in UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import BoolArray
from carbonopt.core.time import format_utc, to_utc

TimeArray = npt.NDArray[np.datetime64]

HOUR_NS = 3_600_000_000_000

TIME = re.compile(r"\s*\d{4}-\d\d-\d\d([T ]|\s*$)")
"""How a cell begins that holds a time."""
TIME_RULE = "must be an ISO 8601 time in 1700-2199, e.g. 2022-01-01T00:00:00Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc_times(cells: Sequence[str]) -> TimeArray:
    """Return cells as UTC times, NaT where a cell is none (pandas alone would take ``now`` and ``2022``)."""
    import pandas as pd

    texts = [cell.strip() if TIME.match(cell) else "" for cell in cells]
    parsed = pd.to_datetime(pd.Series(texts, dtype=object), utc=True, format="ISO8601", errors="coerce")
    times = np.array(pd.DatetimeIndex(parsed).tz_localize(None), dtype="datetime64[us]")
    outside = (times < np.datetime64("1700")) | (times >= np.datetime64("2200"))  # what 64 bits of ns can hold
    times[outside] = np.datetime64("NaT")
    return times.astype("datetime64[ns]")


_OFFSET = re.compile(r".*\d[ ]?([zZ]|[+-]\d\d(:?\d\d)?)\s*")
"""How a cell ends that says its offset from UTC, behind a time of the day."""


def has_offset(cell: str) -> bool:
    """Return whether a time says its offset from UTC.

    Examples
    --------
    >>> has_offset("2024-06-01T00:00Z"), has_offset("2024-06-01 00:00:00+02:00"), has_offset("2024-06-01")
    (True, True, False)
    """
    return ":" in cell and _OFFSET.fullmatch(cell) is not None


class LocalTimes(NamedTuple):
    """Times in UTC, NaT where a cell is none, and which local ones are `once` or `never` there, shapes (N,)."""

    times: TimeArray
    once: BoolArray
    never: BoolArray


def local_times(cells: Sequence[str], zones: Sequence[str], tz: str) -> LocalTimes:
    """Return cells as UTC times, those without an offset being in the time zone `tz`.

    Where clocks go back an hour stands twice: for each zone the first one is summer time. A time of that
    hour that stands `once` could be either. A time that clocks skip stands for no moment (`never`).
    """
    import pandas as pd

    times = utc_times(cells)
    naive = np.array([not has_offset(cell) for cell in cells]) & ~np.isnat(times)
    wall = pd.DatetimeIndex(times[naive])
    doubled = np.isnat(wall.tz_localize(tz, ambiguous="NaT", nonexistent="shift_forward").tz_localize(None).to_numpy())
    frame = pd.DataFrame({"zone": np.array(zones)[naive], "wall": wall})
    first = (frame.groupby(["zone", "wall"]).cumcount() == 0).to_numpy()
    count = frame.groupby(["zone", "wall"])["wall"].transform("size").to_numpy()
    moments = wall.tz_localize(tz, ambiguous=first, nonexistent="NaT").tz_convert("UTC").tz_localize(None).to_numpy()
    times[naive] = moments
    once = np.zeros(len(cells), dtype=np.bool_)
    never = once.copy()
    once[naive] = doubled & (count == 1)
    never[naive] = np.isnat(moments)
    return LocalTimes(times, once, never)


def nanoseconds(moment: datetime) -> int:
    """Return nanoseconds since 1970 in UTC."""
    return (to_utc(moment) - _EPOCH) // timedelta(microseconds=1) * 1000


def moment(nanoseconds: int) -> datetime:
    """Return the moment, to the microsecond, that lies `nanoseconds` after 1970 in UTC."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def utc_text(nanoseconds: int) -> str:
    """Return the moment that lies `nanoseconds` after 1970 as files hold it."""
    return format_utc(moment(nanoseconds))
