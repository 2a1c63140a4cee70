"""What happened in a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

ENDED = ("completed", "suspended", "scaled", "migrated", "evicted", "running")
"""Why a segment ended; ``running`` where the simulation did."""
COMPLETED, SUSPENDED, SCALED, MIGRATED, EVICTED, RUNNING = range(len(ENDED))


@dataclass(frozen=True, eq=False)
class Log:
    """Segments of a simulation, in the order in which they ended.

    Parameters
    ----------
    job, pool, units, start, end
        Of each segment, shape (S,): positions of job and pool, units of the pool, times.
    overhead
        Time at the beginning of each segment without progress, shape (S,).
    ended
        Why each ended, positions in `ENDED`, shape (S,).
    pools
        Names of the pools.
    unfinished
        Jobs that had not completed.
    stopped
        ``done``, ``horizon``, ``interrupted`` or ``failed``.
    now
        When the simulation stopped.
    """

    job: IntArray
    pool: IntArray
    units: FloatArray
    start: FloatArray
    end: FloatArray
    overhead: FloatArray
    ended: IntArray
    pools: tuple[str, ...]
    unfinished: IntArray
    stopped: str
    now: float

    def __len__(self) -> int:
        return self.job.size

    def count(self, ended: int) -> int:
        """Return how many segments ended for that reason."""
        return int((self.ended == ended).sum())

    def to_frame(self, names: tuple[str, ...] | None = None) -> pd.DataFrame:
        """Return the segments as a table, jobs by `names` where they are given."""
        import pandas as pd

        columns: dict[str, Any] = {
            "job": self.job if names is None else [names[job] for job in self.job],
            "pool": [self.pools[pool] for pool in self.pool],
            "units": self.units,
            "start": self.start,
            "end": self.end,
            "overhead": self.overhead,
            "ended": [ENDED[code] for code in self.ended],
        }
        return pd.DataFrame(columns)


Row = tuple[int, int, float, float, float, float, int]


def make_log(rows: list[Row], pools: tuple[str, ...], unfinished: IntArray, stopped: str, now: float) -> Log:
    """Return rows of (job, pool, units, start, end, overhead, ended) as a log."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    whole = [np.array(columns[at], dtype=np.int64) for at in (0, 1, 6)]
    units, start, end, overhead = (np.array(column, dtype=np.float64) for column in columns[2:6])
    return Log(whole[0], whole[1], units, start, end, overhead, whole[2], pools, unfinished, stopped, now)
