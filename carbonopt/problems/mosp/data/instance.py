"""Data of the multi-objective scheduling and placement problem (Caspian, section II-A)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, exact_mean, frozen_float, frozen_int
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import SlotJobTable
from carbonopt.problems.mosp.data import validate
from carbonopt.problems.mosp.data.fixed import FixedRuns, fixed_faults, overload_faults
from carbonopt.problems.mosp.data.objectives import CarbonObjective, Objective

CAPACITY_ROUNDING = 1e-9
"""Excess of a load over a capacity that counts as rounding, relative to the capacity; the same everywhere."""


@dataclass(frozen=True, eq=False, repr=False)
class MospJobs(SlotJobTable):
    """Jobs that run without interruption on one cluster.

    Parameters
    ----------
    duration
        Run time l_i [slots], at least 1, shape (N,).
    deadline
        d_i: on time if the job completes by this moment [slots from the start], shape (N,).
    demand
        r_i of each resource [units], shape (N, R).
    eligible
        a_ij, shape (N, M); None where every job may run on every cluster.
    """

    duration: IntArray
    deadline: FloatArray
    demand: FloatArray
    eligible: BoolArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "duration", frozen_int(self.duration, "jobs.duration"))
        object.__setattr__(self, "deadline", frozen_float(self.deadline))
        object.__setattr__(self, "demand", frozen_float(self.demand))
        if self.eligible is not None:
            eligible = np.array(self.eligible, dtype=np.bool_)
            eligible.setflags(write=False)
            object.__setattr__(self, "eligible", eligible)
        _raise(validate.job_faults(self))

    def part(self, rows: IntArray) -> MospJobs:
        """Return the jobs of some rows."""
        return MospJobs(
            tuple(self.name[i] for i in rows),
            self.arrival[rows],
            self.duration[rows],
            self.deadline[rows],
            self.demand[rows],
            None if self.eligible is None else self.eligible[rows],
        )


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters, each in one carbon zone.

    Parameters
    ----------
    name, zone
        Of the M clusters.
    capacity
        C_j^t of each resource [units], shape (M, R, T), or (M, R) where it is constant.
    watts_per_unit
        rho_j: power that a used unit draws [W], shape (M, R).
    max_starts_per_slot
        S_j: jobs that may start on each cluster in one slot, shape (M,); None for no limit.
    """

    name: tuple[str, ...]
    zone: tuple[str, ...]
    capacity: FloatArray
    watts_per_unit: FloatArray
    max_starts_per_slot: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", tuple(self.name))
        object.__setattr__(self, "zone", tuple(self.zone))
        object.__setattr__(self, "capacity", frozen_float(self.capacity))
        object.__setattr__(self, "watts_per_unit", frozen_float(self.watts_per_unit))
        if self.max_starts_per_slot is not None:
            limits = frozen_int(self.max_starts_per_slot, "clusters.max_starts_per_slot")
            object.__setattr__(self, "max_starts_per_slot", limits)
        _raise(validate.cluster_faults(self))

    def __len__(self) -> int:
        return len(self.name)

    @property
    def limit(self) -> FloatArray:
        """Load that counts as within capacity, shape as `capacity`: real demands do not add up exactly."""
        return self.capacity * (1 + CAPACITY_ROUNDING)

    def over(self, slots: int) -> Clusters:
        """Return the clusters with their capacity spelled out over `slots`."""
        if self.capacity.ndim == 3:
            return self
        shape = (*self.capacity.shape, slots)
        return replace(self, capacity=np.broadcast_to(self.capacity[:, :, None], shape))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class MospInstance(Instance):
    """When and on which cluster each job starts.

    Parameters
    ----------
    resources
        Names of the R resources, in the order of the arrays' resource axes.
    clusters, jobs, objective
        See their classes.
    energy_price
        Price of electricity where the clusters are; None for none.
    fixed
        Jobs that run already, on the cluster and from the slot that they have; they are no starts of
        `Clusters.max_starts_per_slot`. With the carbon objective only. None for none.

    Raises
    ------
    InputError
        For every inconsistency between the parts, all at once.
    """

    problem: ClassVar[str] = "mosp"

    resources: tuple[str, ...]
    clusters: Clusters
    jobs: MospJobs
    objective: Objective = field(default_factory=CarbonObjective)
    fixed: FixedRuns | None = None
    energy_price: EnergyPrice | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "resources", tuple(self.resources))
        parts = (self.carbon, self.resources, self.clusters, self.jobs, self.objective)
        _raise(validate.cross_faults(*parts))
        object.__setattr__(self, "clusters", self.clusters.over(self.time.slots))
        self._require_sound_price()
        if self.fixed is not None:
            self._require_sound_runs(self.fixed)

    def _require_sound_price(self) -> None:
        if self.energy_price is not None:
            _raise(self.energy_price.faults(self.clusters.zone, self.time.slots))
        elif isinstance(self.objective, CarbonObjective):
            needing = {
                "weights": bool(self.objective.energy_cost),
                "limits": "energy_cost" in self.objective.limits.told(),
            }
            words = "needs the field energy_price, which is missing"
            _raise([Fault(f"objective.{part}.energy_cost", words) for part, needs in needing.items() if needs])

    def _require_sound_runs(self, runs: FixedRuns) -> None:
        if self.objective.kind != "carbon":
            words = "must not be there under the caspian objective, whose Z1 divides by the whole capacity"
            raise InputError(Fault("fixed", words))
        if "limits" in self.constraints:
            raise InputError(Fault("objective.limits", "must not be there beside fixed runs"))
        _raise(fixed_faults(runs, self.clusters, self.jobs, self.time.slots))
        _raise(list(overload_faults(self)))
        if not len(runs):
            object.__setattr__(self, "fixed", None)

    @property
    def sense(self) -> str:
        """``min`` or ``max``."""
        return self.objective.sense

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the optional constraints that this instance has."""
        names = []
        if self.clusters.max_starts_per_slot is not None:
            names.append("max_starts_per_slot")
        if self.fixed is not None:
            names.append("fixed")
        if isinstance(self.objective, CarbonObjective) and self.objective.limits.told():
            names.append("limits")
        return tuple(names)

    @property
    def zone_of_cluster(self) -> IntArray:
        """Row of each cluster's zone in the carbon signal, shape (M,)."""
        return np.array([self.carbon.index(zone) for zone in self.clusters.zone], dtype=np.int64)

    @property
    def eligible(self) -> BoolArray:
        """a_ij spelled out, shape (N, M)."""
        if self.jobs.eligible is not None:
            return self.jobs.eligible
        return np.ones((len(self.jobs), len(self.clusters)), dtype=np.bool_)

    def with_objective(self, objective: Objective) -> MospInstance:
        """Return the same jobs and clusters under another objective."""
        return replace(self, objective=objective)

    @classmethod
    def usual(cls) -> dict[str, Any]:
        """Return the carbon objective with its weights."""
        return {"objective": CarbonObjective()}

    def data(self) -> dict[str, Any]:
        """Return clusters, jobs and objective as the file holds them."""
        clusters = self.clusters
        jobs = self.jobs
        starts = clusters.max_starts_per_slot
        return {
            "clusters": {
                "name": clusters.name,
                "zone": clusters.zone,
                "capacity": {
                    name: [_shortest(row) for row in clusters.capacity[:, r]] for r, name in enumerate(self.resources)
                },
                "watts_per_unit": {name: clusters.watts_per_unit[:, r] for r, name in enumerate(self.resources)},
                **({} if starts is None else {"max_starts_per_slot": starts}),  # absent, the hash is as ever
            },
            "jobs": {
                "name": jobs.name,
                "arrival": jobs.arrival,
                "duration": jobs.duration,
                "deadline": jobs.deadline,
                "demand": {name: jobs.demand[:, r] for r, name in enumerate(self.resources)},
                "eligible": None
                if jobs.eligible is None
                else [[clusters.name[j] for j in np.flatnonzero(row)] for row in jobs.eligible],
            },
            "objective": self.objective.to_dict(),
            **({} if self.fixed is None else {"fixed": self.fixed.to_dict()}),
            **({} if self.energy_price is None else {"energy_price": self.energy_price.to_dict()}),
        }

    def features(self) -> dict[str, Any]:
        """Return size, load and tightness: what makes an instance easy or hard."""
        jobs = self.jobs
        clusters = self.clusters
        work = [fsum(demand * jobs.duration) for demand in jobs.demand.T]
        offered = [fsum(capacity.ravel()) for capacity in clusters.capacity.transpose(1, 0, 2)]
        slack = jobs.deadline - jobs.arrival - jobs.duration
        return {
            "jobs": len(jobs),
            "clusters": len(clusters),
            "slots": self.time.slots,
            "slot_hours": self.time.slot_hours,
            "resources": list(self.resources),
            "objective": self.objective.kind,
            "load": {name: w / c if c else None for name, w, c in zip(self.resources, work, offered, strict=True)},
            "mean_duration_slots": exact_mean(jobs.duration),
            "mean_slack_slots": exact_mean(slack),
            "restricted_jobs": 0 if jobs.eligible is None else int((~jobs.eligible.all(axis=1)).sum()),
            "mean_g_per_kwh": dict(zip(self.carbon.zones, map(exact_mean, self.carbon.g_per_kwh), strict=True)),
        }


def _shortest(capacity: FloatArray) -> Any:
    if bool((capacity == capacity[0]).all()):
        return capacity[0]
    return capacity


def _raise(faults: list[Any]) -> None:
    if faults:
        raise InputError(faults)


def without_objective(instance: MospInstance) -> MospInstance:
    """Return the instance in which nothing costs anything, and jobs are rejected only where they may be."""
    price = None if instance.objective.rejection_cost == float("inf") else 0.0
    return replace(instance, objective=CarbonObjective(0.0, 0.0, 0.0, price))
