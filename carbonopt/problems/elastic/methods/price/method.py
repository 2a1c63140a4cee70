"""Method `price`: slot prices, exact for the fluid model, to a small proven gap for the integer one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import Kernel, loops
from carbonopt.core.errors import TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.methods.greedy import first_schedule
from carbonopt.problems.elastic.methods.milp import best_schedule, milp
from carbonopt.problems.elastic.methods.price.fluid.method import (
    FLUID_COMPILE_SECONDS,
    FLUID_KERNELS,
    fluid_optimum,
    fluid_price,
    fluid_steps,
)
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters
from carbonopt.problems.elastic.methods.price.plans.method import (
    PLAN_COMPILE_SECONDS,
    PLAN_KERNELS,
    integer_price,
    plan_steps,
)

CHECK_SECONDS = 5e-6
"""What the check of a certificate of plans takes for a unit in a slot [s] (measured: 1,000 jobs, 2.5 to 3.5 s)."""


def price(instance: ElasticInstance, options: Options) -> Outcome:
    """Solve by slot prices: exact for the fluid model, to a small proven gap for the integer one.

    Where the loops are not compiled yet and the time limit is too short for that, HiGHS takes the time.
    """
    params = options.parameters(PriceParameters)
    steps = fluid_steps(instance)
    seconds = FLUID_COMPILE_SECONDS
    solve = fluid_price
    kernels: tuple[Kernel[..., Any], ...] = FLUID_KERNELS
    if instance.model == "integer":
        steps += plan_steps(instance, params.balance)
        seconds += PLAN_COMPILE_SECONDS
        solve = _integer_price
        kernels += PLAN_KERNELS
    with loops(steps, kernels, seconds, remaining=options.seconds_left, problem="elastic") as ready:
        if ready:
            return solve(instance, options)
    return without_loops(instance, options)


def _units(instance: ElasticInstance) -> float:
    """Return the units of all jobs in all slots of their windows."""
    units = np.array([len(profile) for profile in instance.profiles])[instance.profile_of_job]
    return float((units * (instance.jobs.window_end - instance.jobs.arrival)).sum())


def _integer_price(instance: ElasticInstance, options: Options) -> Outcome:
    """Take the fluid optimum's prices to plans; its bound holds where the plans' is not better yet."""
    options = options.keeping_back(CHECK_SECONDS * _units(instance))
    first = first_schedule(instance, options)
    found = fluid_optimum(instance, options, primal=False)
    if found.status is Status.INFEASIBLE:
        return Outcome(Status.INFEASIBLE, certificate=found.certificate(), info=found.info)
    outcome = integer_price(instance, replace(options, start=first), found.prices)
    known = outcome.bound is not None and outcome.bound >= found.bound
    if outcome.status is not Status.INFEASIBLE and not known:  # stopped before the plans' bound was any better
        return replace(outcome, bound=found.bound, certificate=found.certificate())
    return outcome


def without_loops(instance: ElasticInstance, options: Options) -> Outcome:
    """Give the time that is left to HiGHS, and return the better of its schedule and the greedy's, and its bound."""
    first = first_schedule(instance, options)
    try:
        found = milp(instance, replace(options, start=first))
    except TooLargeError:
        return Outcome(Status.TIME_LIMIT, first)
    if found.status is Status.INFEASIBLE:
        return found
    schedule = best_schedule(instance, found.schedule, first)
    status = Status.TIME_LIMIT if found.schedule is None else found.status
    return replace(found, schedule=schedule, status=status)
