"""The policies on the simulation engine, in mode ``paper``.

A job has reserved CPUs for all of itself and the whole of a run where so many are free at its start, and
otherwise runs on demand: nothing is split (GAIA's simulator; its text leaves it open).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from math import inf

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.problems.purchasing.data.purchase_options import ON_DEMAND, RESERVED, SPOT
from carbonopt.problems.purchasing.online.suspension import Pieces
from carbonopt.simulation import Policy, State


class Planned(Policy):
    """Starts each job at its planned time.

    Parameters
    ----------
    starts
        Shape (N,).
    spot
        Jobs that run on spot CPUs, shape (N,). One that is evicted restarts at once.
    restarts_on_reserved
        Whether it restarts on reserved CPUs where they are free, as in Spot-RES, and not on demand in any case, as
        in Spot-First (GAIA, section 4.2.4).
    """

    def __init__(self, starts: FloatArray, spot: BoolArray, restarts_on_reserved: bool = False) -> None:
        self.starts = starts
        self.restarts_on_reserved = restarts_on_reserved
        self.spot: list[bool] = spot.tolist()

    def plan_all(self, state: State) -> FloatArray:  # noqa: ARG002
        """Return the planned starts."""
        return self.starts

    def on_due(self, state: State, job: int) -> None:
        """Buy CPUs and start."""
        self.buy(state, job)

    def on_eviction(self, state: State, job: int) -> None:
        """Restart at once."""
        reserved = self.restarts_on_reserved and state.fits(job, RESERVED)
        state.start(job, RESERVED if reserved else ON_DEMAND)

    def buy(self, state: State, job: int, until: float = inf) -> None:
        """Start a job on spot CPUs, on reserved ones if they are free for all of it, or on demand."""
        pool = ON_DEMAND
        if self.spot[job]:
            pool = SPOT
        elif state.fits(job, RESERVED):
            pool = RESERVED
        state.start(job, pool, until=until)


class Conserving(Planned):
    """Starts jobs before their planned time wherever reserved CPUs are free for them (RES-First).

    Waiting jobs are tried in the order of their planned starts: the earliest first (GAIA, section 4.2.3).
    One that needs more than is free is passed over, and stays first.
    """

    def __init__(self, starts: FloatArray, spot: BoolArray) -> None:
        super().__init__(starts, spot, restarts_on_reserved=True)
        self.start_of: list[float] = starts.tolist()
        self.waiting: list[tuple[float, int]] = []
        self.fresh: list[tuple[float, int]] = []
        self.freed = False

    def on_arrival(self, state: State, job: int) -> None:  # noqa: ARG002
        """Let the job wait; one that will run on spot CPUs waits for its time alone."""
        if not self.spot[job]:
            self.fresh.append((self.start_of[job], job))
            insort(self.waiting, self.fresh[-1])

    def on_completion(self, state: State, job: int) -> None:  # noqa: ARG002
        """Try all that wait: reserved CPUs may be free."""
        self.freed = True

    def on_due(self, state: State, job: int) -> None:
        """Start whether reserved CPUs are free or not."""
        if not self.spot[job]:
            self._leave((self.start_of[job], job))
        self.buy(state, job)

    def on_settled(self, state: State) -> None:
        """Fill free reserved CPUs."""
        # where nothing has been freed, only those that have just come can fit
        tried = list(self.waiting) if self.freed else sorted(self.fresh)
        self.freed = False
        self.fresh.clear()
        for entry in tried:
            if state.free(RESERVED) <= 0:
                break
            if entry[1] in state.queued and state.fits(entry[1], RESERVED):
                self._leave(entry)
                state.start(entry[1], RESERVED)

    def _leave(self, entry: tuple[float, int]) -> None:
        del self.waiting[bisect_left(self.waiting, entry)]


class InPieces(Planned):
    """Runs each job in its planned pieces, each on reserved CPUs if they are free for all of it.

    Parameters
    ----------
    pieces
        Of every job.
    spot
        As in `Planned`; jobs of several pieces stay off spot CPUs, whose terms are those of one run.
    """

    def __init__(self, pieces: Pieces, spot: BoolArray) -> None:
        offsets = pieces.offsets(spot.size)
        super().__init__(pieces.start[offsets[:-1]], spot & (offsets[1:] - offsets[:-1] == 1))
        self.begin: list[float] = pieces.start.tolist()
        self.end: list[float] = pieces.end.tolist()
        self.next: list[int] = offsets[:-1].tolist()
        self.stop: list[int] = offsets[1:].tolist()

    def on_due(self, state: State, job: int) -> None:
        """Run the next piece; the last one to the job's end."""
        piece = self.next[job]
        self.next[job] = piece + 1
        self.buy(state, job, inf if piece + 1 == self.stop[job] else self.end[piece])

    def on_suspension(self, state: State, job: int) -> None:
        """Plan the next piece."""
        state.plan(job, self.begin[self.next[job]])
