"""Schedules by linear programs: jobs get their places one after the other, the largest first.

A linear program over places says where jobs run, most of them whole. Those that it leaves whole stay where they are.
The first job that it splits is tried in the places that have most of it: the linear program is solved again with each,
and the place after which it costs least is taken. So a large job is not placed where it costs little by itself, but
where it and all that is still open cost least. Dives that begin in different branches of a tree over the places of
large jobs differ in these, and each begins where a good schedule may be.

References
----------
Danna, Rothberg, Le Pape (2005), "Exploring relaxation induced neighborhoods to improve MIP solutions", Mathematical
Programming 102, 71-90.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING
from carbonopt.problems.mosp.methods.price.bound_parameters import DiveParameters
from carbonopt.problems.mosp.methods.price.dive_loops import (
    LEAST_SHARE,
    Jobs,
    open_columns,
    put_next,
    put_one,
    rank_columns,
    settle,
    take,
)
from carbonopt.problems.mosp.methods.price.dive_tries import Relaxed, Tries
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram, ProgramBasis, Start
from carbonopt.problems.mosp.methods.price.place_program import Columns
from carbonopt.problems.mosp.methods.price.windows import sizes_of

LOOK_STEPS = 40.0
"""Loop steps for each column when it is looked at whether it has room."""
LEAST_TRIED = 0.1
"""Share of a job in a place, but for that with most of it, from which the place is tried."""
WHOLE = 0.99
"""Share of a job in a place from which it counts as whole there."""
NEARLY_WHOLE = 0.9
"""The same where the dive would not end in time."""
MORE_SHARE = 0.6
"""Share of a job in a place from which it may be placed there untried."""
ONE_BY_ONE = 40
"""Largest jobs that are placed one at a time in the first half of a dive's time."""
LATER_PACE = (0.15, 0.25)
"""Time of a step later on, over that of one now, about: the more jobs have a place, the faster the program.

The first while one of the largest jobs has no place, the second when all of these have one.
"""
FEW_TRIED = 2
"""Leading places in which a job is tried, at most, where there is no time to place the largest jobs otherwise."""
JOBS_A_STEP = 2.0
"""Jobs of which one is split, about: the others are whole by then."""
PRICED_EVERY = 4
"""Steps of a dive from one look for missing places to the next: it takes as long as a small program."""
PACE_KEPT = 0.7
"""Share that stays of the mean time of a step, which counts less the longer ago it was."""


class Step(NamedTuple):
    """What a dive does next.

    Attributes
    ----------
    split
        Row of the job that is placed.
    tried
        Places in which it is tried, at most.
    more
        Further jobs that are placed untried where most of them is, if it is most of the job.
    """

    split: int
    tried: int
    more: int


class Leading(NamedTuple):
    """The columns that have most of each job, the most first.

    Attributes
    ----------
    column
        Shape (N, ranks), -1 for none.
    share
        Of the job in each, shape (N, ranks).
    """

    column: IntArray
    share: FloatArray


