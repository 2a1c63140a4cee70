"""The state of a solve by prices, and its steps: bound, first schedule, search, cuts, beams, and branching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome, relative_gap
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.formulation.program import place_count
from carbonopt.problems.mosp.methods.price.beam.improve import Improver
from carbonopt.problems.mosp.methods.price.bound import Proof
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.exact import Closed, close_gap
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.insertion import insert_all
from carbonopt.problems.mosp.methods.price.kinds import kinds_of
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.places import Places, make_places
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.restricted import Targets, place_targets, solve_restricted
from carbonopt.problems.mosp.methods.price.search import Goal, anneal, rules_of
from carbonopt.problems.mosp.methods.price.state import (
    at_places,
    charge_rejections,
    copy_of,
    fits_capacity,
    new_state,
    places_of,
    schedule_of,
)

CHUNK = 0.2
"""Time between two looks at the clock [s], or work between two looks at that [work units]."""
STEPS_A_MOVE = 2_000.0
"""Loop steps of a move of the search, about."""


class Mode(NamedTuple):
    """How a round of the search goes: its first temperature, and whether large jobs eject others."""

    first_temperature: float
    ejects: bool


class Solver:
    """One run of the method: its bound (`proof`), places and schedule, all in the sense of a minimisation.

    While it `certifies`, only a bound with a certificate closes the gap.

    Attributes
    ----------
    kinds, place_count
        How many kinds of jobs there are, and places of one job of each, about.
    """

    def __init__(self, instance: MospInstance, value: PlacementValue, dual: Dual, options: Options) -> None:
        self.instance = instance
        self.value = value
        self.dual = dual
        self.options = options
        self.sign = value.sign
        self.params = options.parameters(PriceParameters)
        first = kinds_of(instance.jobs).first
        self.kinds = len(first)
        self.place_count = place_count(instance, first)
        self.proof = Proof(instance, self.dual, self.params)
        self.rng = np.random.default_rng(options.seed)
        self.budget = self.params.search.moves(len(instance.jobs))
        self.moves = 0
        self.program: GrowingProgram | None = None
        self.told = 0.0
        self.certifies = False

    # The bound

    def raise_prices(self) -> None:
        """Raise the bound by better prices."""
        for bound in self.proof.raise_prices(self.options.part(self.params.bound.time_share)):
            self.options.report(bound=self.sign * bound, certificate=partial(self.proof.certificate, self.sign))

    def count_rejections(self) -> None:
        """Raise the bound by branches on the number of rejected jobs."""
        if not self.rejects or self.closed:
            return
        for _ in self.proof.count_rejections(
            self.state.best_total, self.options.part(self.params.rejections.time_share)
        ):
            self.report(improved=False)
            if self.closed:
                return

    # The first schedule

    def start(self) -> None:
        """Make a first schedule, or take the one that the options hold."""
        instance = self.instance
        dual = self.dual
        self.places: Places = make_places(dual, self.proof.prices, self.params.places)
        self.must_run = not np.isfinite(dual.table.rejection_cost)
        self.rejects = bool(dual.relaxed(self.proof.prices).rejected.any())  # as far as the relaxation tells
        self.mean_cost = dual.mean_least_cost(self.proof.prices) or self.proof.mean_free_cost
        heavy = self.params.search.heavy
        _, count = dual.jobs_that_count(self.proof.prices)
        jobs = len(instance.jobs)
        self.heavy = count < heavy.share * jobs
        self.empty = self.empty_state(self.places)
        self.first = self.state = min(self._first_states(), key=lambda state: state.best_total)
        if self.options.start is not None:
            given = at_places(self.empty, places_of(instance, self.options.start), dual, self.proof.prices)
            if given.best_total < self.state.best_total:
                self.state = given
        self.report()

    def empty_state(self, places: Places) -> State:
        """Return a schedule of no jobs."""
        search = self.params.search
        typical = self.proof.mean_free_cost
        return new_state(
            self.instance,
            self.dual,
            places,
            search.high_regret_excess * typical,
            search.full_slot_bonus * typical,
            max(search.move.most_moved, search.move.most_ejected),
        )

    def _first_states(self) -> Iterator[State]:
        """Yield schedules: what a linear program wants; else by insertion, largest jobs first and slot after slot."""
        jobs = self.instance.jobs
        largest = np.argsort(-self.empty.jobs.work, kind="stable")
        if len(jobs) >= self.params.start.least_jobs and self.options.remaining > 0:
            targets = self._targets()
        else:
            targets = None
        if targets is None:
            yield self._inserted(largest)
            yield self._inserted(np.lexsort((-jobs.demand.sum(axis=1), jobs.arrival)))
            return
        for order in (largest, np.lexsort((-self.empty.jobs.work, targets.start))):
            state = copy_of(self.empty)
            units = targets.units.copy()
            place_targets(order, targets.start, units, self.rng, self.dual.table, self.places, state)
            yield at_places(self.empty, state.place, self.dual, self.proof.prices, fill=True)

    def _targets(self) -> Targets | None:
        params = self.params.start
        options = replace(self.options.part(params.time_share), callback=None, start=None)
        excess = params.most_excess * self.proof.mean_free_cost
        return solve_restricted(self.dual, self.places, self.proof.prices, excess, params, options)

    def _inserted(self, order: IntArray) -> State:
        """Return the schedule of jobs that come in an order, each at its first place by excess with room."""
        state = copy_of(self.empty)
        insert_all(order, self.rng, self.places, state)
        return at_places(self.empty, state.place, self.dual, self.proof.prices, fill=True)

    # The search

    def search(self, options: Options, most: int | None = None) -> None:
        """Anneal in rounds of growing length, at most `most` moves a job in all; None for no more than the budget.

        Each begins with the best schedule; with the first where jobs are rejected: which ones is hard to change.
        """
        jobs = len(self.instance.jobs)
        params = self.params.search
        modes = self.modes()
        moves = max(params.first_moves, params.first_moves_per_job * jobs)
        left = self.budget if most is None else min(self.budget, most * jobs)
        rate = 0.0
        while left > 0 and not self.closed and options.remaining > 0:
            possible = rate * options.remaining if rate > 0 else np.inf
            if possible < left and possible < params.growth * moves:
                moves = int(possible)  # the clock will end it: one long round is better than several short ones
                modes = modes[:1]
            moves = max(min(moves, left), 1)
            rate, modes = self._rounds(moves, modes, options)
            left -= moves
            moves *= params.growth

    def modes(self) -> list[Mode]:
        """Return how rounds may go; three ways where few large jobs make most of the costs.

        Around a large job lie many schedules that are worse. Whether it pays to leave them, by ejections and more
        heat, depends on how many moves there are for each job, so all are tried.
        """
        params = self.params.search
        cost, count = self.dual.jobs_that_count(self.proof.prices)
        first = params.initial_temperature * cost * min(1.0, params.initial_temperature_jobs / count)
        modes = [Mode(first, ejects=False), Mode(first, ejects=True), Mode(params.heavy.heat * first, ejects=True)]
        return modes if self.heavy and len(self.instance.jobs) <= params.heavy.most_jobs else modes[:1]

    def _rounds(self, moves: int, modes: list[Mode], options: Options) -> tuple[float, list[Mode]]:
        """Anneal once in each mode; return the moves a second, and the modes, the best one first."""
        begun = self.state
        found = []
        for mode in modes:
            self.state = begun
            rate = self._round(moves, mode, options)
            found.append((self.state.best_total, rate, mode, self.state))
        found.sort(key=lambda entry: entry[0])
        self.state = found[0][3]
        return found[0][1], [mode for _, _, mode, _ in found]

    def _round(self, moves: int, mode: Mode, options: Options) -> float:
        """Anneal once; return the moves a second, or a unit of work."""
        begun = options.elapsed
        done = 0
        size = min(1000, moves)
        kept = self.state
        state = copy_of(self.first if self.rejects else self.state)
        rules = rules_of(self.params.search.move, mode.ejects)
        pace = (1 / self.params.search.cooling) ** (1 / moves)
        for last, charge in self._charges(moves):
            if self.rejects:
                charge_rejections(charge, state)
            known = self.proof.best if self.complete and charge == np.inf else -np.inf
            goal = Goal(known, options.mip_rel_gap, options.mip_abs_gap)
            while done < last and not self.closed and options.remaining > 0:
                before = self.state.best_total
                size = min(size, last - done)
                clock = options.elapsed
                before_moves = done
                done = anneal(
                    done,
                    done + size,
                    self.rng,
                    mode.first_temperature,
                    pace,
                    goal,
                    self.dual.table,
                    self.places,
                    rules,
                    state,
                )
                options.spend(STEPS_A_MOVE * (done - before_moves))
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
        """Yield what a unit of rejected work costs up to a move of a round: little at first, all of it in the end."""
        if self.rejects:
            unit = self.mean_cost / self.proof.work
            penalty = self.params.search.rejection_penalty
            for k, charge in enumerate(np.geomspace(penalty.start, penalty.end, penalty.steps)):
                yield int(penalty.share * moves * (k + 1) / penalty.steps), float(charge * unit)
        yield moves, np.inf

    def search_beams(self, few: bool, *, noisy: bool = False) -> None:
        """Improve the schedule by beams over the slots, and prove how good it is where jobs are few."""
        if self.closed or not self.complete:
            return
        improver = Improver(self.instance, self.dual, self.proof.prices, self.empty, self.params.beam)
        if few:
            for state, bound in improver.prove(self.state, self.options):
                self.proof.tree = max(self.proof.tree, bound)
                self.state = state
                self.report()
            return
        share = self.params.beam.noisy_time_share if noisy else self.params.beam.time_share
        for state in improver.parts(self.state, self.rng, self.options.part(share), noisy=noisy):
            improved = state.best_total < self.state.best_total
            self.state = state
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
        bound = self.proof.certified if self.certifies else self.proof.best
        gap = relative_gap(self.state.best_total, bound)
        asked = gap is not None and gap <= self.options.mip_rel_gap
        return self.complete and (asked or self.state.best_total - bound <= self.options.mip_abs_gap)

    def report(self, improved: bool = True) -> None:
        """Tell the callback where the search is."""
        proof = partial(self.proof.certificate, self.sign)
        if not self.complete:
            self.options.report(bound=self.sign * self.proof.certified, certificate=proof)
            return
        incumbent: Callable[[], Any] | None = None
        if improved:
            incumbent = partial(schedule_of, self.instance, np.array(self.state.best))
        objective = self.sign * self.state.best_total
        bound = self.sign * self.proof.best
        self.options.report(incumbent=objective, bound=bound, schedule=incumbent, certificate=proof)

    def tell(self) -> None:
        """Tell the callback that the search goes on, at most once in `CHUNK`."""
        if self.options.elapsed - self.told >= CHUNK:
            self.told = self.options.elapsed
            self.report(improved=False)

    def outcome(self, info: dict[str, Any]) -> Outcome:
        """Return the best schedule, its bound, and a certificate; for what a tree proves beyond it there is none."""
        info = info | {"lagrangian_bound": self.sign * self.proof.price_bound, "moves": self.moves}
        bound = self.proof.certified
        if self.proof.tree > bound and self.complete:  # without a schedule beside it, no one takes a tree's bound
            bound = min(self.proof.tree, self.state.best_total)
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
            self._close_gap(
                self.options.part(self.params.cuts.time_share),
                cuts_only=True,
                most_columns=self.params.cuts.most_columns,
            )
            self.report(improved=False)

    def branch(self, options: Options) -> Closed | None:
        """Let HiGHS close the gap over the places that the prices do not rule out; return what it says, if anything."""
        if self.closed or options.remaining == 0:
            return None
        closed = self._close_gap(options)
        if closed is not None and closed.status is not Status.INFEASIBLE:
            self.take(closed)
        return closed

    def _known(self) -> tuple[IntArray, float] | None:
        """Return the place of each job in the best schedule, and its cost; None where there is none."""
        return (np.array(self.state.best), self.state.best_total) if self.complete else None

    def take(self, closed: Closed) -> None:
        """Take the schedule that HiGHS has found, where it is better."""
        if closed.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if closed.place is None:
            return
        self.take_places(closed.place)

    def take_places(self, place: IntArray) -> bool:
        """Take the schedule with the jobs at given places, where it is better; return whether it is."""
        found = at_places(self.empty, place, self.dual, self.proof.prices)
        if not fits_capacity(found, self.empty) or found.best_total >= self.state.best_total:
            return False
        self.state = found
        self.report()
        return True

    def _close_gap(self, options: Options, **how: Any) -> Closed | None:
        known = self._known()
        rounding = float(self.value.rounding().sum())
        size = self.mean_cost  # of the costs that count
        closed = close_gap(self.dual, self.places, known, self.proof.price_bound, size, rounding, options, **how)
        if closed is not None and closed.bound is not None:
            self.proof.tree = max(self.proof.tree, closed.bound)
        return closed
