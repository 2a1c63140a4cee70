"""Whether a purchasing instance has a schedule, and what about it looks like a mistake.

On-demand CPUs are there for every job at any time, so only limits can leave no schedule: each alone is compared with
the least that it could be, all together with the LP relaxation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.report import Diagnosis, Finding
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import Limits, PurchasingInstance, Weights
from carbonopt.problems.purchasing.formulation.program import estimate_size
from carbonopt.problems.purchasing.methods.milp import lp, milp
from carbonopt.problems.purchasing.methods.no_wait import no_wait
from carbonopt.problems.purchasing.verify.accounts import load_of

UNITS = {"carbon_kg": "kg CO2eq", "cost_usd": "$", "mean_wait_hours": "h of mean wait"}
FAR_APART = 1e6
"""Ratio of two terms of the objective above which the smaller one decides nothing."""


def diagnose(instance: PurchasingInstance, options: Options) -> Diagnosis:
    """Look for a schedule within the limits, and for a proof that there is none."""
    if not instance.limits:
        return Diagnosis(True, "every job can run at its arrival on demand")
    if no_wait(instance, options).schedule is not None:
        return Diagnosis(True, "a schedule without waiting is within the limits")
    alone = tuple(_limits_alone(instance, options))
    if alone:
        return Diagnosis(False, "a limit is below the least that any schedule can have", alone)
    if lp(instance, options).status is Status.INFEASIBLE:
        return Diagnosis(
            False, "HiGHS: the LP relaxation has no point within all limits together", (_together(instance),)
        )
    outcome = milp(instance, options)
    if outcome.schedule is not None:
        return Diagnosis(True, "a schedule within the limits")
    if outcome.status is Status.INFEASIBLE:
        return Diagnosis(False, "HiGHS's search tree: the program over slots has no point", (_together(instance),))
    if options.remaining <= 0:
        left = "the time ran out"
    else:
        left = "the program over slots has a point, no schedule was found"
    return Diagnosis(None, left)


def inspect(instance: PurchasingInstance) -> dict[str, Any]:
    """Return the size of the program, and a warning for all that looks like a mistake."""
    columns, nonzeros = estimate_size(instance)
    return {"program_columns": columns, "program_nonzeros": nonzeros, "warnings": list(_warnings(instance))}


def _limits_alone(instance: PurchasingInstance, options: Options) -> Iterator[Finding]:
    """Yield each limit that is below a proven bound on its quantity."""
    weights = {"carbon_kg": Weights(1, 0, 0), "cost_usd": Weights(0, 1, 0)}
    for name, limit in vars(instance.limits).items():
        if limit is None or name not in weights:  # without waiting no job waits
            continue
        bound = lp(instance.with_objective(weights[name], Limits()), options).bound
        if bound is None:
            continue
        least = bound + (instance.prepaid_usd(instance.reserved_cpus or 0) if name == "cost_usd" else 0.0)
        if least > limit * (1 + 1e-7):
            text = f"the limit of {limit:g} {UNITS[name]} cannot be kept: any schedule has at least {least:.6g}"
            yield Finding(text, resource=name, needed=least, available=limit)


def _together(instance: PurchasingInstance) -> Finding:
    told = [f"{limit:g} {UNITS[name]}" for name, limit in vars(instance.limits).items() if limit is not None]
    if len(told) == 1:
        return Finding(f"the limit of {told[0]} cannot be kept")
    return Finding(f"the limits of {' and '.join(told)} cannot be kept together")


def _warnings(instance: PurchasingInstance) -> Iterator[str]:
    jobs = instance.jobs
    weights = instance.weights
    reserved = instance.reserved_cpus
    moment = np.concatenate([jobs.arrival_hours, instance.latest_end_hours])
    _, load = load_of(jobs.arrival_hours, instance.latest_end_hours, jobs.cpus)
    most = float(load.max(initial=0.0))
    if reserved is not None and reserved > most:
        yield f"{reserved} CPUs are reserved, the jobs can never use more than {most:g} of them together"
    if reserved and len(jobs) and reserved < jobs.cpus.min() and instance.model == "no-split":
        yield f"{reserved} CPUs are reserved, the smallest job needs {jobs.cpus.min():g} and may not split"
    if not any(vars(weights).values()):
        yield "all weights of the objective are 0: every schedule is optimal"
    if len(jobs) and not instance.max_wait_hours.any():
        yield "no job may wait: only options are to be decided"
    if instance.spot is not None and len(jobs) and not instance.spot_allowed.any():
        yield f"spot CPUs take jobs of up to {instance.spot.max_length_hours:g} h: all jobs are longer"
    if moment.size and moment.max() < instance.time.hours / 2 and reserved:
        yield f"the last job has ended after {moment.max():g} h; reserved CPUs are paid for {instance.time.hours:g} h"
    yield from _scales(instance)


def _scales(instance: PurchasingInstance) -> Iterator[str]:
    """Yield the terms of the objective that cannot matter beside the others."""
    jobs, weights = instance.jobs, instance.weights
    work = float(jobs.cpus @ jobs.length_hours)
    terms = {
        "carbon_kg": weights.carbon_kg * work * float(instance.kg_per_cpu_hour.mean()),
        "cost_usd": weights.cost_usd * work * instance.prices.on_demand_usd_per_cpu_hour,
        "wait_hours": weights.wait_hours * float(instance.max_wait_hours.sum()),
    }
    largest = max(terms, key=lambda name: terms[name])
    for name, value in terms.items():
        if 0 < value < terms[largest] / FAR_APART:
            yield (
                f"the objective's {name} ({value:.2g} at the most) cannot matter beside its {largest} "
                f"({terms[largest]:.2g}): is weights.{name} in the right unit?"
            )
