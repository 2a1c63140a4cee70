"""Data of the purchasing problem (GAIA, sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, exact_mean, frozen_float
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import JobTable
from carbonopt.problems.purchasing.data import validate
from carbonopt.problems.purchasing.data.settings import GAIA_QUEUES, Limits, Prices, Queue, Spot, Weights, refuse

ROUNDING_HOURS = 1e-7
"""Differences between moments that count as rounding [h]; the same everywhere."""
ROUNDING = 1e-9
"""Load above the reserved CPUs that counts as rounding, relative; the same everywhere."""
MODELS = validate.MODELS
__all__ = [
    "GAIA_QUEUES",
    "MODELS",
    "ROUNDING",
    "ROUNDING_HOURS",
    "Limits",
    "Prices",
    "PurchasingInstance",
    "PurchasingJobs",
    "Queue",
    "Spot",
    "Weights",
]


@dataclass(frozen=True, eq=False, repr=False)
class PurchasingJobs(JobTable):
    """Batch jobs in continuous time.

    Parameters
    ----------
    arrival_hours
        a_j, since the beginning of slot 0 [h], shape (N,).
    length_hours
        L_j, above 0 [h], shape (N,).
    cpus
        n_j, above 0, shape (N,).
    """

    arrival_hours: FloatArray
    length_hours: FloatArray
    cpus: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        for column in ("arrival_hours", "length_hours", "cpus"):
            object.__setattr__(self, column, frozen_float(getattr(self, column)))
        refuse(validate.job_faults(self))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PurchasingInstance(Instance):
    """When each job starts, and on reserved, on-demand or spot CPUs.

    Parameters
    ----------
    jobs, prices, queues, weights, limits
        See their classes; queues by increasing length, the last one unlimited.
    spot
        None where no spot CPUs are offered.
    reserved_cpus
        R; None where it is to be decided, and paid for, with the rest.
    watts_per_cpu
        Power of a running CPU [W]; one that idles draws none.
    zone
        Of the carbon signal; None for its only one.
    model
        ``splitting``: jobs run without a break, and share the reserved CPUs in any way, part of a job
        on demand. ``no-split``: a job has reserved CPUs for all of itself and all of its run, or none.
        ``suspend-resume``: jobs may be interrupted, and share as in ``splitting``.

    Raises
    ------
    InputError
        For every inconsistency between the parts, all at once.
    """

    problem: ClassVar[str] = "purchasing"

    jobs: PurchasingJobs
    prices: Prices = field(default_factory=Prices)
    spot: Spot | None = None
    queues: tuple[Queue, ...] = GAIA_QUEUES
    weights: Weights = field(default_factory=Weights)
    limits: Limits = field(default_factory=Limits)
    reserved_cpus: int | None = 0
    watts_per_cpu: float = 1.0
    zone: str | None = None
    model: str = "splitting"

    def __post_init__(self) -> None:
        object.__setattr__(self, "queues", tuple(self.queues))
        refuse(validate.instance_faults(self))
        object.__setattr__(self, "zone", self.carbon.zones[0] if self.zone is None else self.zone)

    @property
    def sense(self) -> str:
        """Always ``min``."""
        return "min"

    @cached_property
    def intensity(self) -> FloatArray:
        """Carbon intensity of the zone [g/kWh], shape (T,)."""
        assert self.zone is not None
        return np.asarray(self.carbon.g_per_kwh[self.carbon.index(self.zone)])

    @cached_property
    def kg_per_cpu_hour(self) -> FloatArray:
        """Carbon of one CPU in each slot [kg/h], shape (T,)."""
        return self.intensity * (self.watts_per_cpu / 1e6)

    @cached_property
    def queue_of_job(self) -> IntArray:
        """Position of each job's queue in `queues`, shape (N,)."""
        edges = np.array([queue.max_length_hours for queue in self.queues[:-1]])
        return np.searchsorted(edges, self.jobs.length_hours, side="left").astype(np.int64)

    @cached_property
    def max_wait_hours(self) -> FloatArray:
        """W_j [h], shape (N,)."""
        return np.array([queue.max_wait_hours for queue in self.queues])[self.queue_of_job]

    @cached_property
    def latest_end_hours(self) -> FloatArray:
        """a_j + W_j + L_j: the latest completion of a job that is not evicted [h], shape (N,)."""
        return self.jobs.arrival_hours + self.max_wait_hours + self.jobs.length_hours

    @cached_property
    def spot_allowed(self) -> BoolArray:
        """Whether each job may run on spot CPUs, shape (N,)."""
        longest = -np.inf if self.spot is None else self.spot.max_length_hours
        return np.asarray(self.jobs.length_hours <= longest)

    def prepaid_usd(self, reserved_cpus: float) -> float:
        """Return what so many reserved CPUs cost over the horizon [$]."""
        return reserved_cpus * self.prices.reserved_usd_per_cpu_hour * self.time.hours

    def with_model(self, model: str) -> PurchasingInstance:
        """Return the same instance under another model."""
        return replace(self, model=model)

    def with_reserved(self, reserved_cpus: int | None) -> PurchasingInstance:
        """Return the same instance with other reserved CPUs; None where they are to be decided."""
        return replace(self, reserved_cpus=reserved_cpus)

    def with_objective(self, weights: Weights, limits: Limits | None = None) -> PurchasingInstance:
        """Return the same instance with another objective."""
        return replace(self, weights=weights, limits=limits or Limits())

    @classmethod
    def usual(cls) -> dict[str, Any]:
        """Return prices, queues and weights of the paper, one watt a CPU, and no reserved CPU."""
        return {
            "prices": vars(Prices()),
            "reserved_cpus": cls.reserved_cpus,
            "watts_per_cpu": cls.watts_per_cpu,
            "queues": _queues(GAIA_QUEUES),
            "objective": {"weights": vars(Weights())},
        }

    def data(self) -> dict[str, Any]:
        """Return what the problem adds as the file holds it."""
        jobs = self.jobs
        return {
            "zone": self.zone,
            "prices": vars(self.prices),
            "reserved_cpus": self.reserved_cpus,
            "watts_per_cpu": self.watts_per_cpu,
            "spot": None if self.spot is None else vars(self.spot),
            "queues": _queues(self.queues),
            "jobs": {
                "name": jobs.name,
                "arrival_hours": jobs.arrival_hours,
                "length_hours": jobs.length_hours,
                "cpus": jobs.cpus,
            },
            "objective": {"weights": vars(self.weights), "limits": vars(self.limits)},
            "model": self.model,
        }

    def features(self) -> dict[str, Any]:
        """Return size, load and slack: what makes an instance easy or hard."""
        jobs = self.jobs
        work = fsum(jobs.cpus * jobs.length_hours)
        last = float((jobs.arrival_hours + jobs.length_hours).max(initial=0.0))
        return {
            "jobs": len(jobs),
            "slots": self.time.slots,
            "slot_hours": self.time.slot_hours,
            "model": self.model,
            "reserved_cpus": self.reserved_cpus,
            "cpu_hours": work,
            "mean_cpus_in_use": work / last if last else 0.0,
            "mean_length_hours": exact_mean(jobs.length_hours),
            "queues": {
                queue.name: int((self.queue_of_job == number).sum()) for number, queue in enumerate(self.queues)
            },
            "spot_jobs": int(self.spot_allowed.sum()),
            "mean_g_per_kwh": exact_mean(self.intensity),
        }


def _queues(queues: tuple[Queue, ...]) -> dict[str, Any]:
    """Return the section of the file."""
    return {
        queue.name: {
            "max_length_hours": None if np.isinf(queue.max_length_hours) else queue.max_length_hours,
            "max_wait_hours": queue.max_wait_hours,
        }
        for queue in queues
    }
