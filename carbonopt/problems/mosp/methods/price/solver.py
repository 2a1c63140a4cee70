"""The state of a solve by prices, and its steps: bound, first schedule, search, cuts, sweeps, and branching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome, relative_gap
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.methods.price.bound import Bound
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.exact import Closed, close
from carbonopt.problems.mosp.methods.price.insertion import insert_all
from carbonopt.problems.mosp.methods.price.places import Places, make_places
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.restricted import Targets, place_targets, solve_restricted
from carbonopt.problems.mosp.methods.price.search import Goal, anneal
from carbonopt.problems.mosp.methods.price.state import (
    at_places,
    charge_absence,
    copy_of,
    fits_capacity,
    new_state,
    places_of,
    schedule_of,
)
from carbonopt.problems.mosp.methods.price.sweep.improve import Improver

BOUND_SHARE, COUNT_SHARE = 0.4, 0.25
"""Of the time that is left, what the ascent takes at most, and branches on rejections."""
LP_JOBS = 100
"""From this number of jobs on, the first schedule is rounded from a linear program."""
LP_EXCESS = 0.003
"""Largest excess of its places, in costs of a typical job."""
LP_SHARE = 0.6
"""Of the time that is left, what it takes at most."""
CUT_SHARE, CUT_COLUMNS = 0.15, 8_000
"""What cuts take at most of the time that is left, and columns up to which they raise the bound in so little."""
PART_SHARE = 0.9
"""Of the time that is left, what sweeps over parts take at most."""
HOT, HOT_JOBS = 0.1, 200
"""First temperature, in mean priced costs of a job, up to a number of jobs; in inverse proportion to more."""
COOLING = 50.0
"""First over last temperature."""
SNUG = 0.001
"""What a slot that an insertion leaves no room in counts, in costs of a typical job."""
LEAST_DEAR = 1e-3
"""Excess that makes a job one to move first, in costs of a typical job."""
FIRST_MOVES, MOVES_PER_JOB, GROWTH = 5_000, 2, 4
"""Moves of the first round: the larger of a number, and so many a job; and how much longer each next round is."""
BUDGET = 20_000
"""Moves in all, a job; below `BUDGET_JOBS`, where HiGHS comes after, less by the square of the proportion."""
BUDGET_JOBS = 50
CHARGES, CHARGE_STEPS, CHARGED = (0.6, 6.0), 30, 0.8
"""What absent work counts at most, in mean priced costs of work: first and last; in so many steps, in that share of a
round."""
CHUNK = 0.2
"""Time between two looks at the clock [s]."""


def most_moves(jobs: int) -> int:
    """Return the moves of a search in all."""
    return int(BUDGET * jobs * min(1.0, jobs / BUDGET_JOBS) ** 2)


class Solver:
    """Prices, places and the schedule of one instance; everything in the sense of a minimisation."""

    def __init__(self, instance: MospInstance, value: PlacementValue, dual: Dual, options: Options) -> None:
        self.instance, self.value, self.dual, self.options = instance, value, dual, options
        self.sign = 1.0 if value.sense == "min" else -1.0
        self.proof = Bound(instance, self.dual)
        self.rng = np.random.default_rng(options.seed)
        self.budget = most_moves(len(instance.jobs))
        self.moves = 0

    # The bound

    def ascend(self) -> None:
        """Raise the bound by better prices."""
        for bound in self.proof.ascend(self.options.part(BOUND_SHARE)):
            self.options.report(bound=self.sign * bound)

    def count_rejections(self) -> None:
        """Raise the bound by branches on the number of rejected jobs."""
        if not self.rejects or self.closed:
            return
        for _ in self.proof.count_rejections(self.state.best_total, self.options.part(COUNT_SHARE)):
            self.report(improved=False)
            if self.closed:
                return

    # The first schedule

    def start(self) -> None:
        """Make a first schedule, or take the one that the options hold."""
        instance, dual = self.instance, self.dual
        self.places: Places = make_places(dual, self.proof.prices)
        self.must_run = not np.isfinite(dual.table.absence)
        dual.hard(self.proof.prices)
        self.rejects = bool(dual.absent.any())  # as far as the relaxation tells
        self.priced = float(np.abs(dual.member_cost[dual.jobs.member]).mean()) or self.proof.typical
        self.empty = new_state(instance, dual, self.places, LEAST_DEAR * self.proof.typical, SNUG * self.proof.typical)
        self.first = self.state = min(self._first_states(), key=lambda state: state.best_total)
        if self.options.start is not None:
            given = at_places(self.empty, places_of(instance, self.options.start), dual, self.proof.prices)
            if given.best_total < self.state.best_total:
                self.state = given
        self.report()

    def _first_states(self) -> Iterator[State]:
        """Yield schedules: what a linear program wants; else by insertion, largest jobs first and slot after slot."""
        jobs, largest = self.instance.jobs, np.argsort(-self.empty.jobs.work, kind="stable")
        targets = self._targets() if len(jobs) >= LP_JOBS and self.options.remaining > 0 else None
        if targets is None:
            yield self._inserted(largest)
            yield self._inserted(np.lexsort((-jobs.demand.sum(axis=1), jobs.arrival)))
            return
        for order in (largest, np.lexsort((-self.empty.jobs.work, targets.start))):
            state, units = copy_of(self.empty), targets.units.copy()
            place_targets(order, targets.start, units, self.rng, self.dual.table, self.places, state)
            yield at_places(self.empty, state.place, self.dual, self.proof.prices, fill=True)

    def _targets(self) -> Targets | None:
        options = replace(self.options.part(LP_SHARE), callback=None, start=None)
        return solve_restricted(self.dual, self.places, self.proof.prices, LP_EXCESS * self.proof.typical, options)

    def _inserted(self, order: IntArray) -> State:
        """Return the schedule of jobs that come in an order, each at its first place by excess with room."""
        state = copy_of(self.empty)
        insert_all(order, self.rng, self.places, state)
        return at_places(self.empty, state.place, self.dual, self.proof.prices, fill=True)

    # The search

    def search(self, options: Options, most: int = BUDGET) -> None:
        """Anneal in rounds of growing length, at most `most` moves a job in all.

        Each begins with the best schedule; with the first where jobs are rejected: which ones is hard to change.
        """
        jobs = len(self.instance.jobs)
        hot = HOT * self.priced * min(1.0, HOT_JOBS / jobs)
        moves, left, rate = max(FIRST_MOVES, MOVES_PER_JOB * jobs), min(self.budget, most * jobs), 0.0
        while left > 0 and not self.closed and options.remaining > 0:
            possible = rate * options.remaining if rate > 0 else np.inf
            if possible < left and possible < GROWTH * moves:
                moves = int(possible)  # the clock will end it: one long round is better than several short ones
            moves = min(moves, left)
            rate = self._round(max(moves, 1), hot, hot / COOLING, options)
            left -= moves
            moves *= GROWTH

    def _round(self, moves: int, hot: float, cold: float, options: Options) -> float:
        """Anneal once; return the moves a second."""
        begun, done, size = options.elapsed, 0, min(1000, moves)
        kept, state = self.state, copy_of(self.first if self.rejects else self.state)
        pace = (cold / hot) ** (1 / moves)
        for last, charge in self._charges(moves):
            if self.rejects:
                charge_absence(charge, state)
            known = self.proof.best if self.complete and charge == np.inf else -np.inf
            goal = Goal(known, options.mip_rel_gap, options.mip_abs_gap)
            while done < last and not self.closed and options.remaining > 0:
                before, size, clock = self.state.best_total, min(size, last - done), options.elapsed
                done = anneal(done, done + size, self.rng, hot, pace, goal, self.dual.table, self.places, state)
                size = max(1000, int(size * min(8.0, CHUNK / max(options.elapsed - clock, 1e-6))))
                if charge == np.inf and state.best_total < before:
                    self.state = copy_of(state)
                self.report(improved=self.state.best_total < before)
        self.moves += done
        found = at_places(self.empty, state.best, self.dual, self.proof.prices, fill=True)
        if self.state is not kept or found.best_total < kept.best_total:
            self.state = found  # jobs are at their best places, not where the last moves left them
        return done / max(options.elapsed - begun, 1e-6)

    def _charges(self, moves: int) -> Iterator[tuple[int, float]]:
        """Yield what a unit of absent work counts up to a move of a round: little at first, all of it in the end."""
        if self.rejects:
            unit = self.priced / self.proof.work
            for k, charge in enumerate(np.geomspace(*CHARGES, CHARGE_STEPS)):
                yield int(CHARGED * moves * (k + 1) / CHARGE_STEPS), float(charge * unit)
        yield moves, np.inf

    def sweep(self, few: bool) -> None:
        """Improve the schedule by sweeps over the slots, and prove how good it is where jobs are few."""
        if self.closed or not self.complete:
            return
        improver = Improver(self.instance, self.dual, self.proof.prices, self.empty)
        if few:
            for state, bound in improver.prove(self.state, self.options):
                self.state, self.proof.tree = state, max(self.proof.tree, bound)
                self.report()
            return
        for state in improver.parts(self.state, self.rng, self.options.part(PART_SHARE)):
            improved, self.state = state.best_total < self.state.best_total, state
            if improved:
                self.report()
            if self.closed:
                return

    # What is known

    @property
    def complete(self) -> bool:
        """Whether the best schedule is one."""
        return not self.must_run or bool((self.state.best >= 0).all())

    @property
    def closed(self) -> bool:
        """Whether the gap is what the options ask for."""
        gap = relative_gap(self.state.best_total, self.proof.best)
        asked = gap is not None and gap <= self.options.mip_rel_gap
        return self.complete and (asked or self.state.best_total - self.proof.best <= self.options.mip_abs_gap)

    def report(self, improved: bool = True) -> None:
        """Tell the callback where the search is."""
        if not self.complete:
            self.options.report(bound=self.sign * self.proof.best)
            return
        incumbent: Callable[[], Any] | None = None
        if improved:
            incumbent = partial(schedule_of, self.instance, np.array(self.state.best))
        objective = self.sign * self.state.best_total
        self.options.report(objective=objective, bound=self.sign * self.proof.best, incumbent=incumbent)

    def outcome(self, info: dict[str, Any]) -> Outcome:
        """Return the best schedule, its bound, and a certificate; for what a tree proves beyond it there is none."""
        info = info | {"lagrangian_bound": self.sign * self.proof.priced, "moves": self.moves}
        bound = self.proof.certified
        if self.proof.tree > bound:
            bound = min(self.proof.tree, self.state.best_total) if self.complete else self.proof.tree
            info["tree_bound"] = self.sign * bound
        schedule = schedule_of(self.instance, self.state.best) if self.complete else None
        status = Status.FEASIBLE if schedule is not None else Status.UNKNOWN
        if self.options.remaining == 0:
            status = Status.TIME_LIMIT
        if self.closed:
            status = Status.OPTIMAL
        if schedule is None:
            left = [self.instance.jobs.name[i] for i in np.flatnonzero(self.state.best < 0)[:20]]
            info = info | {"unplaced_jobs": left}
        return Outcome(status, schedule, self.sign * bound, self.proof.certificate(self.sign), info)

    # The rest of a small instance

    def cut(self) -> None:
        """Raise the bound by HiGHS's cuts, where few places are left."""
        if not self.closed and self.complete and self.options.remaining > 0:
            self._close(self.options.part(CUT_SHARE), cuts_only=True, most_columns=CUT_COLUMNS)
            self.report(improved=False)

    def branch(self, info: dict[str, Any]) -> Outcome:
        """Let HiGHS close the gap over the places that the prices do not rule out."""
        if self.closed or self.options.remaining == 0:
            return self.outcome(info)
        closed = self._close(self.options)
        if closed is None:
            return self.outcome(info)
        if closed.status is Status.INFEASIBLE and not self.complete:
            return Outcome(Status.INFEASIBLE, info=info | closed.info)
        if closed.place is not None:
            found = at_places(self.empty, closed.place, self.dual, self.proof.prices)
            if fits_capacity(found, self.empty) and found.best_total < self.state.best_total:
                self.state = found
        return self.outcome(info | closed.info)

    def _close(self, options: Options, **how: Any) -> Closed | None:
        known = (self.state.best, self.state.best_total) if self.complete else None
        rounding = float(self.value.rounding().sum())
        size = self.priced  # of the costs that count
        closed = close(self.dual, self.places, known, self.proof.priced, size, rounding, options, **how)
        if closed is not None and closed.bound is not None:
            self.proof.tree = max(self.proof.tree, closed.bound)
        return closed
