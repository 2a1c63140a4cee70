"""Method `price` for the fluid model: prices by ascent, then an interior point over a band of levels.

1. Subgradient ascent gives slot prices within some 1e-3 of the optimum, and each job's break price. For
   long horizons it is Newton's method on a smoothed bound, within 1e-4, and gives a schedule as well.
2. The levels whose reduced cost is small there make a band; the interior point method solves it.
3. The Lagrangian bound at its slot prices is a bound for the whole program. If it does not close the
   gap, the band was too narrow: it is made wider, around the better prices.
4. The simplex method turns the interior optimum into one with few fractions.

Where the band would be very large, the schedule of the first step is the answer if it is close enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.bounds import lagrangian, shortage
from carbonopt.problems.elastic.methods.greedy import first_schedule
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.kernels import assemble, back_substitute
from carbonopt.problems.elastic.methods.price.fluid.optimum import Optimum, least_shortage, optimum
from carbonopt.problems.elastic.methods.price.fluid.pricing import cover
from carbonopt.problems.elastic.verify.check import check

FLUID_KERNELS = (cover, assemble, back_substitute)
"""Kernels of the fluid model that take long to compile."""
FLUID_COMPILE_SECONDS = 10.0
"""How long numba takes for the loops of the fluid model (measured)."""
STEPS_PER_UNIT = 900.0
"""Rough number of loop steps for each unit in each slot of a window: 300 to price it, the rest in the band."""
STEPS_PER_ENTRY = 20.0
"""Rough number of loop steps for each product in the factorisations over slots."""


def fluid_steps(instance: ElasticInstance) -> float:
    """Return about how many loop steps the fluid optimum takes."""
    jobs = instance.jobs
    width = (jobs.window_end - jobs.arrival).astype(float)
    units = float(width @ instance.units.count[instance.profile_of_job])
    return STEPS_PER_UNIT * units + STEPS_PER_ENTRY * instance.time.slots * float(width.max(initial=0.0)) ** 2


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
    incumbent = first_schedule(instance, options)
    found = fluid_optimum(instance, options)
    if found.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, certificate=found.certificate(), info=found.info)
    schedule, status = found.schedule, found.status
    if schedule is not None and check(instance, schedule).violations:  # rounding that nothing could mend
        schedule = None
        status = Status.UNKNOWN if incumbent is None else Status.FEASIBLE
    schedule = incumbent if schedule is None else schedule
    return Outcome(status, schedule, found.bound, found.certificate(), found.info)


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
    with loops(fluid_steps(instance), FLUID_KERNELS, FLUID_COMPILE_SECONDS):
        return _fluid_optimum(instance, options, primal)


def _fluid_optimum(instance: ElasticInstance, options: Options, primal: bool) -> FluidResult:
    slots = instance.time.slots
    if not len(instance.jobs):
        empty: Schedule = {"job": [], "slot": [], "servers": [], "share": []}
        return FluidResult(Status.OPTIMAL, np.zeros(slots), 0.0, empty, np.zeros(0))
    program = FluidProgram.of(instance)

    def tell(found: Optimum) -> None:
        allocation = found.allocation
        assert allocation is not None
        proof = partial(lagrangian, found.prices, found.mu, found.bound)
        schedule = partial(allocation.schedule, instance)
        options.report(incumbent=found.carbon, bound=found.bound, schedule=schedule, certificate=proof)

    found = optimum(program, options, primal, tell if instance.model == "fluid" else None)
    if found.lacking and found.allocation is None and options.remaining > 0:
        proof = prove_shortage(instance, options)
        if proof.status is Status.INFEASIBLE:
            proof.info |= found.info
            return proof
    options.report(bound=found.bound, certificate=partial(lagrangian, found.prices, found.mu, found.bound))
    if primal and found.allocation is not None:
        schedule = found.allocation.schedule(instance)
    else:
        schedule = None
    return FluidResult(_status(found, options), found.prices, found.bound, schedule, found.mu, info=found.info)


def _status(found: Optimum, options: Options) -> Status:
    if found.closed or found.gap <= options.mip_rel_gap:
        return Status.OPTIMAL
    if options.remaining <= 0:
        return Status.TIME_LIMIT
    return Status.UNKNOWN if found.allocation is None else Status.FEASIBLE


def prove_shortage(instance: ElasticInstance, options: Options) -> FluidResult:
    """Return prices that prove that some work cannot be done, or status ``optimal`` if all of it can."""
    if not len(instance.jobs):
        return FluidResult(Status.OPTIMAL, np.zeros(instance.time.slots), 0.0, work_prices=np.zeros(0))
    with loops(fluid_steps(instance), FLUID_KERNELS, FLUID_COMPILE_SECONDS):
        found = least_shortage(FluidProgram.of(instance), options)
    if found.bound > 0:
        return FluidResult(Status.INFEASIBLE, found.prices, 0.0, None, found.mu, found.prices, found.bound)
    status = Status.OPTIMAL if found.carbon == 0 else Status.UNKNOWN
    return FluidResult(status, found.prices, 0.0, work_prices=found.mu)
