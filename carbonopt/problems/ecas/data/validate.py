"""What must hold between the parts of an ecas instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from carbonopt.core.arrays import BoolArray, IntArray
from carbonopt.core.errors import Fault, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.ranges import LARGEST_NUMBER, LARGEST_WHOLE
from carbonopt.core.validate import outside

if TYPE_CHECKING:
    from carbonopt.problems.ecas.data.instance import EcasInstance, EcasJobs, Machines, Weights

WHOLE = f"must be from 0 to {LARGEST_WHOLE}"
"""What units must be: a larger number is not exact in double precision."""


def faults(instance: EcasInstance) -> Iterator[Fault]:
    """Yield everything that is wrong with an instance."""
    slots = instance.time.slots
    resources = len(instance.resources)
    if instance.price_per_kwh.shape != (slots,):
        yield Fault("price_per_kwh", f"must have {slots} prices, one a slot", f"shape {instance.price_per_kwh.shape}")
    yield from _sizes("price_per_kwh", instance.price_per_kwh, least=-LARGEST_NUMBER)
    if len(instance.carbon.zones) > 1:
        yield Fault("carbon.zones", "must name at most one zone", f"{len(instance.carbon.zones)} zones")
    yield from duplicate_faults("resources", instance.resources)
    yield from _weight_faults(instance.weights, bool(instance.carbon.zones))
    yield from _machine_faults(instance.machines, resources)
    yield from _job_faults(instance.jobs, resources, slots)
    available, fixed = instance.machines.available, instance.jobs.machine
    count = len(instance.machines)
    if available is not None and available.shape != (count, slots):
        yield Fault("machines.available", f"must be {count} machines x {slots} slots", f"shape {available.shape}")
    if fixed is not None:
        words = f"must be a machine, 0 to {count - 1}, or -1 for any"
        yield from outside("jobs.machine", fixed, (fixed < -1) | (fixed >= count), words)


def _weight_faults(weights: Weights, has_carbon: bool) -> Iterator[Fault]:
    for name in ("cost", "carbon_kg"):
        value = getattr(weights, name)
        if not 0 <= value <= LARGEST_NUMBER:
            yield Fault(f"objective.weights.{name}", f"must be a number from 0 to {LARGEST_NUMBER:g}", shown(value))
    if weights.carbon_kg and not has_carbon:
        yield Fault("objective.weights.carbon_kg", "needs a zone in carbon.zones", shown(weights.carbon_kg))


def _machine_faults(machines: Machines, resources: int) -> Iterator[Fault]:
    yield from duplicate_faults("machines.name", machines.name)
    shape = (len(machines), resources)
    if machines.capacity.shape != shape:
        yield Fault("machines.capacity", f"must be {shape[0]} machines x {shape[1]} resources")
    yield from outside("machines.capacity", machines.capacity, _beyond(machines.capacity), WHOLE)
    for name in ("idle_kw", "up_cost", "down_cost"):
        column = getattr(machines, name)
        if column.shape != shape[:1]:
            yield Fault(f"machines.{name}", f"must have one entry for each of the {shape[0]} machines")
        yield from _sizes(f"machines.{name}", column)


def _job_faults(jobs: EcasJobs, resources: int, slots: int) -> Iterator[Fault]:
    yield from duplicate_faults("jobs.name", jobs.name)
    lengths = jobs.length_faults()
    yield from lengths
    if lengths:
        return
    if jobs.use.shape != (len(jobs), resources):
        yield Fault("jobs.use", f"must be {len(jobs)} jobs x {resources} resources")
    yield from outside("jobs.use", jobs.use, _beyond(jobs.use), WHOLE)
    yield from outside("jobs.arrival", jobs.arrival, jobs.arrival < 0, "must be at least 0")
    yield from outside("jobs.duration", jobs.duration, jobs.duration < 1, "must be at least 1 slot")
    words = f"must be at most {slots}, the number of slots"
    yield from outside("jobs.deadline", jobs.deadline, jobs.deadline > slots, words)
    short = jobs.arrival + jobs.duration > jobs.deadline
    yield from outside("jobs.deadline", jobs.deadline, short, "must be at least arrival + duration")
    yield from _sizes("jobs.power_kw", jobs.power_kw)


def _sizes(field: str, values: np.ndarray, least: float = 0.0) -> Iterator[Fault]:
    """Yield the numbers that are not finite, or too large to compute with, or below `least`."""
    bad = ~((values >= least) & (values <= LARGEST_NUMBER))
    yield from outside(field, values, bad, f"must be a number from {least:g} to {LARGEST_NUMBER:g}")


def _beyond(values: IntArray) -> BoolArray:
    """Return where units are not as `WHOLE` says."""
    return np.asarray((values < 0) | (values > LARGEST_WHOLE))
