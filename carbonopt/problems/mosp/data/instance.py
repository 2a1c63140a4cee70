"""Data of the multi-objective scheduling and placement problem (Caspian, section II-A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, exact_mean, frozen_float, frozen_int
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import SlotJobTable
from carbonopt.problems.mosp.data import validate
from carbonopt.problems.mosp.data.fixed import FixedRuns, fixed_faults, overload_faults

CAPACITY_ROUNDING = 1e-9
"""Excess of a load over a capacity that counts as rounding, relative to the capacity; the same everywhere."""
LIMIT_ROUNDING = 1e-6
"""Excess of a quantity over its limit that counts as rounding, relative to the limit: it is a sum over all jobs."""


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


@dataclass(frozen=True)
class Limits:
    """Most of each quantity that a schedule may take (epsilon-constraints); None for no limit.

    Parameters
    ----------
    carbon_kg, energy_cost, tardiness_slots
        Of the metrics with these names.
    """

    carbon_kg: float | None = None
    energy_cost: float | None = None
    tardiness_slots: float | None = None

    def told(self) -> dict[str, float]:
        """Return the limits that are there, by quantity."""
        return {name: limit for name, limit in vars(self).items() if limit is not None}

    def allowed(self) -> dict[str, float]:
        """Return by quantity what still counts as within its limit."""
        return {name: limit + LIMIT_ROUNDING * max(abs(limit), LIMIT_ROUNDING) for name, limit in self.told().items()}


@dataclass(frozen=True)
class CarbonObjective:
    """Minimise carbon, tardiness, completion time and the cost of energy; every job runs or is paid for.

    Parameters
    ----------
    carbon_kg, tardiness_slots, completion_slots
        Weights omega_1..omega_3 of the sums over jobs.
    rejection_price
        Cost of a job that does not run; None: every job must run.
    energy_cost
        Weight of what the energy costs [1/currency]; above 0 the instance needs an `energy_price`.
    limits
        Most carbon, energy cost and tardiness.
    """

    carbon_kg: float = 1.0
    tardiness_slots: float = 0.1
    completion_slots: float = 0.005
    rejection_price: float | None = None
    energy_cost: float = 0.0
    limits: Limits = Limits()

    kind: ClassVar[str] = "carbon"
    sense: ClassVar[str] = "min"

    @property
    def rejection_cost(self) -> float:
        """Cost of a rejected job: `rejection_price`, or infinite where every job must run."""
        if self.rejection_price is None:
            return float("inf")
        return self.rejection_price

    def to_dict(self) -> dict[str, Any]:
        """Return the objective as the file holds it."""
        weights = {name: getattr(self, name) for name in ("carbon_kg", "tardiness_slots", "completion_slots")}
        if self.energy_cost:  # absent, the hash is as ever
            weights["energy_cost"] = self.energy_cost
        limits = {"limits": self.limits.told()} if self.limits.told() else {}
        return {"kind": self.kind, "weights": weights, "rejection_price": self.rejection_price, **limits}


@dataclass(frozen=True)
class CaspianObjective:
    """Maximise the paper's Z = sum_k omega_k Z_k / Zbar_k (section III).

    Parameters
    ----------
    z1, z2, z3
        Weights omega_k: of clean load, of meeting deadlines, of early completion.
    normalizers
        Zbar_k, the largest value of each Z_k alone; None: the LP optimum of each, computed once
        and recorded in the solution.
    """

    z1: float = 0.5
    z2: float = 1.0
    z3: float = 1.0
    normalizers: tuple[float, float, float] | None = None

    kind: ClassVar[str] = "caspian"
    sense: ClassVar[str] = "max"
    rejection_cost: ClassVar[float] = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the objective as the file holds it."""
        weights = {"z1": self.z1, "z2": self.z2, "z3": self.z3}
        if self.normalizers is None:
            bars = None
        else:
            bars = dict(zip(weights, self.normalizers, strict=True))
        return {"kind": self.kind, "weights": weights, "normalizers": bars}


Objective = CarbonObjective | CaspianObjective


def make_objective(
    kind: str, weights: Sequence[float] | None = None, rejection_price: float | None = None
) -> Objective:
    """Return an objective by name.

    Parameters
    ----------
    kind
        ``carbon`` or ``caspian``.
    weights
        The three weights in the order of the class; None for its defaults.
    rejection_price
        For the carbon objective only.

    Raises
    ------
    UnsupportedError
        If there is no such kind, or there are not three weights.
    """
    if kind not in ("carbon", "caspian"):
        raise UnsupportedError(f"unknown objective {kind!r}: must be 'carbon' or 'caspian'")
    if weights is not None and len(weights) != 3:
        raise UnsupportedError(f"weights {shown(tuple(weights))}: must be three numbers")
    if kind == "caspian":
        if weights is None:
            return CaspianObjective()
        return CaspianObjective(weights[0], weights[1], weights[2])
    if weights is None:
        return CarbonObjective(rejection_price=rejection_price)
    return CarbonObjective(weights[0], weights[1], weights[2], rejection_price)


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
    """Return the instance in which nothing costs anything, and jobs stay out only where they may."""
    price = None if instance.objective.rejection_cost == float("inf") else 0.0
    return replace(instance, objective=CarbonObjective(0.0, 0.0, 0.0, price))
