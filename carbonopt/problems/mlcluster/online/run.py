"""Role ``simulate`` of mlcluster: an online policy's schedule."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.simulation import Log, Policy, Pool, Workload, run
from carbonopt.simulation.options import SimulationOptions

SIMULATION_STEPS = 400_000.0
"""Loop steps that stand for a job in a simulation, about a millisecond of Python."""


def simulate(instance: MlClusterInstance, policy: Policy, options: SimulationOptions) -> Outcome:
    """Simulate a policy.

    Parameters
    ----------
    instance
        The instance.
    policy
        On the one pool ``gpus``, in minutes.
    options
        Of the simulation; with lengths ``mean`` a job's work is known as the mean of its profile's jobs.

    Raises
    ------
    UnsupportedError
        For an unknown policy, or mode ``artifact``: there is no code of GREEN's authors to follow.
    """
    if options.mode != "paper":
        raise UnsupportedError(f"mode {options.mode!r}: mlcluster has mode 'paper' alone")
    log = run(
        workload_of(instance, None if options.lengths == "true" else _mean_work(instance)),
        [Pool("gpus", instance.cluster.gpus)],
        policy,
        instance=instance,
        forecast=options.forecast,
        seed=options.seed,
        callback=options.callback,
        arrivals_known=options.arrivals == "known",
    )
    return _outcome(instance, log)


def schedule_in_time(instance: MlClusterInstance, policy: Policy, options: Options) -> Schedule | None:
    """Return what a policy does; None where not all jobs end by the horizon, or the time runs out before.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C: a method that simulates has a better schedule, or none.
    """

    def look(_: object) -> None:
        if options.seconds_left <= 0:
            raise KeyboardInterrupt  # the engine ends with what it has

    options.spend(SIMULATION_STEPS * len(instance.jobs))
    log = run(
        workload_of(instance),
        [Pool("gpus", instance.cluster.gpus)],
        policy,
        instance=instance,
        horizon=instance.horizon_minutes,
        callback=look,
    )
    if log.stopped == "interrupted" and options.seconds_left > 0:
        raise KeyboardInterrupt
    return None if log.unfinished.size else columns_of(instance, log)


def workload_of(instance: MlClusterInstance, expected_work: FloatArray | None = None) -> Workload:
    """Return the jobs as the engine takes them, in minutes; `expected_work` as policies know it, None for the true."""
    jobs, scales = instance.jobs, instance.scales
    speed = scales.throughput.tolist()
    profile = instance.profile_of_job.tolist()
    return Workload(
        jobs.arrival_minutes,
        jobs.work_gpu_minutes,
        jobs.min_gpus.astype(np.float64),
        jobs.name,
        expected_work,
        speed=lambda job, units: speed[profile[job]][round(units) - 1],
        restart=scales.restart_minutes[instance.profile_of_job],
    )


def _mean_work(instance: MlClusterInstance) -> FloatArray:
    """Return the mean work of each job's profile [1-GPU min], shape (N,): it stands for a history."""
    profile = instance.profile_of_job
    count = len(instance.profiles)
    size = np.maximum(1, np.bincount(profile, minlength=count))
    return np.asarray((np.bincount(profile, instance.jobs.work_gpu_minutes, count) / size)[profile])


def _outcome(instance: MlClusterInstance, log: Log) -> Outcome:
    columns = columns_of(instance, log)
    if log.stopped == "interrupted":
        partial = {"simulated_minutes": log.now, "unfinished_jobs": int(log.unfinished.size), "partial": columns}
        return Outcome(Status.INTERRUPTED, info=partial)
    return Outcome(Status.FEASIBLE, columns)


def columns_of(instance: MlClusterInstance, log: Log) -> Schedule:
    """Return the segments as rows of a schedule, sorted by job and time."""
    order = np.lexsort((log.start, log.job))
    names = instance.jobs.name
    return {
        "job": [names[job] for job in log.job[order].tolist()],
        "start_minutes": log.start[order].tolist(),
        "end_minutes": log.end[order].tolist(),
        "gpus": np.round(log.units[order]).astype(np.int64).tolist(),
    }
