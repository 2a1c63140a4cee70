"""When each job runs under the threshold rules of `carbonopt.guarantees`: it sees the present intensity alone.

On-demand CPUs have no end, so each job may run in any slot, and the theorems hold for it. They need arrivals, lengths
and waiting limits in whole slots. Else a slot of the signal has the threshold of the slot of work in which it begins.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.guarantees.opr import balanced_thresholds
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.online.rule import PurchaseRule
from carbonopt.problems.purchasing.online.suspension import ROUNDING, Pieces, joined, pieces, values, windows
from carbonopt.simulation import StepSignal


def paused(instance: PurchasingInstance, rule: PurchaseRule) -> Pieces:
    """Return when each job runs: at or below the threshold of its slot of work, and at the end in any case."""
    signal = StepSignal(instance.intensity, instance.time.slot_hours)
    low, high = bounds_of(instance, rule)
    table, row = _thresholds(_planned_slots(instance, rule), low, high, rule.switch)
    found = []
    wait = instance.max_wait_hours
    for rows, slots, left, right in windows(signal, instance.jobs.arrival_hours, instance.latest_end_hours):
        work = instance.jobs.length_hours[rows]
        limits = table[row[rows]]
        begin, end = _runs(values(signal, slots), left, right, work, wait[rows], limits, 2 * rule.switch, signal.step)
        found.append(pieces(rows, begin, end))
    return joined(found)


def bounds_of(instance: PurchasingInstance, rule: PurchaseRule) -> tuple[float, float]:
    """Return the bounds on the intensity: those of the rule, else the least above 0 and the largest of the signal."""
    signal = instance.intensity
    least = float(signal[signal > 0].min(initial=np.inf))
    low = rule.low if rule.low is not None else least
    high = rule.high if rule.high is not None else float(signal.max(initial=0.0))
    if low > high and rule.low is None:
        low = high
    return low, high


def _planned_slots(instance: PurchasingInstance, rule: PurchaseRule) -> IntArray:
    """Return the slots of work for which each job's thresholds are made, shape (N,)."""
    length = instance.jobs.length_hours
    if rule.start == "unknown-length":
        limits = np.array([queue.max_length_hours for queue in instance.queues])[instance.queue_of_job]
        length = np.where(np.isfinite(limits), limits, length.max(initial=0.0))
    return np.maximum(1, np.ceil(length / instance.time.slot_hours - ROUNDING).astype(np.int64))


def _thresholds(slots: IntArray, low: float, high: float, switch: float) -> tuple[FloatArray, IntArray]:
    """Return a row of thresholds for each number of slots, and each job's row."""
    sizes, row = np.unique(slots, return_inverse=True)
    table = np.full((len(sizes), int(sizes.max(initial=1))), high)
    # where two switches cost more than any intensity saves, a job never pauses
    if low > 0 and 2 * switch < high - low:
        for number, size in enumerate(sizes.tolist()):
            table[number, :size] = balanced_thresholds(low, high, size, switch)
    return table, row


def _runs(
    value: FloatArray,
    left: FloatArray,
    right: FloatArray,
    work: FloatArray,
    wait: FloatArray,
    limits: FloatArray,
    ease: float,
    step: float,
) -> tuple[FloatArray, FloatArray]:
    """Return when each job's run of each slot begins and ends, shapes (n, slots): in the order of time."""
    begin = left.copy()
    end = left.copy()
    done = np.zeros(len(work))
    idle = np.zeros(len(work))
    went = np.zeros(len(work), dtype=np.bool_)
    for slot in range(value.shape[1]):
        at = np.minimum((done / step + ROUNDING).astype(np.int64), limits.shape[1] - 1)
        limit = limits[np.arange(len(work)), at] + np.where(went, ease, 0.0)
        hours = right[:, slot] - left[:, slot]
        pause = np.where(value[:, slot] <= limit, 0.0, np.clip(wait - idle, 0.0, hours))
        used = np.clip(work - done, 0.0, hours - pause)
        begin[:, slot] = left[:, slot] + pause
        end[:, slot] = begin[:, slot] + used
        done += used
        idle += pause
        went = used > ROUNDING
    return begin, end
