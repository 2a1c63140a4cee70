"""Role ``simulate`` of mosp: an online policy's schedule, one row for each piece of a job."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective
from carbonopt.problems.mosp.formulation.objective import refuse_energy_price
from carbonopt.problems.mosp.methods.normalizers import normalizers
from carbonopt.problems.mosp.online.forecasts import ZoneForecasts
from carbonopt.problems.mosp.online.rolling import Rolling
from carbonopt.simulation import Log, Policy, Pool, Workload, run
from carbonopt.simulation.options import SimulationOptions

ROUNDING = 1e-9


def simulate(instance: MospInstance, policy: Policy, options: SimulationOptions) -> Outcome:
    """Simulate a policy.

    Parameters
    ----------
    instance
        N jobs, M clusters, T slots.
    policy
        On pools with the clusters' names. Units of the pools are those of the resource; where there are several
        resources, or jobs that need none of it, a job takes one unit of a pool without end, and the checker alone
        judges capacity.
    options
        Of the simulation. Run times are known, whatever ``lengths`` says: mosp has no classes of jobs.

    Returns
    -------
    Outcome
        Its info has ``pieces`` (see `carbonopt.problems.mosp.verify.check`). Where a job could not complete by
        slot T, status ``unknown`` and ``unfinished_jobs``; jobs that may be rejected and never began are not
        among them.
    """
    if options.mode != "paper":
        raise UnsupportedError(f"mode {options.mode!r}: mosp follows the text of Caspian: use mode 'paper'")
    refuse_energy_price(instance, "simulation")
    info: dict[str, Any] = {"pieces": getattr(policy, "pieces", "migrate")}
    if isinstance(instance.objective, CaspianObjective) and instance.objective.normalizers is None:
        bars = normalizers(instance, Options(time_limit=None)).bars
        info["normalizers"] = dict(zip(("z1", "z2", "z3"), bars, strict=True))
    if not len(instance.jobs):
        return Outcome(Status.FEASIBLE, {"job": [], "cluster": [], "start": [], "end": []}, info=info)
    log = run(
        _workload(instance),
        _pools(instance),
        policy,
        instance=instance,
        forecast=ZoneForecasts(options.forecasts or {instance.carbon.zones[0]: options.forecast}),
        horizon=float(instance.time.slots),
        seed=options.seed,
        callback=options.callback,
        arrivals_known=options.arrivals == "known",
    )
    if isinstance(policy, Rolling) and policy.fallbacks:
        info["fallbacks"] = policy.fallbacks
    return _outcome(instance, log, info)


def _limited(instance: MospInstance) -> bool:
    """Return whether the pools can watch over the capacity: one resource, of which each job needs some."""
    return len(instance.resources) == 1 and bool((instance.jobs.demand > 0).all())


def _workload(instance: MospInstance) -> Workload:
    jobs = instance.jobs
    units = jobs.demand[:, 0] if _limited(instance) else np.ones(len(jobs))
    return Workload(jobs.arrival.astype(float), jobs.duration.astype(float), units, jobs.name)


def _pools(instance: MospInstance) -> list[Pool]:
    limited = _limited(instance)
    clusters = instance.clusters
    return [Pool(name, clusters.capacity[j, 0] if limited else None) for j, name in enumerate(clusters.name)]


def _outcome(instance: MospInstance, log: Log, info: dict[str, Any]) -> Outcome:
    columns = _columns(instance, log)
    if log.stopped == "interrupted":
        info |= {"simulated_slots": log.now, "unfinished_jobs": int(log.unfinished.size), "partial": columns}
        return Outcome(Status.INTERRUPTED, info=info)
    objective = instance.objective
    left = log.unfinished
    if not (isinstance(objective, CarbonObjective) and objective.rejection_price is None):
        left = left[np.isin(left, log.job)]
    if left.size:
        return Outcome(Status.UNKNOWN, info=info | {"unfinished_jobs": [instance.jobs.name[i] for i in left.tolist()]})
    return Outcome(Status.FEASIBLE, columns, info=info)


def _columns(instance: MospInstance, log: Log) -> Schedule:
    """Return the segments by job and start; those that go on on the same cluster are one piece."""
    order = np.lexsort((log.start, log.job))
    job = log.job[order]
    pool = log.pool[order]
    start = log.start[order]
    end = log.end[order]
    goes_on = (job[1:] == job[:-1]) & (pool[1:] == pool[:-1]) & (start[1:] <= end[:-1] + ROUNDING)
    first = np.concatenate([[True], ~goes_on])
    last = np.concatenate([~goes_on, [True]])
    if not len(job):
        first = last = np.zeros(0, dtype=np.bool_)
    return {
        "job": [instance.jobs.name[i] for i in job[first].tolist()],
        "cluster": [instance.clusters.name[j] for j in pool[first].tolist()],
        "start": _slots(start[first]),
        "end": _slots(end[last]),
    }


def _slots(times: FloatArray) -> list[float]:
    """Return times that are whole slots, but for rounding, as such."""
    near = np.round(times)
    exact = np.where(np.abs(times - near) <= ROUNDING, near, times)
    return [int(time) if time == int(time) else time for time in exact.tolist()]
