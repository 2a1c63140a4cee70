"""The bound: the best prices and multipliers that time allows, on coarse cells first, then on fine ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.methods.certificates import stated
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.rounded_sizes import Units, possible_divisors
from carbonopt.problems.purchasing.methods.price.weighings import Weighings
from carbonopt.problems.purchasing.verify.certificate import ceiling

WEIGHINGS_AT_A_TIME = 4
"""Weighings that come before the next ascent, at most."""
MOST_PRICES = 5_000_000
"""Sizes of jobs times cells up to which sizes have prices of their own: an array of so many takes 40 MB."""


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound with what certifies it, and what the prices say of each job.

    Parameters
    ----------
    value, certificate
        See `Dual.certificate`.
    dual
        On the finest grid, evaluated at `point`.
    point
        Flat arguments of the best bound.
    """

    value: float
    certificate: dict[str, Any]
    dual: Dual
    point: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Weights with the multipliers of the limits added, shape (3,)."""
        return self.dual.weights_at(self.dual.split(self.point)[1])


def best_bound(
    instance: PurchasingInstance, remaining: Callable[[], float], options: Options, parameters: BoundParameters
) -> Proof:
    """Return the best bound that is found in the time; Ctrl-C keeps the last that was reported.

    Parameters
    ----------
    instance
        The instance, with at least one job.
    remaining
        Time or work that is left for it.
    options
        Told each stage's bound.
    parameters
        Of the search.
    """
    found: Proof | None = None
    goal = ceiling(instance)
    for stage, hours in enumerate(parameters.cell_hours):
        grid = Grid.near(instance, hours, 1 if found is None else found.dual.grid.per_slot)
        if found is not None and (grid.cells == found.dual.grid.cells or remaining() <= 0):
            continue
        units: Sequence[Units] = () if found is None else found.dual.sizes.units
        dual = Dual(instance, grid, parameters.held_multiplier, units)
        large = dual.breakpoints > parameters.large_breakpoints * parameters.cell_hours[0] / hours
        if large and found is not None and stage == len(parameters.cell_hours) - 1:
            break
        climb = _Climb(remaining, options, parameters, large, goal)
        if found is None:
            first = climb.from_nothing(dual)
            dual, first = climb.divided(dual, first)
        else:
            cells = found.dual.grid.cells
            first = np.concatenate([grid.spread(found.point[:cells]), found.point[cells:]])
            first = climb(dual, first, parameters.later_temperatures)
        value, certificate = dual.certificate(first)
        if found is None or value > found.value:
            found = Proof(value, certificate, dual, first)
        options.report(bound=found.value, certificate=partial(_certificate, instance, found))
    assert found is not None
    found.dual.hard(found.point)
    return found


def _certificate(instance: PurchasingInstance, proof: Proof) -> dict[str, Any] | None:
    return stated(instance, proof.certificate)[1]


@dataclass(frozen=True)
class _Climb:
    """How the dual function of one stage is climbed; see `best_bound`."""

    remaining: Callable[[], float]
    options: Options
    parameters: BoundParameters
    large: bool
    goal: float

    def __call__(self, dual: Dual, first: FloatArray, temperatures: Sequence[float]) -> FloatArray:
        """Return the best flat arguments found from the first."""
        ascent = self._ascent(dual, first)
        ascent.smooth(temperatures, self._iterations)
        if not self.large:
            ascent.step(self.parameters.subgradient_steps)
        return ascent.prices

    @property
    def _iterations(self) -> int:
        return self.parameters.large_iterations if self.large else self.parameters.iterations

    def _ascent(self, dual: Dual, first: FloatArray, lower: FloatArray | float = 0.0) -> Ascent:
        """Return an ascent from flat arguments."""
        spend = partial(self.options.spend, dual.steps)
        return Ascent(dual.hard, dual.soft, first, lower, dual.upper, 1.0, self.remaining, spend, goal=self.goal)

    def from_nothing(self, dual: Dual) -> FloatArray:
        """Return good flat arguments where none are known.

        Where jobs may not split, those for jobs that may come first: prices up to the one on demand bound the tighter
        model at least as well, and without an upper bound the ascent was lost where two limits hold (164 $ in place of
        200 $).
        """
        temperatures = self.parameters.first_temperatures
        if dual.capped:
            return self(dual, self._held(dual), temperatures)
        looser = Dual(dual.instance.with_model("splitting"), dual.grid, dual.held_multiplier)
        first = self(looser, self._held(looser), temperatures)
        return self(dual, first, self.parameters.later_temperatures)

    def _held(self, dual: Dual) -> FloatArray:
        """Return flat arguments to begin with: where some are held at first, those that are good beside them."""
        if not dual.held.any():
            return dual.first
        ascent = self._ascent(dual, dual.first, dual.held)
        temperatures = self.parameters.first_temperatures[: self.parameters.held_temperatures]
        ascent.smooth(temperatures, self.parameters.large_iterations)
        return ascent.prices

    def divided(self, dual: Dual, first: FloatArray) -> tuple[Dual, FloatArray]:
        """Let rounded sizes have prices of their own, as long as they raise the bound; return the dual with these."""
        parameters = self.parameters
        shared = dual.jobs.shared
        sizes = len(np.unique(shared))
        finest = Grid.near(dual.instance, min(parameters.cell_hours))
        many = sizes > parameters.most_sizes or sizes * finest.cells > MOST_PRICES
        if dual.capped or dual.decided or dual.most == 0 or many:
            return dual, first
        begun = self.remaining()
        until = (1 - parameters.divisor_share) * begun if begun < np.inf else 0.0
        dual, first = self._with_divisors(dual, first, until)
        return self._with_weighings(dual, first, until)

    def _with_divisors(self, dual: Dual, first: FloatArray, until: float) -> tuple[Dual, FloatArray]:
        """Add one divisor at a time: that whose units the load of the relaxation exceeds the most.

        Where the soft function is greatest, that load is a mean of what is best for the jobs; at the prices of the
        bound it need not be.
        """
        parameters = self.parameters
        possible = possible_divisors(dual.jobs.shared, dual.most)
        longer, value = dual, -np.inf
        while parameters.divisors and self.remaining() > until:
            ascent = self._ascent(longer, first)
            ascent.smooth(parameters.divisor_temperatures, min(parameters.divisor_iterations, self._iterations))
            if ascent.value - value < parameters.least_rise * abs(ascent.value):
                break
            dual, value, first = longer, ascent.value, ascent.prices
            chosen = dual.sizes.units
            if len(chosen) == parameters.divisors or not len(possible):
                break
            apart = self._apart(dual, ascent)
            excess = apart.sizes.excess(load_of_slots(apart), possible).sum(axis=1)
            best = int(excess.argmax())
            if excess[best] <= 0:
                break
            longer, first = self._longer(dual, first, [possible.pop(best)])
        return dual, first[: len(dual.upper)]

    def _with_weighings(self, dual: Dual, first: FloatArray, until: float) -> tuple[Dual, FloatArray]:
        """Add some weighings at a time: those that the load of the relaxation exceeds the most."""
        parameters = self.parameters
        search = Weighings(dual.instance, dual.jobs.shared)
        left = parameters.weighings if search.is_possible else 0
        if not left or self.remaining() <= until:
            return dual, first
        ascent = self._ascent(dual, first)
        ascent.smooth(parameters.later_temperatures, self._iterations)
        while left and self.remaining() > until:
            apart = self._apart(dual, ascent)
            load = load_of_slots(apart)[apart.sizes.cpus > 0]
            most = min(left, WEIGHINGS_AT_A_TIME)
            found = search.exceeded(load, most, self.options, lambda: self.remaining() > until)
            left -= len(found)
            if not found:
                break
            longer, more = self._longer(dual, ascent.prices, found)
            next_ascent = self._ascent(longer, more)
            next_ascent.smooth(parameters.later_temperatures, self._iterations)
            if next_ascent.value - ascent.value < parameters.least_rise_of_weighings * abs(ascent.value):
                break
            dual, ascent = longer, next_ascent
        return self._of_use(dual, ascent.prices)

    def _of_use(self, dual: Dual, first: FloatArray) -> tuple[Dual, FloatArray]:
        """Return the dual and flat arguments without units that have no price: others say what these said."""
        others = len(dual.upper) - len(dual.sizes.units) * dual.grid.slots
        prices = first[others:].reshape(len(dual.sizes.units), dual.grid.slots)
        used = np.flatnonzero((prices > 0).any(axis=1))
        units = [dual.sizes.units[q] for q in used]
        return dual.with_units(units), np.concatenate([first[:others], prices[used].ravel()])

    def _apart(self, dual: Dual, ascent: Ascent) -> Dual:
        """Return the dual with the load of each size at the prices where an ascent has ended."""
        apart = dual.with_units(dual.sizes.units, apart=True)
        self.options.spend(apart.steps)
        apart.soft(ascent.latest, self.parameters.divisor_temperatures[-1])
        return apart

    def _longer(self, dual: Dual, first: FloatArray, units: Sequence[Units]) -> tuple[Dual, FloatArray]:
        """Return the dual with prices for further units, and flat arguments at which these are 0."""
        free = np.zeros(len(units) * dual.grid.slots)
        return dual.with_units([*dual.sizes.units, *units]), np.concatenate([first, free])


def load_of_slots(dual: Dual) -> FloatArray:
    """Return the mean load of each slot [CPUs] after an evaluation, by sizes of jobs, shape (sizes, T)."""
    grid = dual.grid
    return np.asarray(dual.load.reshape(-1, grid.slots, grid.per_slot).mean(axis=2) / grid.hours)
