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
from carbonopt.problems.purchasing.methods.price.dual import NO_DIVISORS, Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.rounded_sizes import possible_divisors
from carbonopt.problems.purchasing.verify.certificate import ceiling

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
        divisors = NO_DIVISORS if found is None else found.dual.sizes.divisors
        dual = Dual(instance, grid, parameters.held_multiplier, divisors)
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
        """Let rounded sizes have prices of their own, as long as each raises the bound; return the dual with these.

        One divisor at a time: that whose units the load of the relaxation exceeds the most. Where the soft function is
        greatest, that load is a mean of what is best for the jobs; at the prices of the bound it need not be.
        """
        parameters = self.parameters
        shared = dual.jobs.shared
        sizes = len(np.unique(shared))
        finest = Grid.near(dual.instance, min(parameters.cell_hours))
        many = sizes > parameters.most_sizes or sizes * finest.cells > MOST_PRICES
        if dual.capped or dual.decided or dual.most == 0 or many or not parameters.divisors:
            return dual, first
        begun = self.remaining()
        until = (1 - parameters.divisor_share) * begun if begun < np.inf else 0.0
        possible = possible_divisors(shared, dual.most)
        longer, value = dual, -np.inf
        while self.remaining() > until:
            ascent = self._ascent(longer, first)
            ascent.smooth(parameters.divisor_temperatures, min(parameters.divisor_iterations, self._iterations))
            if ascent.value - value < parameters.least_rise * abs(ascent.value):
                break
            dual, value, first = longer, ascent.value, ascent.prices
            chosen = dual.sizes.divisors
            if len(chosen) == parameters.divisors or not len(possible):
                break
            apart = dual.with_divisors(chosen, apart=True)
            self.options.spend(apart.steps)
            apart.soft(ascent.latest, parameters.divisor_temperatures[-1])
            violation = apart.sizes.violation(apart.load / apart.grid.hours, possible)
            best = int(violation.argmax())
            if violation[best] <= 0:
                break
            longer = dual.with_divisors(np.append(chosen, possible[best]))
            first = np.concatenate([first, np.zeros(dual.grid.slots)])
            possible = np.delete(possible, best)
        return dual, first[: len(dual.upper)]
