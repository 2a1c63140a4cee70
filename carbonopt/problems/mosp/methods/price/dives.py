"""Schedules by linear programs: jobs get their places one after the other, the largest first.

A linear program over places says where jobs run, most of them whole. Those that it leaves whole stay where they are.
The first job that it splits is tried in the places that have most of it: the linear program is solved again with each,
and the place after which it costs least is taken. So a large job is not placed where it costs little by itself, but
where it and all that is still open cost least.

References
----------
Danna, Rothberg, Le Pape (2005), "Exploring relaxation induced neighborhoods to improve MIP solutions", Mathematical
Programming 102, 71-90.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.milp.warm import Basis, Point
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING
from carbonopt.problems.mosp.methods.price.bound_parameters import DiveParameters
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dive_loops import (
    LEAST_SHARE,
    Jobs,
    open_columns,
    put_leading,
    rank_columns,
    settle,
    take,
)
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram
from carbonopt.problems.mosp.methods.price.place_program import Columns
from carbonopt.problems.mosp.methods.price.windows import sizes_of

LOOK_STEPS = 40.0
"""Loop steps for each column when it is looked at whether it has room."""


class Relaxed(NamedTuple):
    """A solution of the program with some jobs placed.

    Attributes
    ----------
    place
        Of each job, cluster x T + start, -1 for none yet; shape (N,).
    upper
        Whether each column was open, 1 or 0; shape (C,).
    point
        The solution.
    """

    place: IntArray
    upper: FloatArray
    point: Point


class Dives:
    """The program of one instance's dives.

    Parameters
    ----------
    cliques
        The program over places, its cliques, and the prices that it has found.
    ceiling
        More than any complete schedule costs: what a job costs that has no place yet, where all must run.
    goal
        Cost of the best schedule known; infinite if none is.
    params
        Of dives.
    options
        Count the work; their seed is that of the draws.
    """

    def __init__(
        self, cliques: CliqueBound, ceiling: float, goal: float, params: DiveParameters, options: Options
    ) -> None:
        self.cliques = cliques
        self.params = params
        instance = cliques.instance
        self.instance = instance
        clusters = instance.clusters
        limit = clusters.over(instance.time.slots).capacity * (1 + CAPACITY_ROUNDING / 2)
        demand = instance.jobs.demand
        size = sizes_of(demand, limit, instance.jobs.duration)
        duration = instance.jobs.duration.astype(np.int64)
        self.jobs = Jobs(
            np.argsort(-size, kind="stable"), duration, demand.astype(np.float64), np.ascontiguousarray(limit)
        )
        self.rng = np.random.default_rng(options.seed)
        self.at_a_time = max(1, int(len(duration) / params.jobs_a_step))
        self.program = GrowingProgram(cliques, params.excess, goal, ceiling, options)
        self.is_first = True
        self.root: Basis | None = None

    def dive(self, known: IntArray, goal: float, options: Options) -> IntArray | None:
        """Place all jobs.

        Parameters
        ----------
        known
            Place of each job that has one, cluster x T + start, else -1; shape (N,).
        goal
            Cost that the program must not exceed.
        options
            Count the work.

        Returns
        -------
        IntArray or None
            Place of each job, -1 for one that does not run, or of which no place has a share that counts, or before
            which time or work is out. None where the program over its places so far costs more than `goal`.
        """
        place = known.copy()
        self.program.add_columns(self._missing(place), options)
        noise = 0.0 if self.is_first else self.params.noise
        self.is_first = False
        split = np.full(self.at_a_time, -1, dtype=np.int64)
        left = np.empty_like(self.jobs.limit)
        now = self._first(place, goal, options)
        while now is not None:
            self._price(now, options)
            leading, share = self._leading(now)
            count = settle(leading, share, split, now.place, left, self.program.columns, self.jobs)
            if not count:
                return now.place
            last = now
            now = self._best(now, split[:count], leading, share, goal, noise, options)
            if now is None and options.remaining == 0:
                return last.place
        return None

    def _first(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program of a dive that begins; from nothing it begins at the basis of the first such one."""
        is_from_nothing = not (place >= 0).any()
        if is_from_nothing and self.root is not None:
            self.program.begin_at(self.root, options)
        now = self._solve(place, goal, options) or self._extended(place, goal, options)
        if is_from_nothing and self.root is None and now is not None:
            self.root = self.program.basis()
        return now

    def _best(
        self,
        now: Relaxed,
        split: IntArray,
        leading: IntArray,
        share: FloatArray,
        goal: float,
        noise: float,
        options: Options,
    ) -> Relaxed | None:
        """Place the first of some jobs where the program then costs least, the others where most of them is.

        Where all tries exceed `goal`, the first gets more places. None where that exceeds it, too, or time or work is
        out before all are tried.
        """
        begun = now.point.objective
        left = np.empty_like(self.jobs.limit)
        most = goal
        best = first = None
        for rank in range(leading.shape[1]):
            if share[split[0], rank] < LEAST_SHARE:
                break
            place = now.place.copy()
            put_leading(split, rank, leading, place, left, self.program.columns, self.jobs)
            if place[split[0]] < 0:
                continue
            first = place if first is None else first
            tried = self._solve(place, most, options)
            if tried is None:
                continue
            cost = begun + (tried.point.objective - begun) * (1.0 + noise * self.rng.random())
            if best is None or cost < most:
                best = tried
                most = min(most, cost)
        if options.remaining == 0:
            return None
        return best if best is not None or first is None else self._extended(first, goal, options)

    def _solve(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program with some jobs placed until it violates no clique.

        None where it exceeds `goal`, and where time or work is out.
        """
        upper = self._upper(place, self.program.columns)
        options.spend(LOOK_STEPS * len(upper))
        point = self.program.settled(upper, goal, options)
        return None if point is None else Relaxed(place, upper, point)

    def _extended(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program again, with more places for jobs that must run and have none; None as in `_solve`."""
        while self.program.must_run and options.remaining > 0:
            now = self._solve(place, np.inf, options)
            if now is None or now.point.objective <= goal:
                return now
            if not (self.program.has_unplaced(now.point) and self._price(now, options)):
                return None
        return None

    def _upper(self, place: IntArray, columns: Columns) -> FloatArray:
        """Return 1 for the columns of places that are taken, or have room beside these; 0 for all others."""
        left = np.empty_like(self.jobs.limit)
        upper = np.empty(len(columns.row))
        take(place, left, self.jobs)
        open_columns(place, left, upper, columns, self.jobs)
        return upper

    def _leading(self, now: Relaxed) -> tuple[IntArray, FloatArray]:
        """Return the columns that have most of each job, and its shares there."""
        shape = len(self.jobs.duration), self.params.tried
        leading = np.full(shape, -1, dtype=np.int64)
        share = np.zeros(shape)
        rank_columns(now.point.values, now.upper, leading, share, self.program.columns)
        return leading, share

    def _missing(self, place: IntArray) -> IntArray:
        """Return the placements of a schedule that are no columns."""
        job = np.flatnonzero(place >= 0)
        slots = self.jobs.limit.shape[2]
        rows = self.cliques.row[job, place[job] // slots, place[job] % slots]
        return np.asarray(rows[~self.program.is_column[rows]])

    def _price(self, now: Relaxed, options: Options) -> bool:
        """Add columns for the places that prices call for, and that have room; return whether there are any."""
        program = self.program
        if program.is_whole:
            return False
        options.spend(PLACE_STEPS * len(program.is_column))
        prices = program.prices(now.point)
        cost = self.cliques.priced(prices.capacity, prices.cliques)
        cost[(now.place >= 0)[self.cliques.places.job]] = np.inf
        missing = program.missing(cost, prices)
        is_open = self._upper(now.place, program.columns_of(missing)) > 0
        return program.add_columns(missing[is_open], options)
