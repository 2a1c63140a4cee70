"""What each policy decides, in mode ``paper``: from the forecast at each job's arrival."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.online import start_rules, suspension
from carbonopt.problems.purchasing.online.pausing import paused
from carbonopt.problems.purchasing.online.policies import Conserving, InPieces, Planned
from carbonopt.problems.purchasing.online.rule import PAUSING, PurchaseRule
from carbonopt.simulation import Forecast, StepSignal


def paper_policy(instance: PurchasingInstance, rule: PurchaseRule, forecast: Forecast, expected: FloatArray) -> Planned:
    """Return a policy with its decisions made: each depends on what is known at the job's arrival alone.

    Parameters
    ----------
    instance, rule, forecast
        What it decides for, how, and knowing what of the signal.
    expected
        What is known of the lengths [h], shape (N,).
    """
    spot = instance.spot_allowed if rule.spot else np.zeros(len(instance.jobs), dtype=np.bool_)
    if rule.start == "wait-awhile":
        return InPieces(_wait_awhile(instance, forecast), spot)
    if rule.start in PAUSING:
        return InPieces(paused(instance, rule), spot)
    if rule.start == "ecovisor":
        return InPieces(_ecovisor(instance, rule, forecast), spot)
    chosen = _start_times(instance, rule.start, forecast, expected)
    waits: BoolArray = chosen > instance.jobs.arrival_hours
    conserving = rule.conserving and bool(instance.reserved_cpus) and bool(waits.any())
    return Conserving(chosen, spot) if conserving else Planned(chosen, spot, rule.conserving)


def expected_lengths(instance: PurchasingInstance, lengths: str) -> FloatArray:
    """Return what is known of the lengths [h], shape (N,): themselves, or the mean of each job's queue.

    The mean is that of the instance's own jobs, as in the authors' simulator: it stands for a history.
    """
    jobs, queue = instance.jobs, instance.queue_of_job
    if lengths == "true" or not len(jobs):
        return jobs.length_hours
    count = np.maximum(1, np.bincount(queue, minlength=len(instance.queues)))
    return np.asarray((np.bincount(queue, jobs.length_hours, len(instance.queues)) / count)[queue])


def _start_times(instance: PurchasingInstance, rule: str, forecast: Forecast, expected: FloatArray) -> FloatArray:
    arrival = instance.jobs.arrival_hours
    wait = instance.max_wait_hours
    if rule == "no-wait":
        return arrival
    if rule == "all-wait-threshold":
        return arrival + wait
    candidates = start_rules.slot_edges if rule == "lowest-slot" else start_rules.breakpoints
    start = np.empty(arrival.size)
    for rows, signal in _issues(forecast, arrival):
        start[rows] = start_rules.choose(rule, candidates, signal, arrival[rows], expected[rows], wait[rows])
    return start


def _wait_awhile(instance: PurchasingInstance, forecast: Forecast) -> suspension.Pieces:
    jobs, wait = instance.jobs, instance.max_wait_hours
    parts = []
    for rows, signal in _issues(forecast, jobs.arrival_hours):
        found = suspension.cleanest(signal, jobs.arrival_hours[rows], jobs.length_hours[rows], wait[rows])
        parts.append(suspension.Pieces(rows[found.job], found.start, found.end))
    return suspension.joined(parts)


def _ecovisor(instance: PurchasingInstance, rule: PurchaseRule, forecast: Forecast) -> suspension.Pieces:
    """Compare what is measured at each moment with what was forecast at the arrival."""
    jobs = instance.jobs
    until = instance.jobs.arrival_hours + rule.ahead_hours
    threshold = np.empty(len(jobs))
    for rows, signal in _issues(forecast, jobs.arrival_hours):
        threshold[rows] = suspension.thresholds(signal, jobs.arrival_hours[rows], until[rows], rule.clean_share)
    measured = StepSignal(instance.intensity, instance.time.slot_hours)
    return suspension.below(measured, jobs.arrival_hours, jobs.length_hours, instance.max_wait_hours, threshold)


def _issues(forecast: Forecast, arrival: FloatArray) -> Iterator[tuple[IntArray, StepSignal]]:
    """Yield the jobs that see the same forecast, with the forecast."""
    if not arrival.size:
        return
    if not forecast.revised:
        yield np.arange(arrival.size), forecast.view(0)
        return
    slot = np.minimum(np.floor(arrival / forecast.slot_hours + 1e-9).astype(np.int64), forecast.slots - 1)
    order = np.argsort(slot, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(slot[order])) + 1):
        yield rows, forecast.view(int(slot[rows[0]]))
