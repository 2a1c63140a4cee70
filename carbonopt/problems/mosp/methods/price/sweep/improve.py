"""Better schedules, and bounds, by sweeps over all jobs or parts of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.state import at_places, fits_capacity
from carbonopt.problems.mosp.methods.price.sweep.choose import Size, choose
from carbonopt.problems.mosp.methods.price.sweep.part import Choice, Part, make_part, whole_room, whole_units
from carbonopt.problems.mosp.methods.price.sweep.profiles import are_few
from carbonopt.problems.mosp.methods.price.sweep.sweep import Sweep, Swept

MOST_PROFILES, MOST_VALUES, MOST_STEPS = 50_000, 2e7, 2e8
"""Of an instance that is swept as a whole, at most: profiles, these x clusters x slots, and these x types."""
ROOT_ROUNDS = 200
"""Of the ascent of prices before a proof."""
PROOFS = ((2_000, 5, None), (10_000, 5, None), (50_000, 5, None), (20_000, 20, 1_000), (200_000, 20, 1_000))
"""Width, rounds and batch of the sweeps before and of a proof, one after the other."""
SMALL, LARGE = Size(12_000, (12, 16, 24)), Size(2_500, (8, 12, 16))
"""Parts of instances that are small, and of others."""
SMALL_WIDTH, LARGE_WIDTH = 1_000, 500
"""Width of sweeps over these."""
PARTS = 20
"""Parts in all, a job."""
TIE = 1e-9
"""Relative, above the cost of a part: others as cheap are taken, too."""


def is_small(instance: MospInstance, dual: Dual) -> bool:
    """Return whether clusters are so small that all jobs can be swept."""
    whole = whole_units(instance.jobs.demand)
    if whole is None or dual.limit.size > np.iinfo(np.int16).max:
        return False
    (units, unit), (clusters, _, slots) = whole, dual.shape
    most, longest = int(whole_room(dual.limit, unit, int(units.sum())).max()), int(instance.jobs.duration.max())
    if not are_few(most, longest, MOST_PROFILES):
        return False
    values = clusters * slots * comb(most + longest, longest)
    return bool(values <= MOST_VALUES and values * len(dual.table.group) <= MOST_STEPS)


class Improver:
    """Sweeps over the jobs of an instance, all of them only where it `is_small`.

    Parameters
    ----------
    instance, dual
        The problem and its dual function.
    prices
        Of capacity, flat.
    empty
        A schedule without jobs.
    """

    def __init__(self, instance: MospInstance, dual: Dual, prices: FloatArray, empty: State) -> None:
        self.instance, self.dual, self.prices, self.empty = instance, dual, prices, empty
        self.prefix = prefix_sums(dual.base), prefix_sums(dual.base + prices.reshape(dual.shape))
        whole = whole_units(instance.jobs.demand)
        assert whole is not None, "demands have no common unit"
        self.units, self.unit = whole
        self.rounding, bound = dual.rounding(prices), dual.safe(prices)
        self.bound = -np.inf if bound is None else bound

    def prove(self, state: State, options: Options) -> Iterator[tuple[State, float]]:
        """Yield better schedules and bounds, until the gap is what the options ask for, or states are too many."""
        bound = self.bound
        for width, rounds, batch in PROOFS:
            total = float(state.best_total)
            slack = max(options.mip_abs_gap, options.mip_rel_gap * abs(total))
            if total - bound <= slack or options.remaining == 0:
                return
            sweep = Sweep(self._all(total - self.bound), total - 0.9 * slack, options)
            bound = max(bound, sweep.root(ROOT_ROUNDS) - self.rounding)
            swept = sweep.go(width, rounds, batch)
            state, bound = self._better(state, sweep.part, swept), max(bound, swept.bound - self.rounding)
            bound = min(bound, float(state.best_total))
            yield state, bound

    def parts(self, state: State, rng: np.random.Generator, options: Options) -> Iterator[State]:
        """Yield schedules in which a part was swept."""
        price = self.prices.reshape(self.dual.shape)[:, 0] * self.unit
        small = is_small(self.instance, self.dual)
        size, width = (SMALL, SMALL_WIDTH) if small else (LARGE, LARGE_WIDTH)
        for _ in range(PARTS * len(self.units)):
            if options.remaining == 0:
                return
            choice = choose(state, self.units, self.unit, self.dual.shape, size, rng)
            begin, end = choice.slots
            most = float(state.jobs.excess[choice.job].sum() + (price[choice.cluster, begin:end] * choice.idle).sum())
            cost = float(state.jobs.cost[choice.job].sum())
            if len(choice.job) < 2 or most <= TIE * abs(cost):
                continue
            part = self._part(choice, most)
            sweep = Sweep(part, cost + TIE * abs(cost), options)
            sweep.root(0)
            state = self._better(state, part, sweep.go(width))
            yield state

    def _part(self, choice: Choice, most_excess: float) -> Part:
        most = most_excess * (1 + 1e-6) + 1e-12 * float(np.abs(self.empty.jobs.lowest).sum()) + 2 * self.rounding
        return make_part(choice, self.units, most, self.prefix, self.dual.table, self.empty)

    def _all(self, most_excess: float) -> Part:
        clusters, _, slots = self.dual.shape
        room = whole_room(self.dual.limit[:, 0], self.unit, int(self.units.sum()))
        return self._part(Choice(np.arange(len(self.units)), np.arange(clusters), (0, slots), room, room), most_excess)

    def _better(self, state: State, part: Part, swept: Swept) -> State:
        """Return the schedule with a part as it was found, if that fits and is no worse."""
        if swept.start is None:
            return state
        place = np.array(state.best)
        place[part.job] = part.places(swept.start, self.dual.shape[2])
        found = at_places(self.empty, place, self.dual, self.prices)
        return found if fits_capacity(found, self.empty) and found.best_total <= state.best_total else state
