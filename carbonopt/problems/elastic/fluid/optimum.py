"""The optimum of a fluid program: an interior point over a band, which grows until the bound meets it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.fluid.ascent import ascend
from carbonopt.problems.elastic.fluid.band import Allocation, Band, FluidProgram
from carbonopt.problems.elastic.fluid.interior import InteriorPoint, Point
from carbonopt.problems.elastic.fluid.pricing import Pricer
from carbonopt.problems.elastic.fluid.purify import Purifier

WIDTH = 0.2
"""Reduced cost up to which a level enters the first band, over the median break price."""
WIDEST_ROUND = 3
"""Round after which a band that lacks work takes every level."""
ASCENT_ITERATIONS = 120
INTERIOR_TOLERANCE = 1e-8
EXACT_GAP = 1e-7
"""Relative gap at which a fluid optimum counts as found."""
EXACT_COLUMNS = 2_000_000
SHORTAGE_FACTOR = 20.0
"""Price of undone work over the largest break price; raised while it is too low to be exact."""
SHORTAGE_SCALE = 0.05
"""Size of the duals where only undone work costs, and 1 a slot of it."""
LARGEST_ROUND = 8
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
    closed: bool = False
    lacking: bool = False
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """Distance of carbon and bound, over carbon."""
        return (self.carbon - self.bound) / max(abs(self.carbon), 1e-9) if np.isfinite(self.carbon) else np.inf


def optimum(
    program: FluidProgram,
    options: Options,
    start: FloatArray | None = None,
    primal: bool = True,
    exact_gap: float = EXACT_GAP,
) -> Optimum:
    """Return the optimum of a fluid program.

    Parameters
    ----------
    program
        N jobs, at least one, and T slots.
    options
        Time limit and gap.
    start
        Slot prices to start from, shape (T,); None: zero.
    primal
        False where prices and bound are all that is needed.
    exact_gap
        Relative gap at which it ends, where the band has up to `EXACT_COLUMNS`.
    """
    pricer = Pricer(program)
    prices = ascend(pricer, ASCENT_ITERATIONS, options, start)
    bound, _ = pricer(prices)
    best = Optimum(prices, pricer.mu.copy(), bound)
    width, factor = WIDTH * max(float(np.median(best.mu)), 1e-9), SHORTAGE_FACTOR
    for number in range(1, LARGEST_ROUND + 1):
        if options.remaining <= 0:
            break
        band = program.band(best.prices, best.mu, width)
        usual = float(best.mu[best.mu < pricer.shortage_price].max(initial=1e-6))
        shortage_price = min(factor * usual, pricer.shortage_price)
        interior = InteriorPoint(program, band, best.prices, best.mu, shortage_price, usual)
        point = interior.solve(INTERIOR_TOLERANCE, options)
        _raise_bound(best, pricer, point)
        best.info = {
            "rounds": number,
            "band_columns": len(band.level),
            "interior_iterations": point.iterations,
            "pricings": pricer.evaluations,
        }
        best.lacking = float(point.shortage.sum()) > LACKING * float(program.length.sum())
        if best.lacking:
            if number == 1 and least_shortage(program, options).bound > 0:
                break
            width, factor = (np.inf if number >= WIDEST_ROUND else 10 * width), 10 * factor
            continue
        best.carbon = _carbon(program, band, point)
        exact = exact_gap if len(band.level) <= EXACT_COLUMNS else options.mip_rel_gap
        best.closed = best.gap <= exact
        if best.closed or number == LARGEST_ROUND:
            if primal:
                share = Purifier(program, band, point.share, point.mu).run(options)
                best.allocation = program.allocation(band, share)
            break
        if primal:
            best.allocation = program.allocation(band, point.share)
        width *= 2
    return best


def least_shortage(program: FluidProgram, options: Options) -> Optimum:
    """Return prices that prove how much work cannot be done at least: bound 0 if all of it can.

    The program is charged 1 for each slot of work that is not done, and nothing else: a positive
    Lagrangian bound proves that no schedule exists, fluid or integer. A carbon of 0 says that one
    exists for the fluid model.
    """
    free = program.without_carbon()
    pricer = Pricer(free, shortage_price=1.0)
    start = ascend(pricer, ASCENT_ITERATIONS, options)
    bound, _ = pricer(start)
    best, width = Optimum(start, pricer.mu.copy(), bound), 0.5
    least = SHORT * float(program.length.sum())
    for _ in range(LARGEST_ROUND):
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
        best.bound, best.prices, best.mu = bound, prices, pricer.mu.copy()


def _carbon(program: FluidProgram, band: Band, point: Point) -> float:
    pair = np.repeat(np.arange(len(band.slot)), np.diff(band.first_column))
    profile = program.profile[program.job_of_pair(band)[pair]]
    return float((program.levels.carbon[profile, band.slot[pair], band.level] * point.share).sum())
