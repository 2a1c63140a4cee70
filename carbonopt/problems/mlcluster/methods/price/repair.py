"""Runs of all jobs as rows, and the cheapest runs of one job in what the others leave free."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.path import Stretches, break_paths

HIGHEST = 1e9
"""Worth of work up to which runs are looked for, over the largest price of work."""
NOTHING = 1e-9
"""Stretches and surpluses of work below this are none [min]."""
CLOSE = 1e-5
"""See `break_paths`: runs need no better break price."""


class Rows(NamedTuple):
    """One row a run: its job, from when to when [min], on how many GPUs; each job's in order of time."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    gpus: IntArray

    def kept(self, good: BoolArray | IntArray) -> Rows:
        """Return some of the rows."""
        return Rows(self.job[good], self.start[good], self.end[good], self.gpus[good])

    def joined(self, others: Rows) -> Rows:
        """Return these rows and others."""
        job, gpus = (np.concatenate(pair) for pair in ((self.job, others.job), (self.gpus, others.gpus)))
        start, end = (np.concatenate(pair) for pair in ((self.start, others.start), (self.end, others.end)))
        return Rows(job, start, end, gpus)


class Room:
    """What a job finds where others run already.

    Parameters
    ----------
    proof
        The prices that lead.
    """

    def __init__(self, proof: Proof) -> None:
        c = proof.coefficients
        self.coefficients, self.proof = c, proof
        self.edges = c.minutes * np.arange(c.count + 1)
        self.arrival = c.instance.jobs.arrival_minutes
        self.restart = c.instance.scales.restart_minutes[c.instance.profile_of_job]
        self._carbon_until = np.concatenate([[0.0], np.cumsum(c.carbon) * c.minutes])
        self._work_prices = np.maximum(proof.work_prices, 1e-12)
        self._highest = HIGHEST * float(self._work_prices.max())

    def costs(self, rows: Rows) -> FloatArray:
        """Return the carbon that each run adds, at its price [objective]."""
        start, end = (np.interp(moment, self.edges, self._carbon_until) for moment in (rows.start, rows.end))
        return np.asarray(self.coefficients.watts[self.coefficients.kind[rows.job], rows.gpus - 1] * (end - start))

    def runs(self, job: int, others: Rows, prices: FloatArray) -> Rows | None:
        """Return the cheapest runs of a job at `prices` of GPU time, shape (T,), beside `others`; None for none."""
        c = self.coefficients
        moments, over = self._stretches(job, others, prices)
        kind = c.kind[job]
        need = float(c.instance.jobs.work_gpu_minutes[job])
        restart = float(self.restart[job])
        _, _, path = break_paths(
            need, float(self._work_prices[job]), over, c.speed[kind], c.watts[kind], restart, self._highest, CLOSE
        )
        if path is None:
            return None
        pieces = _pieces(moments, over, path.gpus, c.speed[kind], c.watts[kind])
        return _trimmed(job, pieces, c.speed[kind], restart, path.work - need)

    def _stretches(self, job: int, others: Rows, prices: FloatArray) -> tuple[FloatArray, Stretches]:
        """Return the edges of the stretches after a job's arrival, shape (E + 1,), and what is free there."""
        c = self.coefficients
        arrival = float(self.arrival[job])
        moments = np.unique(np.concatenate([self.edges, others.start, others.end, [arrival]]))
        moments = moments[np.searchsorted(moments, arrival) :]
        begin, end = moments[:-1], moments[1:]
        changes = np.concatenate([others.start, others.end])
        by_time = np.argsort(changes)
        held = np.concatenate([[0], np.cumsum(np.concatenate([others.gpus, -others.gpus])[by_time])])
        free = c.instance.cluster.gpus - held[np.searchsorted(changes[by_time], begin, side="right")]
        cell = np.minimum(np.searchsorted(self.edges, begin, side="right") - 1, c.count - 1)
        late = self.proof.delay_price * (end - arrival) / 60
        return moments, Stretches(c.carbon[cell], prices[cell], end - begin, free, late)


class _Piece:
    """A run as stretches: begin, end, and what a minute's work costs; and the GPUs."""

    def __init__(self, stretches: list[list[float]], gpus: int) -> None:
        self.stretches, self.gpus = stretches, gpus

    @property
    def minutes(self) -> float:
        """Length [min]."""
        return self.stretches[-1][1] - self.stretches[0][0] if self.stretches else 0.0


def _pieces(moments: FloatArray, over: Stretches, gpus: IntArray, speed: FloatArray, watts: FloatArray) -> list[_Piece]:
    """Return the runs of a path."""
    used = np.flatnonzero(gpus)
    held = gpus[used]
    rate = (over.carbon[used] * watts[held - 1] + over.price[used] * held) / speed[held - 1]
    breaks = np.flatnonzero((np.diff(used) > 1) | (np.diff(held) != 0)) + 1
    rows = np.stack([moments[used], moments[used + 1], rate], axis=1).tolist()
    edges = [0, *breaks.tolist(), len(rows)]
    return [_Piece(rows[a:b], int(held[a])) for a, b in pairwise(edges)]


def _trimmed(job: int, pieces: list[_Piece], speed: FloatArray, restart: float, surplus: float) -> Rows | None:
    """Return the runs without surplus work: the dearest minutes at their edges are left out.

    None if no minute is left, as of a job whose work is below what the cuts tell from nothing.
    """
    while pieces and surplus > NOTHING:
        worst, side = max(((p, s) for p in pieces for s in (0, -1)), key=lambda at: at[0].stretches[at[1]][2])
        x = float(speed[worst.gpus - 1])
        stretch = worst.stretches[side]
        cut = min(surplus / x, stretch[1] - stretch[0])
        surplus -= cut * x
        if side == 0:
            stretch[0] += cut
        else:
            stretch[1] -= cut
        if stretch[1] - stretch[0] <= NOTHING:
            worst.stretches.pop(side)
        idle = 0.0 if worst is pieces[0] else restart
        if worst.minutes <= idle + NOTHING:  # a restart alone does no work
            surplus += (worst.minutes - idle) * x
            pieces.remove(worst)
            if not idle and pieces:  # the next is the first one now
                surplus += restart * float(speed[pieces[0].gpus - 1])
    if not pieces:
        return None
    ends = [(p.stretches[0][0], p.stretches[-1][1], p.gpus) for p in pieces]
    start, end, gpus = zip(*ends, strict=True)
    return Rows(np.full(len(ends), job), np.array(start), np.array(end), np.array(gpus, dtype=np.int64))


def rows_of(names: tuple[str, ...] | list[str], schedule: Schedule) -> Rows:
    """Return a schedule's runs."""
    number = {name: j for j, name in enumerate(names)}
    job = np.array([number[name] for name in schedule["job"]], dtype=np.int64)
    start, end = (np.asarray(schedule[key], dtype=np.float64) for key in ("start_minutes", "end_minutes"))
    rows = Rows(job, start, end, np.asarray(schedule["gpus"], dtype=np.int64))
    return rows.kept(np.lexsort((start, job)))


def schedule_of(names: tuple[str, ...] | list[str], rows: Rows) -> Schedule:
    """Return runs as the columns of a schedule."""
    order = np.lexsort((rows.start, rows.job))
    job, start, end, gpus = (column[order].tolist() for column in rows)
    return {"job": [names[j] for j in job], "start_minutes": start, "end_minutes": end, "gpus": gpus}
