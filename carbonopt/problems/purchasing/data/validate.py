"""What makes purchasing data wrong, told by field and row. Each check needs only the parts it is given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.errors import Fault, one_of, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.validate import Axes, outside, wrong_shapes

if TYPE_CHECKING:
    from carbonopt.problems.purchasing.data.instance import (
        Limits,
        Prices,
        PurchasingInstance,
        PurchasingJobs,
        Queue,
        Spot,
        Weights,
    )

JOB_AXES: Axes = {"arrival_hours": ("job",), "length_hours": ("job",), "cpus": ("job",)}
AT_LEAST_ZERO = "must be finite and at least 0"
ABOVE_ZERO = "must be finite and above 0"
MODELS = ("splitting", "no-split", "suspend-resume")


def price_faults(prices: Prices) -> list[Fault]:
    """Return what is wrong with the prices."""
    return list(_below_zero("prices", vars(prices)))


def weight_faults(weights: Weights) -> list[Fault]:
    """Return what is wrong with the weights of the objective."""
    return list(_below_zero("objective.weights", vars(weights)))


def limit_faults(limits: Limits) -> list[Fault]:
    """Return what is wrong with the limits."""
    return list(
        _below_zero("objective.limits", {key: value for key, value in vars(limits).items() if value is not None})
    )


def spot_faults(spot: Spot) -> list[Fault]:
    """Return what is wrong with the terms of spot CPUs."""
    return list(_below_zero("spot", vars(spot)))


def queue_faults(queue: Queue) -> list[Fault]:
    """Return what is wrong with one queue."""
    place = f"queues.{queue.name}"
    faults = list(_below_zero(place, {"max_wait_hours": queue.max_wait_hours}))
    if not queue.max_length_hours > 0:
        faults.append(Fault(f"{place}.max_length_hours", "must be above 0", shown(queue.max_length_hours)))
    return faults


def order_faults(queues: tuple[Queue, ...]) -> Iterator[Fault]:
    """Yield what is wrong with the queues together: longer from one to the next, the last one unlimited."""
    if not queues:
        yield Fault("queues", "must hold at least one queue", "{}")
        return
    yield from duplicate_faults("queues", tuple(queue.name for queue in queues))
    for before, queue in pairwise(queues):
        if not queue.max_length_hours > before.max_length_hours:
            words = f"must be longer than that of {before.name!r}, {shown(before.max_length_hours)}"
            yield Fault(f"queues.{queue.name}.max_length_hours", words, shown(queue.max_length_hours))
    last = queues[-1]
    if np.isfinite(last.max_length_hours):
        words = "must be null: the last queue takes jobs of any length"
        yield Fault(f"queues.{last.name}.max_length_hours", words, shown(last.max_length_hours))


def job_faults(jobs: PurchasingJobs) -> list[Fault]:
    """Return what is wrong with the job table alone."""
    faults = list(wrong_shapes("jobs", jobs, JOB_AXES))
    if faults:
        return faults
    faults = [*jobs.length_faults(), *duplicate_faults("jobs.name", jobs.name)]
    for column, least in (("arrival_hours", 0.0), ("length_hours", None), ("cpus", None)):
        values = getattr(jobs, column)
        good = np.isfinite(values) & ((values >= 0) if least is not None else (values > 0))
        faults += outside(f"jobs.{column}", values, ~good, AT_LEAST_ZERO if least is not None else ABOVE_ZERO)
    return faults


def scalar_faults(reserved_cpus: float | None, watts_per_cpu: float, model: str) -> Iterator[Fault]:
    """Yield what is wrong with the fields that are one value each."""
    if reserved_cpus is not None and not (0 <= reserved_cpus < 2**53 and reserved_cpus == int(reserved_cpus)):
        words = "must be a whole number of CPUs, at least 0, or null where it is to be decided"
        yield Fault("reserved_cpus", words, shown(reserved_cpus))
    if not 0 <= watts_per_cpu < np.inf:
        yield Fault("watts_per_cpu", AT_LEAST_ZERO, shown(watts_per_cpu))
    if model not in MODELS:
        yield Fault("model", f"must be {one_of(MODELS)}", shown(model))


def instance_faults(instance: PurchasingInstance) -> list[Fault]:
    """Return what is wrong with the single values, and what does not fit together."""
    faults = [
        *scalar_faults(instance.reserved_cpus, instance.watts_per_cpu, instance.model),
        *order_faults(instance.queues),
        *zone_faults(instance.zone, instance.carbon.zones),
    ]
    return faults or list(window_faults(instance))


def zone_faults(zone: str | None, zones: tuple[str, ...]) -> Iterator[Fault]:
    """Yield what is wrong with the zone."""
    if zone is None and len(zones) > 1:
        yield Fault("zone", f"is missing: the signal has {one_of(zones)}")
    elif zone is not None and zone not in zones:
        yield Fault("zone", f"is unknown: carbon.zones has {one_of(zones)}", shown(zone))


def window_faults(instance: PurchasingInstance) -> Iterator[Fault]:
    """Yield each job that may still run when the signal has ended.

    A job that may be evicted runs, in the worst case, nearly twice its length.
    """
    jobs = instance.jobs
    hours = instance.time.hours
    end = instance.latest_end_hours
    spot = instance.spot
    if spot is not None and spot.evictions_per_hour > 0:
        end = end + np.where(instance.spot_allowed, jobs.length_hours, 0.0)
    for row in np.flatnonzero(end > hours + 1e-9 * max(1.0, hours)):
        words = (
            f"is too long for job {jobs.name[row]!r}: it may end {end[row]:g} h after the beginning, "
            f"the signal ends after {hours:g} h"
        )
        yield Fault("jobs.length_hours", words, shown(float(jobs.length_hours[row])), int(row))


def _below_zero(place: str, values: dict[str, Any]) -> Iterator[Fault]:
    for key, value in values.items():
        if not 0 <= value < np.inf:
            yield Fault(f"{place}.{key}", AT_LEAST_ZERO, shown(value))