class Dives:
    """The program of one instance's dives.

    Parameters
    ----------
    program
        Over all places, with its cliques, and the prices that it has found.
    params
        Of dives.
    options
        Count the work; their seed is that of the draws.
    tell
        Called after each step of a dive.
    """

    def __init__(
        self,
        program: GrowingProgram,
        params: DiveParameters,
        options: Options,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        self.program = program
        self.cliques = program.cliques
        self.params = params
        self.tell = tell
        self.instance = instance = self.cliques.instance
        kinds = self.cliques.kinds
        clusters = instance.clusters
        limit = clusters.over(instance.time.slots).capacity * (1 + CAPACITY_ROUNDING / 2)
        demand = instance.jobs.demand
        size = sizes_of(demand, limit, instance.jobs.duration)
        duration = instance.jobs.duration.astype(np.int64)
        order = np.lexsort((kinds.of, -size))
        self.jobs = Jobs(order, duration, demand.astype(np.float64), np.ascontiguousarray(limit), kinds.of, kinds.first)
        self.rank = np.argsort(self.jobs.order)
        self.rng = np.random.default_rng(options.seed)
        self.is_first = True
        self.is_open: BoolArray | None = None
        self.root: ProgramBasis | None = None
        self._seen: set[bytes] = set()

    def dive(
        self,
        known: IntArray,
        goal: float,
        options: Options,
        start: Start | None = None,
        most: int | None = None,
    ) -> IntArray | None:
        """Place all jobs, or the largest ones.

        Parameters
        ----------
        known
            Place of each job that has one, cluster x T + start, else -1; shape (N,).
        goal
            Cost that the program must not exceed.
        options
            Count the work.
        start
            Places that are open, and the basis where it begins; None for all places.
        most
            Of the largest jobs, how many must be whole for it to end; None for all jobs.

        Returns
        -------
        IntArray or None
            Place of each job, -1 for one that does not run, or of which no place has a share that counts. After `most`
            jobs, and where time or work is out, jobs without a place go where most of them is, if they have room
            there. None where the program over its places so far costs more than `goal`.
        """
        place = known.copy()
        self.program.add_columns(self._missing(place), options)
        self.is_open = None if start is None else start.is_open
        noise = 0.0 if self.is_first or start is not None else self.params.noise
        self.is_first &= start is not None
        left = np.empty_like(self.jobs.limit)
        pace = 0.0
        total = options.remaining
        now = self._first(place, goal, None if start is None else start.basis, options)
        steps = 0
        while now is not None:
            if steps % PRICED_EVERY == 0:
                self._price(now, options)
            steps += 1
            leading = self._leading(now)
            need = self._need(now.place, leading, pace, options, most)
            whole = WHOLE if need < 1 else NEARLY_WHOLE
            split = settle(whole, *leading, now.place, left, self.program.columns, self.jobs)
            if split < 0:
                settled = self._after_all(now, leading, goal, options)
                if settled is None:
                    return now.place
                now = settled
                continue
            last = now
            if most is not None and self.rank[split] >= most:
                break
            begun = options.elapsed
            next_step = self._step(split, need, pace, total, options)
            now = self._best(now, next_step, leading, goal, noise, options)
            last_pace = options.elapsed - begun
            pace = PACE_KEPT * pace + (1 - PACE_KEPT) * last_pace if pace else last_pace
            self.tell()
            if now is None and options.remaining == 0:
                break
        else:
            return None
        put_next(len(place), 0.0, *leading, last.place, left, self.program.columns, self.jobs)
        return last.place

    def of_part(self, place: IntArray, program: GrowingProgram, options: Options) -> Dives:
        """Return the dives of the jobs without a place, over their program.

        They draw from the same numbers; the first dive draws none, unless others were at the same places before.
        """
        key = place.tobytes()
        part = Dives(program, self.params, options, self.tell)
        part.rng = self.rng
        part.is_first = key not in self._seen
        self._seen.add(key)
        return part

    def _after_all(self, now: Relaxed, leading: Leading, goal: float, options: Options) -> Relaxed | None:
        """Solve the program again once no job is split, if one has no place: others have just taken its room.

        None where none is left, and where the program exceeds `goal`, or time or work is out.
        """
        if not ((now.place < 0) & (leading.share[:, 0] >= LEAST_SHARE)).any():
            return None
        return self._solve(now.place.copy(), goal, options)

    def _need(self, place: IntArray, leading: Leading, pace: float, options: Options, most: int | None = None) -> float:
        """Return the time that all steps to come would take, over the time there is, for a mean time of steps now."""
        left = np.flatnonzero((place < 0) & (leading.share[:, 0] >= LEAST_SHARE))
        if most is not None:
            left = left[self.rank[left] < most]
        if pace <= 0 or not len(left):
            return 0.0
        later = LATER_PACE[int(self.rank[left].min() >= ONE_BY_ONE)]
        return len(left) / JOBS_A_STEP * later * pace / max(options.remaining, 1e-9)

    def _step(self, split: int, need: float, pace: float, total: float, options: Options) -> Step:
        """Return what comes next, for a mean time of steps, and the time that the dive had in all.

        Where steps are slow, jobs are tried in few places. Small jobs are placed so many at a time that the dive ends
        in time, if enough of them are mostly in one place; in its second half all jobs are.
        """
        tried = self.params.tried if pace * ONE_BY_ONE / JOBS_A_STEP <= total else FEW_TRIED
        is_early = self.rank[split] < ONE_BY_ONE and options.remaining > total / 2
        return Step(split, tried, 0 if is_early else int(min(need, len(self.rank))))

    def _first(self, place: IntArray, goal: float, basis: ProgramBasis | None, options: Options) -> Relaxed | None:
        """Solve the program of a dive that begins; one from nothing begins at the basis of the first such one."""
        is_from_nothing = self.is_open is None and not (place >= 0).any()
        if is_from_nothing:
            basis = self.root
        if basis is not None:
            self.program.begin_at(basis, options)
        now = self._solve(place, goal, options) or self._extended(place, goal, options)
        if is_from_nothing and self.root is None and now is not None:
            self.root = self.program.basis()
        return now

    def _best(
        self,
        now: Relaxed,
        step: Step,
        leading: Leading,
        goal: float,
        noise: float,
        options: Options,
    ) -> Relaxed | None:
        """Place a job in the one of its leading places after which the program costs least, and some more untried.

        Where that costs much more, or more than `goal`, further places are tried: a job that the program splits among
        few places may cost less in another one. Where all tries exceed `goal`, the first gets more places. Where none
        of the places has room any more, the program is solved again. None where that exceeds `goal`, or time or work
        is out before all are tried.
        """
        lead = leading.column[step.split, : step.tried]
        is_tried = leading.share[step.split, : step.tried] >= np.where(
            np.arange(len(lead)) > 0, LEAST_TRIED, LEAST_SHARE
        )
        tries = Tries(now.point.objective, goal, noise)
        for column in lead[is_tried].tolist():
            self._try(column, step, now, leading, tries, options)
            if tries.is_free:
                break
        if tries.first is not None and tries.costs_much and options.remaining > 0:
            for column, least in self._further(step.split, lead[is_tried], now, options):
                if least >= tries.rise:
                    break
                self._try(column, step, now, leading, tries, options)
        if options.remaining == 0:
            return None
        if tries.first is None:  # jobs that were whole have taken the room
            return self._solve(now.place.copy(), goal, options)
        return tries.best if tries.best is not None else self._extended(tries.first, goal, options)

    def _try(self, column: int, step: Step, now: Relaxed, leading: Leading, tries: Tries, options: Options) -> None:
        """Place a job in a column's place, if it has room, and some more untried; solve the program with these."""
        left = np.empty_like(self.jobs.limit)
        place = now.place.copy()
        put_one(step.split, column, place, left, self.program.columns, self.jobs)
        if place[step.split] < 0:
            return
        if step.more:
            put_next(step.more, MORE_SHARE, *leading, place, left, self.program.columns, self.jobs)
        tries.first = place if tries.first is None else tries.first
        tries.take(self._solve(place, tries.most, options), self.rng)

    def _further(self, job: int, tried: IntArray, now: Relaxed, options: Options) -> list[tuple[int, float]]:
        """Return other open columns of a job, and the least by which the program rises with it there, that first."""
        options.spend(PLACE_STEPS * len(self.program.is_column))
        prices = self.program.prices(now.point)
        columns = self.program.columns
        count = len(now.room)
        is_own = columns.job[:count] == self.jobs.kind[job]
        own = np.flatnonzero(is_own & (columns.row[:count] >= 0) & (now.room > 0))
        own = own[~np.isin(own, tried)]
        cost = self.cliques.priced(prices.capacity, prices.cliques)[columns.row[own]]
        least = cost - prices.jobs[self.jobs.kind[job]]
        order = np.argsort(least, kind="stable")[: self.params.tried]
        return list(zip(own[order].tolist(), least[order].tolist(), strict=True))

    def _solve(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program with some jobs placed until it violates no clique.

        None where it exceeds `goal`, and where time or work is out.
        """
        room = self._room(place, self.program.columns)
        options.spend(LOOK_STEPS * len(room))
        placed = self._placed(place)
        several = self.cliques.kinds.count[self.program.columns.job] > 1  # else the row of the job says it
        point = self.program.settled(placed + room, goal, options, placed * several)
        return None if point is None else Relaxed(place, room, point)

    def _extended(self, place: IntArray, goal: float, options: Options) -> Relaxed | None:
        """Solve the program again, with more places for jobs that must run and have none; None as in `_solve`."""
        while self.program.must_run.any() and options.remaining > 0:
            now = self._solve(place, np.inf, options)
            if now is None or now.point.objective <= goal:
                return now
            if not (self.program.has_unplaced(now.point) and self._price(now, options)):
                return None
        return None

    def _room(self, place: IntArray, columns: Columns) -> FloatArray:
        """Return how many more jobs may be in each column: those without a place that have room beside the others."""
        left = np.empty_like(self.jobs.limit)
        room = np.empty(len(columns.row))
        take(place, left, self.jobs)
        waiting = np.bincount(self.jobs.kind[place < 0], minlength=len(self.jobs.first))
        open_columns(waiting, left, room, columns, self.jobs)
        if self.is_open is not None:
            runs = columns.row >= 0
            room[runs] *= self.is_open[columns.row[runs]]
        return room

    def _placed(self, place: IntArray) -> FloatArray:
        """Return how many jobs with a place each column has."""
        columns = self.program.column_of[self._rows(place)]
        return np.bincount(columns, minlength=len(self.program.columns.row)).astype(np.float64)

    def _leading(self, now: Relaxed) -> Leading:
        """Return the columns that have most of each job."""
        shape = len(self.jobs.duration), self.params.tried
        leading = Leading(np.full(shape, -1, dtype=np.int64), np.zeros(shape))
        amount = (now.point.values - self._placed(now.place)[: len(now.room)]) * (now.room > 0)
        rank_columns(amount, now.place, *leading, self.program.columns, self.jobs)
        return leading

    def _missing(self, place: IntArray) -> IntArray:
        """Return the placements of a schedule that are no columns."""
        rows = np.unique(self._rows(place))
        return np.asarray(rows[~self.program.is_column[rows]])

    def _rows(self, place: IntArray) -> IntArray:
        """Return the row of each placed job's place among the possible ones."""
        job = np.flatnonzero(place >= 0)
        slots = self.jobs.limit.shape[2]
        return np.asarray(self.cliques.row[self.jobs.kind[job], place[job] // slots, place[job] % slots])

    def _price(self, now: Relaxed, options: Options) -> bool:
        """Add columns for the places that prices call for, and that have room; return whether there are any."""
        program = self.program
        if program.is_whole:
            return False
        options.spend(PLACE_STEPS * len(program.is_column))
        prices = program.prices(now.point)
        cost = self.cliques.priced(prices.capacity, prices.cliques)
        waits = np.bincount(self.jobs.kind[now.place < 0], minlength=len(self.jobs.first)) > 0
        cost[~waits[self.cliques.places.job]] = np.inf
        missing = program.missing(cost, prices)
        is_open = self._room(now.place, program.columns_of(missing)) > 0
        return program.add_columns(program.one_of_each(missing[is_open]), options)
