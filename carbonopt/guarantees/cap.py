"""Capacity that follows carbon: new tasks start only while fewer machines are busy than a quota allows.

A cluster has K machines. The quota is B, `least`, where the intensity is U, and K where it is L. In between, the
thresholds of k-min search with k = K - B say how many more machines a lower intensity is worth.

References
----------
Lechowicz, Shenoy, Bashir, Hajiesmaili, Wierman, Delimitrou (2025), "Carbon- and Precedence-Aware Scheduling for Data
Processing Clusters", arXiv:2502.09717, section 4.2: `thresholds` and `quota`. The ratio of `proven_ratio` is derived
on the page *Online rules with a guarantee*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.guarantees.bounds import check_bounds
from carbonopt.guarantees.opr import balanced_thresholds


def thresholds(low: float, high: float, machines: int, least: int) -> FloatArray:
    """Return the intensities at or below which machine B + 1, ..., K may start tasks, shape (K - B,), in g/kWh.

    Parameters
    ----------
    low, high
        Bounds on the carbon intensity, in g/kWh.
    machines
        K.
    least
        B, from 1 to K: machines that may always be busy.
    """
    check_bounds(low, high, machines)
    _check_machines(machines, least, "least")
    if least == machines:
        return np.zeros(0)
    return balanced_thresholds(low, high, machines - least)


def quota(intensity: FloatArray, limits: FloatArray, least: int) -> IntArray:
    """Return how many machines may be busy at each intensity: B, and one for each threshold that it does not exceed.

    Parameters
    ----------
    intensity
        Any shape, in g/kWh.
    limits
        From `thresholds`.
    least
        B.
    """
    # the thresholds fall: those not below an intensity come first
    return np.asarray(least + len(limits) - np.searchsorted(limits[::-1], intensity, side="left"))


def proven_ratio(machines: int, fewest: int) -> float:
    """Return K/M + 1 - 1/M: the makespan is at most so many times that of the optimum on K machines.

    Parameters
    ----------
    machines
        K.
    fewest
        M: the least quota until the last task ends; `least` is one that holds for all signals.
    """
    _check_machines(machines, fewest, "fewest")
    return machines / fewest + 1 - 1 / fewest


def published_stretch(machines: int, fewest: int) -> float:
    """Return the carbon stretch factor (K/M)^2 (2M - 1) / (2K - 1) of theorem 4.5 of Lechowicz et al.

    It is (K/M) (2 - 1/M), which is at least `proven_ratio`, over Graham's 2 - 1/K of a schedule without a quota.
    """
    _check_machines(machines, fewest, "fewest")
    return (machines / fewest) ** 2 * (2 * fewest - 1) / (2 * machines - 1)


def run(quotas: IntArray, duration: IntArray, before: Sequence[Sequence[int]]) -> IntArray:
    """Return the slot in which each task starts, shape (N,).

    In each slot, tasks that may start do so in the order of their numbers, while fewer machines are busy than the
    quota allows. A task that has started runs to its end.

    Parameters
    ----------
    quotas
        Shape (T,): machines that may be busy in each slot. The last one holds for all later slots.
    duration
        Shape (N,), in slots, at least 1.
    before
        Of each task, the numbers of the tasks that must have ended when it starts.

    Raises
    ------
    InputError
        Where a duration or a quota is below 1, `before` names no task, or tasks wait for each other.
    """
    for field, values in (("duration", duration), ("quotas", quotas)):
        if not len(values) or values.min() < 1:
            raise InputError(Fault(field, "must be numbers of at least 1"))
    _check_before(before, len(duration))
    start = np.full(len(duration), -1, dtype=np.int64)
    end = np.zeros(len(duration), dtype=np.int64)
    slot = 0
    while (start < 0).any():
        begun = start >= 0
        busy = int((begun & (end > slot)).sum())
        ready = [i for i in np.flatnonzero(~begun) if all(begun[j] and end[j] <= slot for j in before[int(i)])]
        if not busy and not ready:
            raise InputError(Fault("before", "tasks wait for each other", row=int(np.argmin(begun))))
        allowed = int(quotas[min(slot, len(quotas) - 1)])
        for task in ready[: max(0, allowed - busy)]:
            start[task] = slot
            end[task] = slot + duration[task]
        slot += 1
    return start


def _check_before(before: Sequence[Sequence[int]], tasks: int) -> None:
    if len(before) != tasks:
        raise InputError(Fault("before", f"must have an entry for each of {tasks} tasks", f"{len(before)} entries"))
    for task, earlier in enumerate(before):
        wrong = [other for other in earlier if not 0 <= other < tasks]
        if wrong:
            raise InputError(Fault("before", f"must be from 0 to {tasks - 1}", str(wrong[0]), task))


def _check_machines(machines: int, few: int, field: str) -> None:
    if not 1 <= few <= machines:
        raise InputError(Fault(field, f"must be from 1 to {machines} machines", str(few)))
