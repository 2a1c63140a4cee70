"""Better schedules, and bounds, by beam search over all jobs or parts of a schedule."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.beam.beam import Beam, BeamResult
from carbonopt.problems.mosp.methods.price.beam.choose import choose
from carbonopt.problems.mosp.methods.price.beam.parameters import BeamParameters, PartParameters
from carbonopt.problems.mosp.methods.price.beam.part import Choice, Part, disturbed, make_part, whole_room, whole_units
from carbonopt.problems.mosp.methods.price.beam.profiles import are_few
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.records import State
from carbonopt.problems.mosp.methods.price.state import at_places, fits_capacity

PART_STEPS = 2.5e6
"""Loop steps to choose a part and to take what its beam finds."""
ENTRY_STEPS = 11.0
"""Loop steps for each entry (profile x cluster x slot) of a part."""
FARTHEST = 5.0
"""Noise that may make a start worth while [its size]: starts of larger excess are left out."""
TIE = 1e-9
"""Relative, above the cost of a part: others as cheap are taken, too."""


def is_small(instance: MospInstance, dual: Dual, params: BeamParameters) -> bool:
    """Return whether clusters are so small that one beam can take all jobs."""
    whole = whole_units(instance.jobs.demand)
    if whole is None or dual.limit.size > np.iinfo(np.int16).max:
        return False
    units, unit = whole
    clusters, _, slots = dual.shape
    most = int(whole_room(dual.limit, unit, int(units.sum())).max())
    longest = int(instance.jobs.duration.max())
    if not are_few(most, longest, params.most_profiles):
        return False
    values = clusters * slots * comb(most + longest, longest)
    return bool(values <= params.most_values and values * len(dual.table.group) <= params.most_steps)


class Improver:
    """Beams over the jobs of an instance, all of them only where it `is_small`.

    Parameters
    ----------
    instance, dual
        The problem and its dual function.
    prices
        Of capacity, flat.
    empty
        A schedule without jobs.
    params
        Of the beams.
    """

    def __init__(
        self, instance: MospInstance, dual: Dual, prices: FloatArray, empty: State, params: BeamParameters
    ) -> None:
        self.params = params
        self.instance = instance
        self.dual = dual
        self.prices = prices
        self.empty = empty
        self.prefix = prefix_sums(dual.base), prefix_sums(dual.base + prices.reshape(dual.shape))
        whole = whole_units(instance.jobs.demand)
        assert whole is not None, "demands have no common unit"
        self.units, self.unit = whole
        self.rounding = dual.rounding(prices)
        bound = dual.safe(prices)
        self.bound = -np.inf if bound is None else bound

    def prove(self, state: State, options: Options) -> Iterator[tuple[State, float]]:
        """Yield better schedules and bounds, until the gap is what the options ask for, or states are too many."""
        bound = self.bound
        params = self.params
        stages = zip(params.proof_widths, params.proof_rounds, params.proof_batches, strict=True)
        for width, rounds, batch in stages:
            total = float(state.best_total)
            slack = max(options.mip_abs_gap, options.mip_rel_gap * abs(total))
            if total - bound <= slack or options.remaining == 0:
                return
            beam = Beam(self._all(total - self.bound), total - 0.9 * slack, params, options)
            bound = max(bound, beam.root(params.root_rounds) - self.rounding)
            result = beam.go(width, rounds, batch or None)
            state = self._better(state, beam.part, result, state.best_total)
            bound = max(bound, result.bound - self.rounding)
            bound = min(bound, float(state.best_total))
            yield state, bound

    def parts(self, state: State, rng: np.random.Generator, options: Options, *, noisy: bool) -> Iterator[State]:
        """Yield the best schedule again and again, after a beam has made a part anew.

        With noise, costs are disturbed at random, less and less. So jobs leave places that are best for each part by
        itself; the last parts are made without. What the first parts come to matters most, so there may be several
        tries of these, and the best one goes on.
        """
        size = self._size()
        count = self.params.parts_per_job * len(self.units)
        begun, time = options.elapsed, options.remaining
        mean_cost = float(np.abs(state.jobs.cost).mean())
        first = best = state
        tried = 0
        for k in range(count):
            if options.remaining == 0:
                return
            done = max(k / count, (options.elapsed - begun) / time)
            noise = mean_cost * size.noise(done) if noisy else 0.0
            number = size.number_of_try(done) if noisy else 0
            if noise == 0 or number == size.tries > tried:
                state = best
            elif number > tried:
                state = first
            tried = number
            state = self._with_new_part(state, size, noise, rng, options)
            if state.best_total <= best.best_total:
                best = state
            yield best

    def _with_new_part(
        self, state: State, size: PartParameters, noise: float, rng: np.random.Generator, options: Options
    ) -> State:
        """Return the schedule after a beam has made a part anew, if that is no worse at costs with noise."""
        options.spend(PART_STEPS)
        price = self.prices.reshape(self.dual.shape)[:, 0] * self.unit
        choice = choose(state, self.units, self.unit, self.dual.shape, self.params, size, rng)
        begin, end = choice.slots
        most = float(state.jobs.excess[choice.job].sum() + (price[choice.cluster, begin:end] * choice.idle).sum())
        cost = float(state.jobs.cost[choice.job].sum())
        if len(choice.job) < 2 or (most <= TIE * abs(cost) and noise == 0):
            return state
        part = self._part(choice, most + FARTHEST * noise)
        options.spend(ENTRY_STEPS * part.program.open.size)
        if noise > 0:
            part = disturbed(part, noise, rng)
            cost = part.cost_of(np.asarray(state.jobs.place[part.job]), self.dual.shape[2])
            if cost == np.inf:  # a job runs though not to run costs less
                return state
        beam = Beam(part, cost + TIE * abs(cost), self.params, options)
        beam.root(0)
        return self._better(state, part, beam.go(size.width), np.inf if noise > 0 else state.best_total)

    def _size(self) -> PartParameters:
        """Return how large parts are."""
        if len(self.units) <= self.params.small_jobs or is_small(self.instance, self.dual, self.params):
            return self.params.small
        return self.params.medium if len(self.units) <= self.params.medium_jobs else self.params.large

    def _part(self, choice: Choice, most_excess: float) -> Part:
        most = most_excess * (1 + 1e-6) + 1e-12 * float(np.abs(self.empty.jobs.lowest).sum()) + 2 * self.rounding
        return make_part(choice, self.units, most, self.prefix, self.dual.table, self.empty)

    def _all(self, most_excess: float) -> Part:
        clusters, _, slots = self.dual.shape
        room = whole_room(self.dual.limit[:, 0], self.unit, int(self.units.sum()))
        return self._part(Choice(np.arange(len(self.units)), np.arange(clusters), (0, slots), room, room), most_excess)

    def _better(self, state: State, part: Part, result: BeamResult, most: float) -> State:
        """Return the schedule with a part as it was found, if that fits and costs at most so much."""
        if result.start is None:
            return state
        place = np.array(state.best)
        place[part.job] = part.places(result.start, self.dual.shape[2])
        found = at_places(self.empty, place, self.dual, self.prices)
        if fits_capacity(found, self.empty) and found.best_total <= most:
            return found
        return state
