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
from scipy import sparse

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.milp.highs import Basis
from carbonopt.milp.warm import Point, WarmProgram
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING
from carbonopt.problems.mosp.methods.price.bound_parameters import DiveParameters
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dive_loops import (
    LEAST_SHARE,
    Columns,
    Jobs,
    open_columns,
    put_leading,
    rank_columns,
    settle,
    take,
)
from carbonopt.problems.mosp.methods.price.place_program import priced, program_over
from carbonopt.problems.mosp.methods.price.windows import sizes_of

LEAST_VIOLATION = 1e-3
"""By which a clique must be violated to become a row."""
LEAST_EXCESS = 1e-6
"""How far below 0 a reduced cost must be for a place to become a column, over the mean cost of a job."""
PLACE_STEPS = 20.0
"""Loop steps for each place when these are priced."""
LOOK_STEPS = 40.0
"""Loop steps for each column when it is looked at whether it has room."""
MOST_NEW = 1_500
"""Places that become columns at a time, at most."""


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
        self.must_run = not np.isfinite(cliques.rejection_cost)
        if not self.must_run:
            ceiling = cliques.rejection_cost
        most_excess = min(params.excess * abs(cliques.proof.bound) / len(instance.jobs), goal - cliques.proof.bound)
        chosen = cliques.columns & (cliques.proof.excess <= most_excess)
        self.program = WarmProgram(
            program_over(instance, cliques.places, cliques.cost, chosen, False, ceiling), options
        )
        self.is_column = chosen.copy()
        rows = np.flatnonzero(chosen)
        none = np.full(len(duration), -1)
        at = cliques.places
        self.columns = Columns(
            np.concatenate([rows, none]),
            np.concatenate([at.job[rows], np.arange(len(duration))]),
            np.concatenate([at.cluster[rows], none]),
            np.concatenate([at.start[rows], none]),
        )
        count = len(cliques.cliques)
        most = np.array([clique.most for clique in cliques.cliques], dtype=np.float64)
        members = [len(part) for part in cliques.members]
        nothing = [np.zeros(0, dtype=np.int64)]
        use = np.concatenate([*nothing, *cliques.weights]) / np.repeat(most, members)
        at_rows = np.concatenate(nothing + cliques.members), np.repeat(np.arange(count), members)
        # the share of its limit that a place uses of each clique, and the row of each clique in the program
        self.use = sparse.csr_array((use, at_rows), shape=(len(cliques.cost), count))
        self.row_of = np.full(count, -1, dtype=np.int64)
        self._add_cliques(cliques.proof.numbers, options)
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
        self._add_columns(self._missing(place), options)
        noise = 0.0 if self.is_first else self.params.noise
        self.is_first = False
        split = np.full(self.at_a_time, -1, dtype=np.int64)
        left = np.empty_like(self.jobs.limit)
        now = self._first(place, goal, options)
        while now is not None:
            self._price(now, options)
            leading, share = self._leading(now)
            count = settle(leading, share, split, now.place, left, self.columns, self.jobs)
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
            self.program.begin_at(self.root)
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
            put_leading(split, rank, leading, place, left, self.columns, self.jobs)
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
        upper = self._upper(place, self.columns)
        options.spend(LOOK_STEPS * len(upper))
        self.program.set_upper(upper)
        while options.remaining > 0:
            point = self.program.solve(options, goal)
            if point is None:
                return None
            if not self._add_cliques(self._violated(point), options):
                return Relaxed(place, upper, point)
        return None

    def _extended(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program again, with more places for jobs that must run and have none; None as in `_solve`."""
        while self.must_run and options.remaining > 0:
            now = self._solve(place, np.inf, options)
            if now is None or now.point.objective <= goal:
                return now
            if not (self._has_unplaced(now.point) and self._price(now, options)):
                return None
        return None

    def _upper(self, place: IntArray, columns: Columns) -> FloatArray:
        """Return 1 for the columns of places that are taken, or have room beside these; 0 for all others."""
        left = np.empty_like(self.jobs.limit)
        upper = np.empty(len(columns.row))
        take(place, left, self.jobs)
        open_columns(place, left, upper, columns, self.jobs)
        return upper

    def _is_open(self, place: IntArray, rows: IntArray) -> BoolArray:
        """Return whether placements have room beside the places that are taken."""
        return self._upper(place, self._columns_of(rows)) > 0

    def _columns_of(self, rows: IntArray) -> Columns:
        """Return the columns of placements."""
        at = self.cliques.places
        return Columns(rows, at.job[rows], at.cluster[rows], at.start[rows])

    def _has_unplaced(self, point: Point) -> bool:
        """Return whether a part of a job does not run."""
        return bool((point.values[self.columns.row[: len(point.values)] < 0] > 1e-6).any())

    def _leading(self, now: Relaxed) -> tuple[IntArray, FloatArray]:
        """Return the columns that have most of each job, and its shares there."""
        shape = len(self.jobs.duration), self.params.tried
        leading = np.full(shape, -1, dtype=np.int64)
        share = np.zeros(shape)
        rank_columns(now.point.values, now.upper, leading, share, self.columns)
        return leading, share

    def _violated(self, point: Point) -> IntArray:
        """Return the cliques without a row that the last solution violates."""
        used = np.flatnonzero((point.values > 1e-9) & (self.columns.row >= 0))
        total = np.asarray(self.use[self.columns.row[used]].T.dot(point.values[used]))
        return np.flatnonzero((total > 1 + LEAST_VIOLATION) & (self.row_of < 0))

    def _add_cliques(self, numbers: IntArray, options: Options) -> bool:
        """Make cliques rows; return whether there are any."""
        if not len(numbers):
            return False
        there = np.flatnonzero(self.columns.row >= 0)
        entries = self.use[self.columns.row[there]][:, numbers].T.tocsr()
        self.row_of[numbers] = self.program.rows + np.arange(len(numbers))
        self.program.add_rows(
            np.ones(len(numbers)), entries.indptr.astype(np.int64), there[entries.indices], entries.data, options
        )
        return True

    def _missing(self, place: IntArray) -> IntArray:
        """Return the placements of a schedule that are no columns."""
        job = np.flatnonzero(place >= 0)
        slots = self.jobs.limit.shape[2]
        rows = self.cliques.row[job, place[job] // slots, place[job] % slots]
        return np.asarray(rows[~self.is_column[rows]])

    @property
    def is_whole(self) -> bool:
        """Whether all placements are columns."""
        return len(self.columns.row) == len(self.is_column) + len(self.jobs.duration)

    def _price(self, now: Relaxed, options: Options) -> bool:
        """Add columns for the places that prices call for, and that have room; return whether there are any."""
        if self.is_whole:
            return False
        options.spend(PLACE_STEPS * len(self.is_column))
        cliques = self.cliques
        dual = now.point.row_dual
        jobs = len(self.jobs.duration)
        size = self.jobs.limit.size
        prices = np.maximum(0.0, -dual[jobs : jobs + size]).reshape(self.jobs.limit.shape)
        cost = priced(self.instance, cliques.places, cliques.cost, prices)
        has_row = (self.row_of >= 0) & (self.row_of < len(dual))
        clique_prices = np.zeros(len(self.row_of))
        clique_prices[has_row] = np.maximum(0.0, -dual[self.row_of[has_row]])
        cost += self.use @ clique_prices - dual[:jobs][cliques.places.job]
        least = -LEAST_EXCESS * abs(now.point.objective) / jobs
        missing = np.flatnonzero((cost < least) & ~self.is_column & (now.place < 0)[cliques.places.job])
        missing = missing[self._is_open(now.place, missing)]
        if len(missing) > MOST_NEW:
            missing = np.sort(missing[np.argsort(cost[missing], kind="stable")[:MOST_NEW]])
        self._add_columns(missing, options)
        return bool(len(missing))

    def _add_columns(self, rows: IntArray, options: Options) -> None:
        """Add columns for places."""
        if not len(rows):
            return
        new = self._columns_of(rows)
        job, cluster, start = new.job, new.cluster, new.start
        jobs = len(self.jobs.duration)
        _, resources, slots = self.jobs.limit.shape
        length = self.jobs.duration[job]
        column = [np.arange(len(rows))]
        row = [job]
        value = [np.ones(len(rows))]
        each = np.repeat(np.arange(len(rows)), length)
        slot = np.arange(len(each)) - np.repeat(np.cumsum(length) - length - start, length)
        for r in range(resources):
            column.append(each)
            row.append(jobs + (cluster[each] * resources + r) * slots + slot)
            value.append(self.jobs.demand[job[each], r])
        use = self.use[rows].tocoo()
        has_row = self.row_of[use.col] >= 0
        column.append(use.row[has_row].astype(np.int64))
        row.append(self.row_of[use.col[has_row]])
        value.append(use.data[has_row])
        whole_column = np.concatenate(column)
        order = np.argsort(whole_column, kind="stable")
        begin = np.searchsorted(whole_column[order], np.arange(len(rows) + 1))
        self.program.add_columns(
            self.cliques.cost[rows], begin, np.concatenate(row)[order], np.concatenate(value)[order], options
        )
        self.columns = Columns(*(np.concatenate(parts) for parts in zip(self.columns, new, strict=True)))
        self.is_column[rows] = True
