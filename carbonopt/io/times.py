"""Times as CSV files hold them, in nanoseconds since 1970 in UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

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


def nanoseconds(moment: datetime) -> int:
    """Return nanoseconds since 1970 in UTC."""
    return (to_utc(moment) - _EPOCH) // timedelta(microseconds=1) * 1000


def moment(nanoseconds: int) -> datetime:
    """Return the moment, to the microsecond, that lies `nanoseconds` after 1970 in UTC."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def utc_text(nanoseconds: int) -> str:
    """Return the moment that lies `nanoseconds` after 1970 as files hold it."""
    return format_utc(moment(nanoseconds))
