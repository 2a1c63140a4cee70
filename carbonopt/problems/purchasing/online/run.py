"""Role ``simulate`` of purchasing: an online policy's schedule."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS
from carbonopt.problems.purchasing.online.artifact import TICKS_PER_HOUR, tasks_of, ticked
from carbonopt.problems.purchasing.online.decide import expected_lengths, paper_policy
from carbonopt.problems.purchasing.online.rule import PAUSING, PurchaseRule
from carbonopt.problems.purchasing.online.ticked import TickedQueue
from carbonopt.simulation import Log, Policy, Pool, Workload, run
from carbonopt.simulation.log import SUSPENDED
from carbonopt.simulation.options import SimulationOptions


def simulate(instance: PurchasingInstance, policy: PurchaseRule | Policy, options: SimulationOptions) -> Outcome:
    """Simulate a policy.

    Parameters
    ----------
    instance
        With the number of its reserved CPUs.
    policy
        A rule of GAIA, or a policy of the user's own on the pools ``reserved``, ``on-demand``, and where the
        instance has them ``spot`` and ``shared`` (a CPU reserved where one is free, else on demand).
    options
        Of the simulation.

    Raises
    ------
    UnsupportedError
        For reserved CPUs that are still to be decided, or a policy of the user's own in
        mode ``artifact``.
    """
    if instance.reserved_cpus is None:
        raise UnsupportedError("a simulation needs a number of reserved CPUs, and the instance leaves it open")
    if options.mode == "artifact":
        return _artifact(instance, policy, options)
    info: dict[str, Any] = {"accounting": "paper", "evictions": "realised"}
    expected = expected_lengths(instance, options.lengths)
    startup = 0.0
    if isinstance(policy, PurchaseRule):
        startup = policy.startup_hours
        _require_time_to_start(instance, startup)
        policy = paper_policy(instance, policy, options.forecast, expected)
    if startup:
        info["startup_hours"] = startup
    jobs = instance.jobs
    workload = Workload(jobs.arrival_hours, jobs.length_hours, jobs.cpus, jobs.name, expected)
    log = run(
        workload,
        _pools(instance, startup),
        policy,
        instance=instance,
        forecast=options.forecast,
        seed=options.seed,
        callback=options.callback,
        arrivals_known=options.arrivals == "known",
    )
    return _outcome(instance, log, info)


def _artifact(instance: PurchasingInstance, policy: PurchaseRule | Policy, options: SimulationOptions) -> Outcome:
    if not isinstance(policy, PurchaseRule) or policy.start in PAUSING:
        raise UnsupportedError("mode 'artifact' has the policies of GAIA alone: use mode 'paper'")
    if policy.startup_minutes:
        raise UnsupportedError("startup_minutes: the authors' simulator has none: use mode 'paper'")
    if options.forecast.revised:
        raise UnsupportedError("mode 'artifact' has perfect forecasts alone: use mode 'paper'")
    jobs = ticked(instance)
    tasks = tasks_of(instance, policy, options.lengths)
    workload = Workload(jobs.arrival, jobs.length, instance.jobs.cpus, instance.jobs.name)
    pools = [Pool(pool.name, pool.capacity) for pool in _pools(instance)]
    queue = TickedQueue(tasks, policy.conserving)
    log = run(workload, pools, queue, instance=instance, seed=options.seed, callback=options.callback)
    info: dict[str, Any] = {"accounting": "artifact"}
    return _outcome(instance, log, info, 1 / TICKS_PER_HOUR)


def _require_time_to_start(instance: PurchasingInstance, startup: float) -> None:
    """Refuse a start-up time with which a job may run after the signal: it starts twice where it may be evicted."""
    if not startup or not len(instance.jobs):
        return
    again = instance.spot_allowed & (instance.spot is not None and instance.spot.evictions_per_hour > 0)
    latest = instance.latest_end_hours + startup + np.where(again, instance.jobs.length_hours + startup, 0.0)
    last = int(np.argmax(latest))
    if latest[last] > instance.time.hours + ROUNDING_HOURS:
        words = f"job {instance.jobs.name[last]!r} may then end {latest[last]:g} h after the beginning"
        raise UnsupportedError(
            f"startup_minutes = {startup * 60:g}: {words}, and the signal ends after {instance.time.hours:g} h"
        )


def _pools(instance: PurchasingInstance, startup: float = 0.0) -> list[Pool]:
    hazard = 0.0 if instance.spot is None else instance.spot.evictions_per_hour
    offered = {
        "reserved": Pool("reserved", instance.reserved_cpus),
        "on-demand": Pool("on-demand", startup=startup),
        "spot": Pool("spot", None if instance.spot is not None else 0.0, evictions=hazard, startup=startup),
        "shared": Pool("shared", None if instance.model != "no-split" else 0.0),
    }
    return [offered[name] for name in OPTIONS]


def _outcome(instance: PurchasingInstance, log: Log, info: dict[str, Any], hours: float = 1.0) -> Outcome:
    columns = _columns(instance, log, hours)
    if log.count(SUSPENDED) and instance.model != "suspend-resume":
        info["model"] = "suspend-resume"
    if log.stopped == "interrupted":
        partial = {"simulated_hours": log.now * hours, "unfinished_jobs": int(log.unfinished.size), "partial": columns}
        return Outcome(Status.INTERRUPTED, info={**info, **partial})
    return Outcome(Status.FEASIBLE, columns, info=info)


def _columns(instance: PurchasingInstance, log: Log, hours: float) -> Schedule:
    """Return the segments as rows of a schedule, sorted by job and time."""
    order = np.lexsort((log.start, log.job))
    names = instance.jobs.name
    return {
        "job": [names[job] for job in log.job[order].tolist()],
        "start_hours": (log.start[order] * hours).tolist(),
        "end_hours": (log.end[order] * hours).tolist(),
        "option": [log.pools[pool] for pool in log.pool[order].tolist()],
    }
