"""Better schedules, and bounds, by sweeps over all jobs or parts of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.problems.mosp.instance import CAPACITY_ROUNDING, MospInstance
from carbonopt.problems.mosp.prices.dual import Dual
from carbonopt.problems.mosp.prices.state import State, at_places
from carbonopt.problems.mosp.prices.sweep.choose import choose
from carbonopt.problems.mosp.prices.sweep.part import Part, make_part, whole_room, whole_units
from carbonopt.problems.mosp.prices.sweep.profiles import MOST_PROFILES, count_profiles
from carbonopt.problems.mosp.prices.sweep.sweep import Sweep, Swept

MOST_STEPS = 2e8
"""Clusters x slots x profiles x types of a whole instance, at most: shortest paths take a fraction of a second."""
ROOT_ROUNDS = 200
"""Of the ascent of prices before a proof."""
PROOFS = ((2_000, 5, None), (10_000, 5, None), (50_000, 5, None), (20_000, 20, 1_000), (200_000, 20, 1_000))
"""Width, rounds and batch of the sweeps before and of a proof, one after the other."""
BEAMS = ((2_000, 1.0), (2_000, 0.8), (2_000, 2.0), (5_000, 1.0), (5_000, 0.8), (5_000, 3.0), (20_000, 1.0))
"""Width of the sweeps that only look for a schedule, and how much the hope for waiting jobs counts."""
SLACK = 0.05
"""Relative, above the best schedule: what such a sweep does not drop."""
EXCESS = 0.05
"""Largest excess of the starts that it looks at, in costs of all jobs."""
PART_WIDTH, PART_ROUNDS, PART_ROOT = 1_000, 3, 20
"""Of sweeps over a part."""
PARTS = 3
"""Parts in all, a job."""
TIE = 1e-9
"""Relative, above the cost of a part: others as cheap are taken, too."""


def is_small(instance: MospInstance, dual: Dual) -> bool:
    """Return whether demands are whole numbers of units of one resource, and clusters so small that sweeps pay."""
    whole = whole_units(instance.jobs.demand)
    if whole is None or dual.limit.size > np.iinfo(np.int16).max:
        return False
    clusters, _, slots = dual.shape
    profiles = count_profiles(int(whole_room(dual.limit, whole[1]).max()), int(instance.jobs.duration.max()))
    return profiles <= MOST_PROFILES and clusters * slots * profiles * len(dual.table.group) <= MOST_STEPS


class Improver:
    """Sweeps over the jobs of an instance that `is_small`.

    Parameters
    ----------
    instance, dual
        The problem and its dual function.
    prices
        Of capacity, flat.
    empty
        A schedule without jobs.
    run
        Returns the way to run a kernel; compiled if None.
    """

    def __init__(self, instance: MospInstance, dual: Dual, prices: FloatArray, empty: State, run: Any = None) -> None:
        self.instance, self.dual, self.prices, self.empty = instance, dual, prices, empty
        self.run = run or (lambda kernel: kernel.machine)
        self.prefix = prefix_sums(dual.base), prefix_sums(dual.base + prices.reshape(dual.shape))
        whole = whole_units(instance.jobs.demand)
        assert whole is not None, "see is_small"
        self.units, self.unit = whole

    def prove(self, state: State, bound: float, slack: float, options: Options) -> Iterator[tuple[State, float]]:
        """Yield better schedules and bounds, until one is within `slack` of the other, or the states are too many."""
        for width, rounds, batch in PROOFS:
            total = float(state.best_total)
            if total - bound <= slack or options.remaining == 0:
                return
            sweep = self._sweep(self._all(total - bound), total - 0.9 * slack, options)
            bound = max(bound, sweep.root(ROOT_ROUNDS))
            swept = sweep.go(width, rounds, batch)
            state, bound = self._better(state, sweep.part, swept), max(bound, swept.bound)
            yield state, min(bound, float(state.best_total))

    def beams(self, state: State, options: Options) -> Iterator[State]:
        """Yield schedules of sweeps that keep few states."""
        for width, trust in BEAMS:
            if options.remaining == 0:
                return
            total = abs(float(state.best_total))
            part = self._all(EXCESS * total)
            part = replace(part, program=part.program._replace(hope=trust * part.program.hope))
            sweep = self._sweep(part, float(state.best_total) + SLACK * total, options)
            sweep.root(0)
            state = self._better(state, part, sweep.go(width))
            yield state

    def parts(self, state: State, rng: np.random.Generator, options: Options) -> Iterator[State]:
        """Yield schedules in which a part is as good as can be."""
        units, unit = self.units, self.unit
        price = self.prices.reshape(self.dual.shape)[:, 0] * unit
        for _ in range(PARTS * len(units)):
            if options.remaining == 0:
                return
            choice = choose(state, units, unit, self.dual.shape, rng)
            begin, end = choice.slots
            most = float(state.jobs.excess[choice.job].sum() + (price[choice.cluster, begin:end] * choice.idle).sum())
            cost = float(state.jobs.cost[choice.job].sum())
            if len(choice.job) < 2 or most <= TIE * abs(cost):
                continue
            part = self._part(choice.job, choice.cluster, choice.slots, choice.room, most)
            sweep = self._sweep(part, cost + TIE * abs(cost), replace(options, seed=int(rng.integers(1 << 30))))
            sweep.root(PART_ROOT)
            state = self._better(state, part, sweep.go(PART_WIDTH, PART_ROUNDS, PART_WIDTH))
            yield state

    def _part(
        self, job: IntArray, cluster: IntArray, slots: tuple[int, int], room: IntArray, most_excess: float
    ) -> Part:
        most = most_excess * (1 + 1e-6) + 1e-12 * abs(float(self.empty.now.total[0]))
        table = self.dual.table
        return make_part(job, cluster, slots, room, self.units, most, self.prefix, table, self.empty, self.run)

    def _all(self, most_excess: float) -> Part:
        clusters, _, slots = self.dual.shape
        room = whole_room(self.dual.limit[:, 0], self.unit)
        return self._part(np.arange(len(self.units)), np.arange(clusters), (0, slots), room, most_excess)

    def _sweep(self, part: Part, most: float, options: Options) -> Sweep:
        return Sweep(part, most, self.run, options)

    def _better(self, state: State, part: Part, swept: Swept) -> State:
        """Return the schedule with a part as it was found, if that fits and is no worse."""
        if swept.start is None:
            return state
        place = np.array(state.best)
        place[part.job] = part.places(swept.start, self.dual.shape[2])
        found = at_places(self.empty, place, self.dual, self.prices, self.run)
        fits = bool((found.free >= -0.499 * CAPACITY_ROUNDING * self.empty.free).all())  # the other half, nearly
        return found if fits and found.best_total <= state.best_total else state
