"""Schedules of low risk: rounds of annealing from a schedule that one signal gave; see `hedge_kernels.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.core.options import Options, Schedule
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.hedge_kernels import Parts, add_place, anneal_risk, worst
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.places import make_places
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.search import rules_of
from carbonopt.problems.mosp.methods.price.state import at_places, copy_of, new_state, places_of, schedule_of

STEPS_A_MOVE = 4_000.0
"""Loop steps of a move, about."""
CHUNK = 1_000
"""Moves between two looks at the limits."""
HEAT = 0.3
"""Temperature at the beginning of a round, over that of a search for one signal: the schedule is good already."""
SKIPPED_SHARE = 0.15
"""Probability with which a place that fits is passed over: the mix does not know which one hedges."""
COMPILE_SECONDS = 20.0
"""What it takes to compile the loops, about, on a slow machine [s]."""
COMPILE_COMMAND = "carbonopt risk --time-limit 60"
"""What compiles them: `carbonopt compile` does not, since plans without scenarios never use them."""


@dataclass(frozen=True, eq=False)
class RiskSignals:
    """The signals over which the risk is the largest cost.

    Parameters
    ----------
    base
        [g/kWh], shape (Z, T).
    rise
        What each direction adds [g/kWh]: shape (K, Z, T), or (Z, T) where each pair of a zone and a slot is one.
    most, total
        Largest weight of each direction, shape (K,), and of all together.
    """

    base: FloatArray
    rise: FloatArray
    most: FloatArray
    total: float

    def parts(self, instance: MospInstance) -> Parts:
        """Return what they cost a used unit of each cluster."""
        assert isinstance(instance.objective, CarbonObjective)
        kwh = instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours
        unit = (instance.objective.carbon_kg / 1000 * kwh)[..., None]
        zone = instance.zone_of_cluster
        directions = self.rise if self.rise.ndim == 3 else self.rise[None]
        rise = np.array([prefix_sums(unit * direction[zone, None, :]) for direction in directions])
        return Parts(
            base=prefix_sums(unit * self.base[zone, None, :]),
            rise=np.ascontiguousarray(np.moveaxis(rise, 0, -1)),
            zone=np.asarray(zone, dtype=np.int64),
            is_pair=self.rise.ndim == 2,
            most=np.ascontiguousarray(self.most),
            total=float(self.total),
        )


@dataclass(frozen=True, eq=False)
class Begin:
    """Where the search begins.

    Parameters
    ----------
    schedule
        Of the jobs of the instance.
    certain, added
        What it costs under the base, and what each direction adds, shape (K,). They may hold costs of other jobs.
    """

    schedule: Schedule
    certain: float
    added: FloatArray


def hedge(
    instance: MospInstance, prices: FloatArray, begin: Begin, signals: RiskSignals, goal: float, options: Options
) -> Schedule:
    """Return a schedule of no more risk than the one given.

    Parameters
    ----------
    instance
        Whose signal is the mix; without fixed runs.
    prices
        Of capacity, at which the mix proves its bound, shape (M, R, T).
    begin
        A schedule of this instance.
    signals
        Of the risk.
    goal
        A risk that is low enough.
    options
        Of this search.
    """
    moves = options.parameters(PriceParameters).search.moves(len(instance.jobs))
    steps = STEPS_A_MOVE * moves
    kernels = (anneal_risk,)
    with loops(steps, kernels, COMPILE_SECONDS, remaining=options.seconds_left, command=COMPILE_COMMAND) as ready:
        if not ready or moves == 0:
            return begin.schedule
        return _Hedge(instance, prices, begin, signals, options).search(moves, goal)


class _Hedge:
    """A search, and the schedule of least risk so far."""

    def __init__(
        self, instance: MospInstance, prices: FloatArray, begin: Begin, signals: RiskSignals, options: Options
    ) -> None:
        params = options.parameters(PriceParameters)
        search = params.search
        self.instance = instance
        self.options = options
        self.params = search
        self.prices = prices.ravel()
        self.dual = Dual(instance, placement_value(instance), params.bound.cluster_temperature)
        self.places = make_places(self.dual, self.prices, params.places)
        typical = self.dual.mean_least_cost(self.prices) or 1.0
        bonus = search.full_slot_bonus * typical
        self.empty = new_state(
            instance, self.dual, self.places, search.high_regret_excess * typical, bonus, search.move.most_moved
        )
        self.best = at_places(self.empty, places_of(instance, begin.schedule), self.dual, self.prices)
        self.parts = signals.parts(instance)
        self.certain = begin.certain
        self.added = np.array(begin.added, dtype=np.float64)
        self.risk = self.certain + worst(self.added, self.parts, np.zeros(len(self.added) + 1, dtype=np.int64))
        self.rng = np.random.default_rng(options.seed)

    def search(self, most: int, goal: float) -> Schedule:
        """Anneal in rounds of growing length, at most `most` moves in all."""
        cost, count = self.dual.jobs_that_count(self.prices)
        hot = HEAT * self.params.initial_temperature * cost * min(1.0, self.params.initial_temperature_jobs / count)
        moves = max(self.params.first_moves, self.params.first_moves_per_job * len(self.instance.jobs))
        while most > 0 and self.options.remaining > 0 and self.risk > goal:
            moves = min(moves, most)
            self._round(moves, hot, goal)
            most -= moves
            moves *= self.params.growth
        return schedule_of(self.instance, self.best.best)

    def _round(self, moves: int, hot: float, goal: float) -> None:
        """Anneal once from the best schedule."""
        state = copy_of(self.best)
        totals = np.array([self.certain, self.risk])
        added = self.added.copy()
        pace = self.params.cooling ** (-1 / moves)
        rules = rules_of(self.params.move)._replace(skipped_share=SKIPPED_SHARE)
        table = self.dual.table
        for first in range(0, moves, CHUNK):
            if self.options.remaining <= 0 or totals[1] <= goal:
                break
            last = min(moves, first + CHUNK)
            anneal_risk(first, last, self.rng, hot, pace, table, self.places, rules, self.parts, totals, added, state)
            self.options.spend(STEPS_A_MOVE * (last - first))
        if totals[1] < self.risk:
            self._keep(state, float(totals[1]))

    def _keep(self, state: State, risk: float) -> None:
        """Take the best schedule of a round, and count anew what it costs."""
        found = at_places(self.empty, state.best, self.dual, self.prices)
        for i in range(len(found.jobs)):
            full_cost = float(found.jobs.rejection_cost[i])
            for sign, place in ((-1.0, self.best.best[i]), (1.0, found.best[i])):
                self.certain += add_place(
                    sign, i, int(place), self.dual.table, self.parts, found, self.added, full_cost
                )
        self.best = found
        self.risk = risk
