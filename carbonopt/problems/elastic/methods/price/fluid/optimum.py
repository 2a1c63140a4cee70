"""The optimum of a fluid program: an interior point over a band, which grows until the bound meets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.methods.price.fluid.band import Allocation, Band, FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.interior import InteriorPoint, Point
from carbonopt.problems.elastic.methods.price.fluid.pricing import UNIT_STEPS, Pricer
from carbonopt.problems.elastic.methods.price.fluid.purify import Purifier
from carbonopt.problems.elastic.methods.price.fluid.repair import repaired
from carbonopt.problems.elastic.methods.price.fluid.smooth import smooth
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters

INTERIOR_TOLERANCE = 1e-8
"""Relative difference of primal and dual objective at which the interior point method ends."""
SHORTAGE_FACTOR = 20.0
"""Price of undone work over the largest break price; raised while it is too low to be exact."""
SHORTAGE_SCALE = 0.05
"""Size of the duals where only undone work costs, and 1 a slot of it."""
SHORT, LACKING = 1e-9, 1e-7
"""Undone work, over all work, that counts as rounding in a proof, and that a wider band is needed for."""


@dataclass
class Optimum:
    """What is known of a fluid program.

    Parameters
    ----------
    prices, mu
        Slot prices [g per server and slot], shape (T,), and break prices [g per slot of work], shape
        (N,), of the best bound.
    bound
        Lagrangian bound at these prices [g].
    carbon
        Of `allocation` [g]; infinite without one.
    allocation
        The best that is known; None if none does all the work.
    is_sound
        Whether `allocation` holds to the checker's allowances; else rounding spoilt it.
    closed
        Whether bound and carbon agree as far as was asked.
    lacking
        Whether the last band could not do all the work.
    info
        Sizes and iterations.
    """

    prices: FloatArray
    mu: FloatArray
    bound: float
    carbon: float = np.inf
    allocation: Allocation | None = None
    is_sound: bool = False
    closed: bool = False
    lacking: bool = False
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """Distance of carbon and bound, over carbon."""
        return _gap(self.carbon, self.bound)


Tell = Callable[[Optimum], None]


def optimum(program: FluidProgram, options: Options, primal: bool = True, tell: Tell | None = None) -> Optimum:
    """Return the optimum of a fluid program.

    Parameters
    ----------
    program
        N jobs, at least one, and T slots.
    options
        Time limit, gap and parameters.
    primal
        False where prices and bound are all that is needed.
    tell
        Called with what is known when there is a schedule that is not the last.
    """
    params = options.parameters(PriceParameters).band
    pricer = Pricer(program)
    best, width = _first(program, pricer, options)
    if tell is not None and best.allocation is not None:
        tell(best)
    factor = SHORTAGE_FACTOR
    for number in range(1, params.rounds + 1):
        if options.remaining <= 0:
            break
        is_large = program.band_size(best.prices, best.mu, width)[1] > params.exact_columns
        exact = options.mip_rel_gap if is_large else params.exact_gap
        if best.gap <= exact:
            break
        band = program.band(best.prices, best.mu, width)
        usual = float(best.mu[best.mu < pricer.shortage_price].max(initial=1e-6))
        shortage_price = min(factor * usual, pricer.shortage_price)
        interior = InteriorPoint(program, band, best.prices, best.mu, shortage_price, usual)
        point = interior.solve(INTERIOR_TOLERANCE, options)
        _raise_bound(best, pricer, point)
        best.info |= {
            "rounds": number,
            "band_columns": len(band.level),
            "interior_iterations": point.iterations,
            "pricings": pricer.evaluations,
        }
        best.lacking = float(point.shortage.sum()) > LACKING * float(program.length.sum())
        if best.lacking:
            if number == 1 and least_shortage(program, options).bound > 0:
                break
            width = np.inf if number >= params.widest_round else 10 * width
            factor = 10 * factor
            continue
        carbon = _carbon(program, band, point)
        best.closed = _gap(carbon, best.bound) <= exact
        is_last = best.closed or number == params.rounds
        if primal and is_last and tell is not None:  # to have something, should the user interrupt what follows
            _tell_interior(tell, best, program, program.allocation(band, point.share))
        if primal:
            if is_last:
                share = Purifier(program, band, point.share, point.mu).run(options)
            else:
                share = point.share
            best.closed &= _take(best, program, program.allocation(band, share))
        else:
            best.carbon = min(best.carbon, carbon)
        if is_last:
            break
        width *= 2
    return best


def _first(program: FluidProgram, pricer: Pricer, options: Options) -> tuple[Optimum, float]:
    """Return what is known before the first band, and its width [g]."""
    params = options.parameters(PriceParameters)
    smoothing, band = params.smoothing, params.band
    if program.size < smoothing.least_units:
        best = _best_of(pricer, ascend(pricer, options))
        return best, _width(best, band.width)
    target = max(smoothing.gap_share * options.mip_rel_gap, smoothing.least_gap)
    smoothed = smooth(program, pricer, target, options)
    best = _best_of(pricer, smoothed.prices)
    best.info |= {"newton_steps": smoothed.steps}
    if smoothed.allocation is None:
        best = max(best, _best_of(pricer, ascend(pricer, options)), key=lambda found: found.bound)
        return best, _width(best, band.width)
    best.carbon = smoothed.carbon
    best.allocation = smoothed.allocation
    best.is_sound = True
    around = band.spreads * smoothed.spread / max(float(np.median(best.mu)), 1e-9)
    return best, _width(best, min(band.width, max(band.narrow_width, around)))


def _width(best: Optimum, share: float) -> float:
    """Return the width of a first band [g], from that over the median break price."""
    return max(share * float(np.median(best.mu)), 1e-9)


def ascend(pricer: Pricer, options: Options) -> FloatArray:
    """Return slot prices that are good enough to say which levels can matter, shape (T,)."""
    params = options.parameters(PriceParameters).ascent
    ascent = Ascent(pricer, None, pricer.closed_slot_prices(), remaining=lambda: options.remaining)
    ascent.spend = lambda: options.spend(UNIT_STEPS * pricer.program.size)
    ascent.step(params.iterations, params.first_gap, params.last_gap)
    return ascent.prices


def _best_of(pricer: Pricer, prices: FloatArray) -> Optimum:
    bound, _ = pricer(prices)
    return Optimum(prices, pricer.mu.copy(), bound, info={"pricings": pricer.evaluations})


def _tell_interior(tell: Tell, best: Optimum, program: FluidProgram, allocation: Allocation) -> None:
    """Tell of an allocation with many fractions if it is better than what is known."""
    interior = replace(best)
    if _take(interior, program, allocation) and interior.is_sound:
        tell(interior)


def _take(best: Optimum, program: FluidProgram, allocation: Allocation) -> bool:
    """Take an allocation if none that is sound is better, and return whether it was taken."""
    sound = repaired(program, allocation)
    allocation = allocation if sound is None else sound
    carbon = program.carbon_of(allocation)
    if best.is_sound and (sound is None or carbon > best.carbon):
        return False
    best.carbon = carbon
    best.allocation = allocation
    best.is_sound = sound is not None
    return True


def least_shortage(program: FluidProgram, options: Options) -> Optimum:
    """Return prices that prove how much work cannot be done at least: bound 0 if all of it can.

    The program is charged 1 for each slot of work that is not done, and nothing else: a positive
    Lagrangian bound proves that no schedule exists, fluid or integer. A carbon of 0 says that one
    exists for the fluid model.
    """
    free = program.without_carbon()
    pricer = Pricer(free, shortage_price=1.0)
    start = ascend(pricer, options)
    bound, _ = pricer(start)
    best = Optimum(start, pricer.mu.copy(), bound)
    width = 0.5
    least = SHORT * float(program.length.sum())
    for _ in range(options.parameters(PriceParameters).band.rounds):
        if options.remaining <= 0:
            break
        band = free.band(best.prices, best.mu, width)
        interior = InteriorPoint(free, band, best.prices, best.mu, 1.0, SHORTAGE_SCALE)
        point = interior.solve(INTERIOR_TOLERANCE, options)
        _raise_bound(best, pricer, point)
        short = float(point.shortage.sum())
        best.carbon = min(best.carbon, short) if point.converged else best.carbon
        if best.carbon <= least or short - best.bound <= 1e-3 * short:
            break
        width *= 2
    best.carbon = 0.0 if best.carbon <= least else best.carbon
    best.bound = best.bound if best.bound > least else 0.0
    return best


def _raise_bound(best: Optimum, pricer: Pricer, point: Point) -> None:
    prices = np.maximum(point.prices, pricer.closed_slot_prices())
    bound, _ = pricer(prices)
    if bound > best.bound:
        best.bound = bound
        best.prices = prices
        best.mu = pricer.mu.copy()


def _gap(carbon: float, bound: float) -> float:
    return (carbon - bound) / max(abs(carbon), 1e-9) if np.isfinite(carbon) else np.inf


def _carbon(program: FluidProgram, band: Band, point: Point) -> float:
    pair = np.repeat(np.arange(len(band.slot)), np.diff(band.first_column))
    profile = program.profile[program.job_of_pair(band)[pair]]
    return float((program.levels.carbon[profile, band.slot[pair], band.level] * point.share).sum())
