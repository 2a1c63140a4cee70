"""Runs of all jobs as rows, and the cheapest runs of one job in what the others leave free."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Schedule
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.cheapest import Asked, Limits, cheapest_runs, space_of
from carbonopt.problems.mlcluster.methods.price.timeline import Window, hold, nothing_held, with_room
from carbonopt.problems.mlcluster.methods.price.walks import Kinds, least_costs

HIGHEST = 1e9
"""Worth of work up to which runs are looked for, over the largest price of work."""
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

    def joined(self, *others: Rows) -> Rows:
        """Return these rows and others."""
        return Rows._make(np.concatenate(columns) for columns in zip(self, *others, strict=True))


class Room:
    """What a job finds where others run already.

    Parameters
    ----------
    proof
        The prices that lead.
    rows
        The runs that are there.
    """

    def __init__(self, proof: Proof, rows: Rows) -> None:
        c = proof.coefficients
        self.coefficients = c
        self.edges = c.minutes * np.arange(c.count + 1)
        self.arrival = c.instance.jobs.arrival_minutes
        self.restart = c.instance.scales.restart_minutes[c.instance.profile_of_job]
        self._delay_price = proof.delay_price
        self._carbon_until = np.concatenate([[0.0], np.cumsum(c.carbon) * c.minutes])
        self._work_prices = np.maximum(proof.work_prices, 1e-12)
        highest = HIGHEST * float(self._work_prices.max())
        self._limits = Limits(c.instance.cluster.gpus, highest, CLOSE)
        self._held = nothing_held(1)
        self._space = space_of(0, 0)
        self._least = np.zeros(c.speed.shape[:1] + c.carbon.shape)
        self.set_prices(np.zeros(c.count))
        self.add(rows)

    @property
    def steps(self) -> float:
        """Stretches of time at most, before any are joined."""
        return len(self.edges) + float(self._held.steps[0])

    def costs(self, rows: Rows) -> FloatArray:
        """Return the carbon that each run adds, at its price [objective]."""
        start, end = (np.interp(moment, self.edges, self._carbon_until) for moment in (rows.start, rows.end))
        return np.asarray(self.coefficients.watts[self.coefficients.kind[rows.job], rows.gpus - 1] * (end - start))

    def set_prices(self, prices: FloatArray) -> None:
        """Let GPU time cost so much, shape (T,)."""
        c = self.coefficients
        self._prices = prices
        least_costs(c.carbon, prices, Kinds(c.speed, c.watts), self._least)

    def add(self, rows: Rows) -> None:
        """Let runs hold their GPUs."""
        self._held = with_room(self._held, 2 * len(rows.job) + 2)
        hold(self._held, rows.start, rows.end, rows.gpus, 1)

    def remove(self, rows: Rows) -> None:
        """Let runs hold their GPUs no more."""
        self._held = with_room(self._held, 2 * len(rows.job) + 2)
        hold(self._held, rows.start, rows.end, rows.gpus, -1)

    def runs(self, job: int) -> Rows | None:
        """Return the cheapest runs of a job beside those that are there; None for none."""
        c = self.coefficients
        self._grow()
        least = self._least[c.kind[job]]
        window = Window(c.carbon, self._prices, least, c.minutes, float(self.arrival[job]), self._delay_price)
        asked = Asked(
            float(c.instance.jobs.work_gpu_minutes[job]), float(self._work_prices[job]), float(self.restart[job])
        )
        kind = c.kind[job]
        count = cheapest_runs(self._held, window, asked, c.speed[kind], c.watts[kind], self._limits, self._space)
        if count == 0:
            return None
        runs = self._space.runs
        start, end = runs.start[:count].copy(), runs.end[:count].copy()
        return Rows(np.full(count, job), start, end, runs.gpus[:count].copy())

    def _grow(self) -> None:
        """Have work space for all stretches."""
        size = int(self.steps)
        if len(self._space.moments) <= size:
            self._space = space_of(2 * size, self.coefficients.speed.shape[1])


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
