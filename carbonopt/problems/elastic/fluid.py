"""Method `price` for the fluid model: prices by ascent, then an interior point over a band of levels.

1. Subgradient ascent gives slot prices within some 1e-3 of the optimum, and each job's break price.
2. The levels whose reduced cost is small there make a band; the interior point method solves it.
3. The Lagrangian bound at its slot prices is a bound for the whole program. If it does not close the
   gap, the band was too narrow: it is made twice as wide, around the better prices.
4. The simplex method turns the interior optimum into one with few fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.ascent import ascend
from carbonopt.problems.elastic.band import Band, FluidProgram
from carbonopt.problems.elastic.bounds import lagrangian, shortage
from carbonopt.problems.elastic.check import check
from carbonopt.problems.elastic.greedy import allocate
from carbonopt.problems.elastic.instance import ElasticInstance
from carbonopt.problems.elastic.interior import InteriorPoint, Point
from carbonopt.problems.elastic.pricing import Pricer
from carbonopt.problems.elastic.purify import Purifier

WIDTH = 0.2
"""Reduced cost up to which a level enters the first band, over the median break price."""
ASCENT_ITERATIONS = 120
INTERIOR_TOLERANCE = 1e-8
EXACT_GAP = 1e-7
"""Relative gap at which a fluid optimum counts as found, where the band has up to `EXACT_COLUMNS`."""
EXACT_COLUMNS = 2_000_000
SHORTAGE_FACTOR = 20.0
"""Price of undone work over the largest break price; raised while it is too low to be exact."""
LARGEST_ROUND = 8
SHORT = 1e-9
"""Undone work that counts as rounding, over all work."""


@dataclass
class FluidResult:
    """What is known of the fluid optimum.

    Parameters
    ----------
    status
        ``optimal``, ``infeasible`` (proven), ``time_limit``, or ``feasible`` and ``unknown`` where the
        band would not close.
    prices
        Slot prices of the best bound [g per server and slot], shape (T,).
    bound
        Lagrangian bound at these prices [g]: also of the integer model.
    schedule
        Of the fluid model; None if there is none yet.
    work_prices
        Prices of the jobs' work beside them [g per slot of work], shape (N,).
    shortage_prices, shortage
        If infeasible: prices that prove it, and the work that cannot be done at least [slots].
    info
        Sizes and iterations.
    """

    status: Status
    prices: FloatArray
    bound: float
    schedule: Schedule | None = None
    work_prices: FloatArray | None = None
    shortage_prices: FloatArray | None = None
    shortage: float = 0.0
    info: dict[str, Any] = field(default_factory=dict)

    def certificate(self) -> dict[str, Any]:
        """Return what proves bound or infeasibility without a solver."""
        assert self.work_prices is not None
        if self.shortage_prices is not None:
            return shortage(self.shortage_prices, self.work_prices, self.shortage)
        return lagrangian(self.prices, self.work_prices, self.bound)


def fluid_price(instance: ElasticInstance, options: Options) -> Outcome:
    """Solve the fluid model to a certified optimum."""
    first = allocate(instance, "fluid")
    incumbent = first.schedule(instance) if not len(first.unfinished) else None
    if incumbent is not None:
        options.report(objective=check(instance, incumbent).objective, incumbent=lambda: incumbent)
    found = fluid_optimum(instance, options)
    if found.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, certificate=found.certificate(), info=found.info)
    schedule = found.schedule if found.schedule is not None else incumbent
    return Outcome(found.status, schedule, found.bound, found.certificate(), found.info)


def fluid_optimum(instance: ElasticInstance, options: Options, primal: bool = True) -> FluidResult:
    """Return the optimum of the fluid model, or a proof that there is none.

    Parameters
    ----------
    instance
        Of either model.
    options
        Time limit and gap.
    primal
        False where prices and bound are all that is needed.
    """
    pricer = Pricer(instance)
    prices = ascend(pricer, ASCENT_ITERATIONS, options)
    best, _ = pricer(prices)
    result = FluidResult(Status.TIME_LIMIT, prices, best, work_prices=pricer.mu.copy())
    options.report(bound=best)
    if not len(instance.jobs):
        empty: Schedule = {"job": [], "slot": [], "servers": [], "share": []}
        return FluidResult(Status.OPTIMAL, prices, 0.0, empty, pricer.mu)
    program, mu = FluidProgram(instance), pricer.mu.copy()
    width, factor, seen = WIDTH * max(float(np.median(mu)), 1e-9), SHORTAGE_FACTOR, False
    for round_ in range(1, LARGEST_ROUND + 1):
        if options.remaining <= 0:
            break
        band = program.band(result.prices, mu, width)
        typical = mu[mu < pricer.shortage_price]
        shortage_price = min(factor * float(typical.max(initial=1e-6)), pricer.shortage_price)
        point = InteriorPoint(program, band, result.prices, mu, shortage_price).solve(INTERIOR_TOLERANCE, options)
        prices = np.maximum(point.prices, pricer.closed_slot_prices())
        bound, _ = pricer(prices)
        if bound > result.bound:
            result.bound, result.prices, mu = bound, prices, pricer.mu.copy()
            result.work_prices = mu
        options.report(bound=result.bound)
        result.info = {
            "rounds": round_,
            "band_columns": len(band.level),
            "interior_iterations": point.iterations,
            "pricings": pricer.evaluations,
        }
        if point.shortage.sum() > SHORT * instance.jobs.length.sum():
            if not seen:
                seen = True
                proof = least_shortage(instance, options)
                if proof.status is Status.INFEASIBLE:
                    proof.info |= result.info
                    return proof
            width, factor = 2 * width, 10 * factor
            continue
        carbon = float(_carbon(program, band, point))
        gap = (carbon - result.bound) / max(abs(carbon), 1e-9)
        exact = EXACT_GAP if len(band.level) <= EXACT_COLUMNS else options.mip_rel_gap
        if gap <= exact or round_ == LARGEST_ROUND:
            result.status = Status.OPTIMAL if gap <= max(exact, options.mip_rel_gap) else Status.FEASIBLE
            if primal:
                result.schedule = _schedule(program, band, point, options)
            break
        if primal:
            result.schedule = program.schedule(band, point.share)
        width *= 2
    if result.status is Status.TIME_LIMIT and options.remaining > 0:
        result.status = Status.UNKNOWN if result.schedule is None else Status.FEASIBLE
    return result


def least_shortage(instance: ElasticInstance, options: Options) -> FluidResult:
    """Return prices that prove that some work cannot be done, or status ``optimal`` if all of it can.

    Leaves carbon out and charges 1 for each slot of work that is not done: a positive Lagrangian bound
    proves that no schedule exists, fluid or integer.
    """
    pricer = Pricer(instance, shortage_price=1.0, carbon=False)
    start = ascend(pricer, ASCENT_ITERATIONS, options)
    value, _ = pricer(start)
    result = FluidResult(Status.UNKNOWN, start, value)
    program, mu = FluidProgram(instance, carbon=False), pricer.mu.copy()
    width = 0.5
    for _ in range(LARGEST_ROUND):
        if options.remaining <= 0:
            break
        band = program.band(result.prices, mu, width)
        point = InteriorPoint(program, band, result.prices, mu, 1.0).solve(INTERIOR_TOLERANCE, options)
        prices = np.maximum(point.prices, pricer.closed_slot_prices())
        value, _ = pricer(prices)
        if value > result.bound:
            result.bound, result.prices, mu = value, prices, pricer.mu.copy()
        least = float(point.shortage.sum())
        if point.converged and least <= SHORT * float(instance.jobs.length.sum()):
            result.status = Status.OPTIMAL
            return result
        if least - result.bound <= 1e-3 * least:
            break
        width *= 2
    if result.bound > SHORT * float(instance.jobs.length.sum()):
        result.status, result.shortage_prices, result.shortage = Status.INFEASIBLE, result.prices, result.bound
        result.work_prices = mu
    return result


def _carbon(program: FluidProgram, band: Band, point: Point) -> float:
    pair = np.repeat(np.arange(len(band.slot)), np.diff(band.first_column))
    job = program.job_of_pair(band)[pair]
    profile = program.instance.profile_of_job[job]
    return float((program.levels.carbon[profile, band.slot[pair], band.level] * point.share).sum())


def _schedule(program: FluidProgram, band: Band, point: Point, options: Options) -> Schedule:
    share = Purifier(program, band, point.share, point.mu).run(options)
    return program.schedule(band, share)
