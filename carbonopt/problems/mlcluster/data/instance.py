"""Data of the ML cluster problem (GREEN, sections 4 to 6)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, exact_mean, frozen_float, frozen_int
from carbonopt.core.errors import InputError
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import JobTable
from carbonopt.problems.mlcluster.data import validate
from carbonopt.problems.mlcluster.data.settings import Limits, Weights

ROUNDING = 1e-9
"""Missing work that counts as rounding, relative; the same everywhere."""
ROUNDING_MINUTES = 1e-6
"""Missing work that counts as rounding beside it [1-GPU minutes]: moments of a long year are exact to 1e-10 min."""
GRAMS_PER_WATT_MINUTE = 1 / 6e4
"""Of an intensity of 1 g/kWh: P c / 6e4 is in grams a minute."""


@dataclass(frozen=True)
class Cluster:
    """GPUs in hosts; all of them draw power all the time.

    Parameters
    ----------
    gpus
        C, the GPUs of the cluster.
    zone
        Its zone in the carbon signal.
    gpus_per_host
        Of every host; the last one may have fewer.
    idle_watts_per_gpu
        P_idle: power of a GPU without a job [W].
    host_watts
        Power of a host without its GPUs and without what jobs add [W].
    """

    gpus: int
    zone: str
    gpus_per_host: int = 2
    idle_watts_per_gpu: float = 0.0
    host_watts: float = 0.0

    def __post_init__(self) -> None:
        _raise(validate.cluster_faults(self))

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return -(-self.gpus // self.gpus_per_host)

    @property
    def idle_watts(self) -> float:
        """Power of the cluster without jobs [W]."""
        return self.gpus * self.idle_watts_per_gpu + self.hosts * self.host_watts

    @property
    def host_watts_per_gpu(self) -> float:
        """What the paper's footprint charges a job for the hosts, for each of its GPUs [W]."""
        return self.host_watts / self.gpus_per_host


