"""The mosp instance that a plan is the solution of: running jobs are fixed, waiting ones may start in any slot."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from math import ceil, floor

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.time import format_utc
from carbonopt.io.queues.job import RUNNING, QueuedJob
from carbonopt.planning.site import Site, Terms
from carbonopt.problems.mosp.data.fixed import FixedRuns
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective

ROUNDING_SLOTS = 1e-6
"""A time this close above a slot's edge is at the edge: moments are of whole microseconds."""
TIE_SHARE = 1e-4
"""Of the mean job's carbon, what a wait over the whole horizon costs: of equally clean starts the first is taken."""


def instance_of(
    jobs: Sequence[QueuedJob],
    latest: Sequence[datetime],
    signal: CarbonSignal,
    sites: Sequence[Site],
    terms: Terms,
    price: EnergyPrice | None = None,
) -> MospInstance:
    """Return the instance of the jobs from the first slot of a signal on.

    Parameters
    ----------
    jobs
        That wait or run, N of them.
    latest
        When each should have started, N moments; later starts cost more than any saving of carbon.
    signal
        Forecast; its slot 0 is the first in which a job may start.
    sites, terms
        Clusters, power and waiting times.
    price
        Of electricity over the slots of `signal`; None where it is not known.

    Raises
    ------
    InputError
        For a job that is longer than the forecast, or runs on an unknown cluster, and if what runs exceeds a cluster.
    """
    faults = [*_long_jobs(jobs, signal), *_homeless(jobs, sites)]
    if faults:
        raise InputError(faults)
    duration = np.array([_slots_left(job, signal) for job in jobs], dtype=np.int64)
    start = np.array([floor((moment - signal.time.start) / _slot(signal) + ROUNDING_SLOTS) for moment in latest])
    units = _units(jobs, sites, terms)
    demand = np.column_stack([amount for amount, _, _ in units.values()])
    watts = [per_unit for _, per_unit, _ in units.values()]
    limits = np.array([[row[j] for _, _, row in units.values()] for j in range(len(sites))])
    names = tuple(site.name for site in sites)
    zones = tuple(site.zone for site in sites)
    clusters = Clusters(names, zones, limits, np.tile(watts, (len(sites), 1))).over(signal.time.slots)
    running = [i for i, job in enumerate(jobs) if job.state == RUNNING]
    fixed = FixedRuns(
        tuple(jobs[i].id for i in running),
        tuple(_site_of(jobs[i], sites) for i in running),
        np.zeros(len(running), dtype=np.int64),
    )
    return MospInstance(
        name=f"plan-j{len(jobs):04d}-t{signal.time.slots:03d}",
        provenance=signal.provenance(),
        carbon=signal,
        resources=tuple(units),
        clusters=clusters,
        jobs=MospJobs(
            tuple(job.id for job in jobs),
            np.zeros(len(jobs), dtype=np.int64),
            duration,
            np.maximum(0, start + duration).astype(float),
            demand,
        ),
        objective=_objective(signal, clusters, demand, duration, price, terms.energy_weight),
        fixed=fixed,
        energy_price=price,
    )


def _slot(signal: CarbonSignal) -> timedelta:
    return timedelta(hours=signal.time.slot_hours)


def _slots_left(job: QueuedJob, signal: CarbonSignal) -> int:
    """Return how many slots a job still takes; one that runs is cut at the horizon, and takes one at least."""
    left = timedelta(hours=job.hours)
    if job.state == RUNNING and job.started is not None:
        left -= signal.time.start - job.started
    slots = max(1, ceil(left / _slot(signal) - ROUNDING_SLOTS))
    return min(slots, signal.time.slots) if job.state == RUNNING else slots


def _long_jobs(jobs: Sequence[QueuedJob], signal: CarbonSignal) -> list[Fault]:
    end = format_utc(signal.time.slot_start(signal.time.slots))
    faults = []
    for job in jobs:
        if _slots_left(job, signal) > signal.time.slots:
            until = format_utc(signal.time.start + timedelta(hours=job.hours))
            words = f"job {job.id} runs up to {job.hours:g} h, until {until} if it starts at once: the forecast ends at"
            faults.append(Fault("carbon", f"{words} {end}, and must not end before"))
    return faults


def _site_of(job: QueuedJob, sites: Sequence[Site]) -> str:
    return sites[0].name if len(sites) == 1 else job.cluster


def _homeless(jobs: Sequence[QueuedJob], sites: Sequence[Site]) -> list[Fault]:
    names = [site.name for site in sites]
    return [
        Fault("cluster", f"job {job.id} runs there: must be {one_of(names)} (see --cluster)", shown(job.cluster))
        for job in jobs
        if job.state == RUNNING and _site_of(job, sites) not in names
    ]


def _units(
    jobs: Sequence[QueuedJob], sites: Sequence[Site], terms: Terms
) -> dict[str, tuple[FloatArray, float, list[float]]]:
    """Return of each resource: the jobs' units, shape (N,), watts a unit, and the limit of each cluster.

    Where the power of a job was measured, power is a resource of its own without a limit, and no other draws any.
    """
    cpus = np.array([job.cpus for job in jobs])
    gpus = np.array([job.gpus for job in jobs])
    measured = np.array([np.nan if job.watts is None else job.watts for job in jobs])
    some_measured = not np.isnan(measured).all()
    counted = 0.0 if some_measured else 1.0
    cpu_limits = [float(cpus.sum()) if site.cpus is None else site.cpus for site in sites]
    units = {"cpu": (cpus, counted * terms.watts_per_cpu, cpu_limits)}
    if gpus.any() or any(site.gpus for site in sites):
        gpu_limits = [float(gpus.sum()) if site.gpus is None else site.gpus for site in sites]
        units["gpu"] = (gpus, counted * terms.watts_per_gpu, gpu_limits)
    if some_measured:
        guessed = cpus * terms.watts_per_cpu + gpus * terms.watts_per_gpu
        power = np.where(np.isnan(measured), guessed, measured)
        units["watt"] = (power, 1.0, [float(power.sum())] * len(sites))
    return units


def _objective(
    signal: CarbonSignal,
    clusters: Clusters,
    demand: FloatArray,
    duration: IntArray,
    price: EnergyPrice | None,
    weight: float,
) -> CarbonObjective:
    """Return carbon and energy cost, with a late slot as dear as all that any job can save, and ties to the earlier."""
    most = float(signal.g_per_kwh.max(initial=0.0))
    kwh = (demand @ clusters.watts_per_unit.max(axis=0)) / 1000 * duration * signal.time.slot_hours
    dearest = float(kwh.max(initial=0.0)) * most / 1000
    mean = float(kwh.mean()) * float(signal.g_per_kwh.mean()) / 1000 if len(kwh) else 0.0
    if price is not None and weight:
        dearest += weight * float(kwh.max(initial=0.0)) * float(np.ptp(price.per_kwh))
    return CarbonObjective(1.0, dearest or 1.0, TIE_SHARE * mean / signal.time.slots, energy_cost=weight)


def job_kg(instance: MospInstance, job: str, cluster: str, start: int) -> float:
    """Return what one run emits [kgCO2eq]."""
    i = instance.jobs.name.index(job)
    j = instance.clusters.name.index(cluster)
    end = start + int(instance.jobs.duration[i])
    grams = float(instance.carbon.between(instance.clusters.zone[j], start, end))
    kw = float(instance.jobs.demand[i] @ instance.clusters.watts_per_unit[j]) / 1000
    return kw * instance.time.slot_hours * grams / 1000
