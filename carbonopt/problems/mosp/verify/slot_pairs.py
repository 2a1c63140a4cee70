"""Cliques over two slots of a certificate: what the weights of starts add up to, at most.

A job may be named several times, with different starts. An entry counts in a slot only if all of its runs use it. A
schedule has at most one start of a job, so at most one of its entries.

Demands are counted in whole units of a given size, rounded down, and so is what there is. Demands that fit together
still do in these units: a sum of numbers that are rounded down is at most their sum rounded down. So the largest weight
of entries that fit in units is a limit for all schedules. A table over the units of both slots tells it. All of this is
done in whole numbers and fractions, without a rounding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import floor
from sys import float_info
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.instance import MospInstance

MOST_STATES = 70_000
"""Of the table: pairs of units of both slots."""


class Slots(NamedTuple):
    """The slot and the next one, the resource (its row), and the size of a unit of it."""

    slot: int
    resource: int
    unit: float


class Entry(NamedTuple):
    """Starts of a job (its row) from `first` to `last`, and the weight of each."""

    job: int
    first: int
    last: int
    weight: int


def slots_of(instance: MospInstance, entry: dict[str, Any], field: str) -> Slots | None:
    """Return the slots of a clique of a certificate; None where it names none.

    Raises
    ------
    InputError
        If it names some, but not as it should.
    """
    if not {"slot", "resource", "unit"} & set(entry):
        return None
    slot: Any = entry.get("slot")
    resource: Any = entry.get("resource")
    unit: Any = entry.get("unit")
    if type(slot) is not int or not 0 <= slot < instance.time.slots - 1:
        words = f"must be a whole number below {instance.time.slots - 1}"
        raise InputError(Fault(f"{field}.slot", words, shown(slot)))
    resources = instance.jobs.demand.shape[1]
    if type(resource) is not int or not 0 <= resource < resources:
        raise InputError(Fault(f"{field}.resource", f"must be a whole number below {resources}", shown(resource)))
    if type(unit) not in (int, float) or not 0 < unit < np.inf:
        raise InputError(Fault(f"{field}.unit", "must be a number above 0", shown(unit)))
    return Slots(slot, resource, unit)


def most_weight(instance: MospInstance, slots: Slots, limit: FloatArray, entries: Sequence[Entry], field: str) -> int:
    """Return what the weights of starts in a schedule add up to, at most.

    Parameters
    ----------
    instance
        The instance.
    slots
        Which.
    limit
        What there is in the two slots, at most, shape (2,).
    entries
        Starts of jobs.
    field
        Name of the clique, for the message.

    Raises
    ------
    InputError
        If a start of a job is in two entries, or the units are so small that the table would be too large.
    """
    if any(a.job == b.job and b.first <= a.last for a, b in pairwise(sorted(entries))):
        raise InputError(Fault(field, "must hold each start of a job once"))
    unit = Fraction(slots.unit)
    first, second = (floor(Fraction(min(float(there), float_info.max)) / unit) for there in limit)
    if (first + 1) * (second + 1) > MOST_STATES or not np.isfinite(limit).all():
        words = f"must be so large that the units in both slots make at most {MOST_STATES} pairs"
        raise InputError(Fault(f"{field}.unit", words, shown(slots.unit)))
    table = np.zeros((first + 1, second + 1), dtype=np.int64)  # the most by what is there
    by_job: dict[int, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_job[entry.job].append(entry)
    for job, own in by_job.items():
        demand = floor(Fraction(float(instance.jobs.demand[job, slots.resource])) / unit)
        before = table.copy()
        for entry in own:
            a, b = (
                demand if entry.last <= slot < entry.first + int(instance.jobs.duration[job]) else 0
                for slot in (slots.slot, slots.slot + 1)
            )
            if a <= first and b <= second:
                part = table[a:, b:]
                np.maximum(part, before[: first + 1 - a, : second + 1 - b] + entry.weight, out=part)
    return int(table[first, second])