@dataclass(frozen=True, eq=False)
class Profile:
    """How a training job scales.

    Parameters
    ----------
    name
        E.g. ``resnet50``.
    throughput
        X(n) on n = 1..M GPUs [1-GPU minutes of work a minute], shape (M,): above 0, the first 1.
    watts
        Power of a job on n GPUs, of the GPUs and what its host adds for it [W], shape (M,): above 0,
        never falling.
    restart_minutes
        What a restart takes, after a pause or at another number of GPUs: full power, no progress.
    """

    name: str
    throughput: FloatArray
    watts: FloatArray
    restart_minutes: float = 0.0

    def __post_init__(self) -> None:
        for column in ("throughput", "watts"):
            object.__setattr__(self, column, frozen_float(getattr(self, column)))
        _raise(validate.profile_faults(self))

    def __len__(self) -> int:
        return len(self.throughput)

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as the file holds it."""
        return {"throughput": self.throughput, "watts": self.watts, "restart_minutes": self.restart_minutes}


@dataclass(frozen=True, eq=False, repr=False)
class MlJobs(JobTable):
    """Training jobs: preemptive and malleable, in continuous time.

    Parameters
    ----------
    arrival_minutes
        r_j, since the beginning of slot 0 [min], shape (N,).
    work_gpu_minutes
        W_j: minutes that the job takes on one GPU, above 0, shape (N,).
    profile
        Name of the profile of each of the N jobs.
    min_gpus, max_gpus
        Fewest and most GPUs that a job runs on, shape (N,).
    """

    arrival_minutes: FloatArray
    work_gpu_minutes: FloatArray
    profile: tuple[str, ...]
    min_gpus: IntArray
    max_gpus: IntArray

    def __post_init__(self) -> None:
        super().__post_init__()
        for column in ("arrival_minutes", "work_gpu_minutes"):
            object.__setattr__(self, column, frozen_float(getattr(self, column)))
        for column in ("min_gpus", "max_gpus"):
            object.__setattr__(self, column, frozen_int(getattr(self, column), f"jobs.{column}"))
        object.__setattr__(self, "profile", tuple(self.profile))
        _raise(validate.job_faults(self))

    @property
    def required(self) -> FloatArray:
        """Work that counts as all of it [1-GPU minutes], shape (N,)."""
        work = self.work_gpu_minutes
        return np.asarray(work * (1 - ROUNDING) - np.minimum(ROUNDING_MINUTES, work / 1000))


@dataclass(frozen=True, eq=False)
class Scales:
    """The profiles side by side: column n - 1 is n GPUs, zeros beyond a profile's own.

    Parameters
    ----------
    throughput
        X(n), shape (P, M).
    watts
        Power of the job [W], shape (P, M).
    added_watts
        dP(n): what it adds to the idle cluster's [W], shape (P, M).
    restart_minutes
        Shape (P,).
    """

    throughput: FloatArray
    watts: FloatArray
    added_watts: FloatArray
    restart_minutes: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MlClusterInstance(Instance):
    """How many GPUs each training job has at each moment.

    Parameters
    ----------
    cluster, profiles, jobs, weights, limits
        See their classes.

    Raises
    ------
    InputError
        For every inconsistency between the parts, all at once.
    """

    problem: ClassVar[str] = "mlcluster"

    cluster: Cluster
    profiles: tuple[Profile, ...]
    jobs: MlJobs
    weights: Weights = field(default_factory=Weights)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        object.__setattr__(self, "profiles", tuple(self.profiles))
        _raise(validate.cross_faults(self.carbon, self.cluster, self.profiles, self.jobs))

    @property
    def sense(self) -> str:
        """Always ``min``."""
        return "min"

    @property
    def zone(self) -> str:
        """The cluster's zone in the carbon signal."""
        return self.cluster.zone

    @property
    def horizon_minutes(self) -> float:
        """End of the last slot [min]: every job has ended by then, and idle power counts until then."""
        return self.time.hours * 60

    @property
    def slot_minutes(self) -> float:
        """Length of a slot [min]."""
        return self.time.slot_hours * 60

    @cached_property
    def intensity(self) -> FloatArray:
        """Carbon intensity of the cluster's zone [g/kWh], shape (T,)."""
        return np.asarray(self.carbon.g_per_kwh[self.carbon.index(self.cluster.zone)])

    @cached_property
    def kg_per_watt_minute(self) -> FloatArray:
        """Carbon of a watt in each slot [kg/min], shape (T,)."""
        return self.intensity * (GRAMS_PER_WATT_MINUTE / 1000)

    @cached_property
    def profile_of_job(self) -> IntArray:
        """Position of each job's profile in `profiles`, shape (N,)."""
        index = {profile.name: number for number, profile in enumerate(self.profiles)}
        return np.array([index[name] for name in self.jobs.profile], dtype=np.int64)

    @cached_property
    def scales(self) -> Scales:
        """Tables of all profiles."""
        shape = (len(self.profiles), max(len(profile) for profile in self.profiles))
        throughput = np.zeros(shape)
        watts = np.zeros(shape)
        for number, profile in enumerate(self.profiles):
            throughput[number, : len(profile)] = profile.throughput
            watts[number, : len(profile)] = profile.watts
        gpus = np.arange(1, shape[1] + 1)
        added = np.where(throughput > 0, watts - gpus * self.cluster.idle_watts_per_gpu, 0.0)
        return Scales(throughput, watts, added, np.array([profile.restart_minutes for profile in self.profiles]))

    @cached_property
    def most_gpus(self) -> IntArray:
        """Most GPUs that each job can have in this cluster, shape (N,)."""
        return np.minimum(self.jobs.max_gpus, self.cluster.gpus)

    @cached_property
    def allowed(self) -> BoolArray:
        """Whether each job may run on n GPUs, column n - 1, shape (N, M)."""
        gpus = np.arange(1, self.scales.throughput.shape[1] + 1)
        return (gpus >= self.jobs.min_gpus[:, None]) & (gpus <= self.most_gpus[:, None])

    @cached_property
    def fastest_minutes(self) -> FloatArray:
        """p_j^min: the shortest time that each job can run [min], shape (N,)."""
        rates = np.where(self.allowed, self.scales.throughput[self.profile_of_job], 0.0)
        return np.asarray(self.jobs.work_gpu_minutes / rates.max(axis=1))

    def with_objective(self, weights: Weights | None = None, limits: Limits | None = None) -> MlClusterInstance:
        """Return the same jobs and cluster under another objective; None leaves a part as it is."""
        return replace(self, weights=weights or self.weights, limits=limits or self.limits)

    def data(self) -> dict[str, Any]:
        """Return cluster, profiles, jobs and objective as the file holds them."""
        jobs = self.jobs
        return {
            "cluster": vars(self.cluster),
            "profiles": {profile.name: profile.to_dict() for profile in self.profiles},
            "jobs": dict(jobs.columns()),
            "objective": {"weights": vars(self.weights), "limits": vars(self.limits)},
        }

    def features(self) -> dict[str, Any]:
        """Return size and load: what makes an instance easy or hard."""
        jobs = self.jobs
        span = float(np.ptp(jobs.arrival_minutes)) if len(jobs) else 0.0
        work = fsum(jobs.work_gpu_minutes)
        return {
            "jobs": len(jobs),
            "slots": self.time.slots,
            "slot_hours": self.time.slot_hours,
            "gpus": self.cluster.gpus,
            "profiles": {profile.name: jobs.profile.count(profile.name) for profile in self.profiles},
            "gpu_hours": work / 60,
            "load": work / (self.cluster.gpus * span) if span else None,
            "mean_work_gpu_hours": work / 60 / len(jobs) if len(jobs) else 0.0,
            "idle_watts": self.cluster.idle_watts,
            "mean_g_per_kwh": exact_mean(self.intensity),
        }


def _raise(faults: list[Any]) -> None:
    if faults:
        raise InputError(faults)
