"""What makes ML cluster data wrong, told by field and row. Each check needs only the parts it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, one_of, shown
from carbonopt.core.jobs import duplicate_faults
from carbonopt.core.validate import Axes, outside, wrong_shapes

if TYPE_CHECKING:
    from carbonopt.problems.mlcluster.data.instance import Cluster, MlJobs, Profile
    from carbonopt.problems.mlcluster.data.settings import Limits, Weights

JOB_AXES: Axes = dict.fromkeys(("arrival_minutes", "work_gpu_minutes", "min_gpus", "max_gpus"), ("job",))
PROFILE_AXES: Axes = {"throughput": ("gpus",), "watts": ("gpus",)}
AT_LEAST_ZERO = "must be finite and at least 0"
ABOVE_ZERO = "must be finite and above 0"
LEAST_WORK = 1e-30
"""Prices are divided by the work of a job [min on one GPU]; by less of it, they are infinite."""
SHORTAGE = 1e-9
"""Relative: work that does not fit by less than this may be rounding."""


def cluster_faults(cluster: Cluster) -> list[Fault]:
    """Return what is wrong with the cluster alone."""
    faults = [
        Fault(f"cluster.{name}", "must be a whole number of GPUs, at least 1", shown(value))
        for name, value in (("gpus", cluster.gpus), ("gpus_per_host", cluster.gpus_per_host))
        if not (1 <= value < 2**53 and value == int(value))
    ]
    faults += _below_zero("cluster", {name: getattr(cluster, name) for name in ("idle_watts_per_gpu", "host_watts")})
    return faults


def profile_faults(profile: Profile) -> list[Fault]:
    """Return what is wrong with one profile."""
    place = f"profiles.{profile.name}"
    faults = list(wrong_shapes(place, profile, PROFILE_AXES))
    if faults:
        return faults
    faults += _below_zero(place, {"restart_minutes": profile.restart_minutes})
    faults += scale_faults(place, profile.throughput.tolist(), profile.watts.tolist())
    return faults


def scale_faults(place: str, throughput: list[float], watts: list[float]) -> Iterator[Fault]:
    """Yield what is wrong with throughput and power by GPUs: empty, zero, falling power, unequal lengths."""
    if not throughput:
        yield Fault(f"{place}.throughput", "must have at least one entry, that of one GPU", "[]")
    for row, value in enumerate(throughput):
        if not 0 < value < np.inf:
            yield Fault(f"{place}.throughput", ABOVE_ZERO, shown(value), row)
        elif row == 0 and value != 1:
            words = "must be 1: throughput is in units of that on one GPU"
            yield Fault(f"{place}.throughput", words, shown(value), row)
    if len(watts) != len(throughput):
        words = f"must have one entry for each of the {len(throughput)} numbers of GPUs of throughput"
        yield Fault(f"{place}.watts", words, f"{len(watts)} entries")
    before = 0.0
    for row, value in enumerate(watts):
        if not 0 < value < np.inf:
            yield Fault(f"{place}.watts", ABOVE_ZERO, shown(value), row)
        elif value < before:
            yield Fault(f"{place}.watts", f"must be at least {shown(before)}, that of one GPU less", shown(value), row)
        before = value if 0 < value < np.inf else before


def job_faults(jobs: MlJobs) -> list[Fault]:
    """Return what is wrong with the job table alone."""
    faults = list(wrong_shapes("jobs", jobs, JOB_AXES))
    if faults:
        return faults
    faults = [*jobs.length_faults(), *duplicate_faults("jobs.name", jobs.name)]
    arrival, work = jobs.arrival_minutes, jobs.work_gpu_minutes
    faults += outside("jobs.arrival_minutes", arrival, ~((arrival >= 0) & (arrival < np.inf)), AT_LEAST_ZERO)
    faults += outside("jobs.work_gpu_minutes", work, ~((work > 0) & (work < np.inf)), ABOVE_ZERO)
    tiny = (work > 0) & (work < LEAST_WORK)
    faults += outside("jobs.work_gpu_minutes", work, tiny, f"must be at least {LEAST_WORK:g}")
    faults += outside("jobs.min_gpus", jobs.min_gpus, jobs.min_gpus < 1, "must be at least 1")
    if len(jobs.min_gpus) == len(jobs.max_gpus):
        for row in np.flatnonzero(jobs.max_gpus < jobs.min_gpus):
            words = f"must be at least {jobs.min_gpus[row]}, the job's min_gpus"
            faults.append(Fault("jobs.max_gpus", words, shown(int(jobs.max_gpus[row])), int(row)))
    return faults


def weight_faults(weights: Weights) -> list[Fault]:
    """Return what is wrong with the weights of the objective."""
    return list(_below_zero("objective.weights", vars(weights)))


def limit_faults(limits: Limits) -> list[Fault]:
    """Return what is wrong with the limits."""
    given = {name: value for name, value in vars(limits).items() if value is not None}
    return list(_below_zero("objective.limits", given))


def cross_faults(carbon: CarbonSignal, cluster: Cluster, profiles: tuple[Profile, ...], jobs: MlJobs) -> list[Fault]:
    """Return what does not fit together."""
    names = tuple(profile.name for profile in profiles)
    faults = duplicate_faults("profiles", names)
    if not profiles:
        faults.append(Fault("profiles", "must hold at least one profile", "{}"))
    if cluster.zone not in carbon.zones:
        words = f"is an unknown zone: carbon.zones has {one_of(carbon.zones)}"
        faults.append(Fault("cluster.zone", words, shown(cluster.zone)))
    faults += [
        Fault("jobs.profile", f"is unknown: profiles has {one_of(names)}", shown(name), row)
        for row, name in enumerate(jobs.profile)
        if name not in names and names
    ]
    for profile in profiles:
        faults += idle_faults(cluster, profile)
    if not faults:
        faults += gpu_faults(cluster, profiles, jobs)
    if not faults:
        faults += time_faults(carbon, cluster, profiles, jobs)
    return faults


def idle_faults(cluster: Cluster, profile: Profile) -> Iterator[Fault]:
    """Yield each number of GPUs at which a job draws less than its GPUs do without it."""
    least = cluster.idle_watts_per_gpu * np.arange(1, len(profile) + 1)
    for row in np.flatnonzero(profile.watts < least):
        words = f"must be at least {shown(float(least[row]))}, what {row + 1} idle GPUs draw"
        yield Fault(f"profiles.{profile.name}.watts", words, shown(float(profile.watts[row])), int(row))


def gpu_faults(cluster: Cluster, profiles: tuple[Profile, ...], jobs: MlJobs) -> Iterator[Fault]:
    """Yield each job that needs more GPUs than there are, or may have more than its profile knows."""
    for row in np.flatnonzero(jobs.min_gpus > cluster.gpus):
        words = f"must be at most {cluster.gpus}, the GPUs of the cluster"
        yield Fault("jobs.min_gpus", words, shown(int(jobs.min_gpus[row])), int(row))
    known = {profile.name: len(profile) for profile in profiles}
    lengths = np.array([known[name] for name in jobs.profile], dtype=np.int64)
    for row in np.flatnonzero(jobs.max_gpus > lengths):
        words = f"must be at most {lengths[row]}, the entries of profile {jobs.profile[row]!r}"
        yield Fault("jobs.max_gpus", words, shown(int(jobs.max_gpus[row])), int(row))


def time_faults(carbon: CarbonSignal, cluster: Cluster, profiles: tuple[Profile, ...], jobs: MlJobs) -> Iterator[Fault]:
    """Yield each job that cannot end within the signal even alone, or a lack of GPU time of all together."""
    minutes = carbon.time.hours * 60
    rate, gpus_per_work = _best_rates(cluster, profiles, jobs)
    end = jobs.arrival_minutes + jobs.work_gpu_minutes / rate
    for row in np.flatnonzero(end * (1 - SHORTAGE) > minutes):
        words = (
            f"is too much for job {jobs.name[row]!r}: alone on the cluster it ends {end[row]:g} min after the "
            f"beginning, the signal ends after {minutes:g} min"
        )
        yield Fault("jobs.work_gpu_minutes", words, shown(float(jobs.work_gpu_minutes[row])), int(row))
    needed = float((jobs.work_gpu_minutes * gpus_per_work).sum())
    there = cluster.gpus * (minutes - float(jobs.arrival_minutes.min(initial=minutes)))
    if needed * (1 - SHORTAGE) > there:
        words = (
            f"must be longer: the jobs need {needed / 60:g} GPU hours, the cluster has {there / 60:g} "
            "from the first arrival to the end of the signal"
        )
        yield Fault("time.slots", words, shown(carbon.time.slots))


def _best_rates(cluster: Cluster, profiles: tuple[Profile, ...], jobs: MlJobs) -> tuple[Any, Any]:
    """Return each job's largest throughput, and its least GPU minutes a 1-GPU minute of work."""
    tables = {profile.name: profile.throughput for profile in profiles}
    known: dict[tuple[str, int, int], tuple[float, float]] = {}
    rows = list(zip(jobs.profile, jobs.min_gpus.tolist(), jobs.max_gpus.tolist(), strict=True))
    for key in set(rows):
        name, least, most = key
        gpus = np.arange(least, min(most, cluster.gpus) + 1)
        speed = tables[name][gpus - 1]
        known[key] = (float(speed.max()), float((gpus / speed).min()))
    pairs = np.array([known[key] for key in rows]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _below_zero(place: str, values: dict[str, Any]) -> Iterator[Fault]:
    for key, value in values.items():
        if not 0 <= value < np.inf:
            yield Fault(f"{place}.{key}", AT_LEAST_ZERO, shown(value))
