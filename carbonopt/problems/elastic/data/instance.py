"""Data of the elastic allocation problem (CarbonFlex, sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, exact_mean, frozen_float, frozen_int
from carbonopt.core.errors import InputError
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import SlotJobTable
from carbonopt.problems.elastic.data import validate

ROUNDING = 1e-9
"""Missing work, and load above a capacity, that count as rounding, relative; the same everywhere."""
MODELS = ("integer", "fluid")
"""Whole servers for whole slots, or parts of a slot."""


@dataclass(frozen=True, eq=False)
class Profile:
    """How a job scales: what each unit of servers adds.

    Unit 0 is the base of `k_min` servers; each further unit is one server.

    Parameters
    ----------
    name
        E.g. ``nbody100k``.
    k_min
        Servers of the base unit, at least 1.
    marginal_throughput
        p(k): work that each unit adds in a slot [slots of work at k_min], shape (U,): first 1, not
        increasing, above 0.
    marginal_watts
        Power that each unit adds [W], shape (U,).
    marginal_gbps
        Network traffic that each unit adds [Gbit/s], shape (U,); None where it is not modelled.
    """

    name: str
    k_min: int
    marginal_throughput: FloatArray
    marginal_watts: FloatArray
    marginal_gbps: FloatArray | None = None

    def __post_init__(self) -> None:
        for field in ("marginal_throughput", "marginal_watts", "marginal_gbps"):
            if getattr(self, field) is not None:
                object.__setattr__(self, field, frozen_float(getattr(self, field)))
        _raise(validate.profile_faults(self))

    def __len__(self) -> int:
        return len(self.marginal_throughput)

    @property
    def k_max(self) -> int:
        """The most servers that a job of this profile can use."""
        return self.k_min + len(self) - 1

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as the file holds it."""
        return {
            "k_min": self.k_min,
            "marginal_throughput": self.marginal_throughput,
            "marginal_watts": self.marginal_watts,
            "marginal_gbps": self.marginal_gbps,
        }


@dataclass(frozen=True, eq=False)
class Cluster:
    """One homogeneous cluster.

    Parameters
    ----------
    capacity
        M_t [servers], shape (T,), or one number where it is constant.
    zone
        Its zone in the carbon signal.
    network_watts_per_gbps
        eta_net: power that moving data takes [W per Gbit/s] (CarbonFlex, equations (2)-(3)).
    """

    capacity: FloatArray
    zone: str
    network_watts_per_gbps: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "capacity", frozen_float(self.capacity))
        _raise(validate.cluster_faults(self))

    @property
    def limit(self) -> FloatArray:
        """Load that counts as within capacity [servers], shape as `capacity`."""
        return self.capacity * (1 + ROUNDING)

    def over(self, slots: int) -> Cluster:
        """Return the cluster with its capacity spelled out over `slots`."""
        if self.capacity.ndim == 0:
            return replace(self, capacity=np.broadcast_to(self.capacity, (slots,)))
        return self


@dataclass(frozen=True, eq=False, repr=False)
class ElasticJobs(SlotJobTable):
    """Jobs that may be suspended, resumed and scaled from slot to slot.

    Parameters
    ----------
    length
        l_j: slots of work at scale k_min, above 0, shape (N,).
    slack
        d_j: slots by which a job may end later than if it ran at k_min from its arrival on, shape (N,).
    profile
        Name of the profile of each of the N jobs.
    """

    length: FloatArray
    slack: IntArray
    profile: tuple[str, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "length", frozen_float(self.length))
        object.__setattr__(self, "slack", frozen_int(self.slack, "jobs.slack"))
        object.__setattr__(self, "profile", tuple(self.profile))
        _raise(validate.job_faults(self))

    @property
    def required(self) -> FloatArray:
        """Work that counts as all of it [slots at k_min], shape (N,)."""
        return self.length * (1 - ROUNDING)

    @property
    def whole_slots(self) -> IntArray:
        """Slots that each job needs at k_min, shape (N,)."""
        return np.ceil(self.required).astype(np.int64)

    @property
    def window_end(self) -> IntArray:
        """End of each job's window W_j = [arrival, window_end), shape (N,)."""
        return self.arrival + self.whole_slots + self.slack


@dataclass(frozen=True, eq=False)
class Units:
    """The units of all profiles side by side, padded with NaN-free zeros beyond each profile's own.

    Parameters
    ----------
    count
        Units of each of the P profiles, shape (P,).
    servers, gain, kwh
        w, p and e of each unit: servers, work in a slot [slots at k_min], energy in a slot [kWh],
        shape (P, U).
    """

    count: IntArray
    servers: FloatArray
    gain: FloatArray
    kwh: FloatArray

    @cached_property
    def regular(self) -> bool:
        """Whether precedence is implied: one server a unit, gains not rising, energies not falling."""
        inner = np.arange(1, self.gain.shape[1])[None, :] < self.count[:, None]
        gains = np.diff(self.gain, axis=1)
        energies = np.diff(self.kwh, axis=1)
        return bool((self.servers[:, 0] == 1).all() and (gains[inner] <= 0).all() and (energies[inner] >= 0).all())


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ElasticInstance(Instance):
    """How many servers each elastic job gets in each slot.

    Parameters
    ----------
    cluster, profiles, jobs
        See their classes.
    model
        ``integer``: whole servers for whole slots. ``fluid``: levels are time-shared within a slot.
    switching_g_per_server
        Carbon charged for each server that a job gains or loses between slots [g]; integer model only.

    Raises
    ------
    InputError
        For every inconsistency between the parts, all at once.
    """

    problem: ClassVar[str] = "elastic"

    cluster: Cluster
    profiles: tuple[Profile, ...]
    jobs: ElasticJobs
    model: str = "integer"
    switching_g_per_server: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "profiles", tuple(self.profiles))
        _raise(validate.model_faults(self.model, self.switching_g_per_server))
        _raise(validate.cross_faults(self.carbon, self.cluster, self.profiles, self.jobs))
        object.__setattr__(self, "cluster", self.cluster.over(self.time.slots))

    @property
    def sense(self) -> str:
        """Always ``min``."""
        return "min"

    @cached_property
    def intensity(self) -> FloatArray:
        """CI_t of the cluster's zone [g/kWh], shape (T,)."""
        return np.asarray(self.carbon.g_per_kwh[self.carbon.index(self.cluster.zone)])

    @cached_property
    def servers_to_give(self) -> FloatArray:
        """Servers that a formulation may give away in each slot, shape (T,): whole ones in the integer model."""
        if self.model == "integer":
            return np.floor(self.cluster.limit)
        return self.cluster.capacity

    @cached_property
    def profile_of_job(self) -> IntArray:
        """Position of each job's profile in `profiles`, shape (N,)."""
        index = {profile.name: number for number, profile in enumerate(self.profiles)}
        return np.array([index[name] for name in self.jobs.profile], dtype=np.int64)

    @cached_property
    def units(self) -> Units:
        """The units of all profiles."""
        count = np.array([len(profile) for profile in self.profiles], dtype=np.int64)
        shape = (len(count), int(count.max(initial=1)))
        servers = np.zeros(shape)
        gain = np.zeros(shape)
        kwh = np.zeros(shape)
        for number, profile in enumerate(self.profiles):
            size = len(profile)
            servers[number, :size] = 1.0
            servers[number, 0] = profile.k_min
            gain[number, :size] = profile.marginal_throughput
            watts = np.array(profile.marginal_watts)
            if profile.marginal_gbps is not None:
                watts += self.cluster.network_watts_per_gbps * profile.marginal_gbps
            kwh[number, :size] = watts / 1000 * self.time.slot_hours
        return Units(count, servers, gain, kwh)

    def with_model(self, model: str) -> ElasticInstance:
        """Return the same jobs and cluster under the other model."""
        return replace(self, model=model)

    def with_slack(self, slack: IntArray) -> ElasticInstance:
        """Return the same instance with other slacks [slots], shape (N,)."""
        return replace(self, jobs=replace(self.jobs, slack=slack))

    @classmethod
    def usual(cls) -> dict[str, Any]:
        """Return the model of whole servers."""
        return {"model": cls.model}

    def data(self) -> dict[str, Any]:
        """Return cluster, profiles, jobs, objective and model as the file holds them."""
        capacity = self.cluster.capacity
        jobs = self.jobs
        return {
            "cluster": {
                "capacity": capacity[0] if bool((capacity == capacity[0]).all()) else capacity,
                "zone": self.cluster.zone,
                "network_watts_per_gbps": self.cluster.network_watts_per_gbps,
            },
            "profiles": {profile.name: profile.to_dict() for profile in self.profiles},
            "jobs": {
                "name": jobs.name,
                "arrival": jobs.arrival,
                "length": jobs.length,
                "slack": jobs.slack,
                "profile": jobs.profile,
            },
            "objective": {"switching_g_per_server": self.switching_g_per_server},
            "model": self.model,
        }

    @property
    def constraints(self) -> tuple[str, ...]:
        """``switching price``, which couples the slots of a job, where the instance has one."""
        return ("switching price",) if self.switching_g_per_server > 0 else ()

    def features(self) -> dict[str, Any]:
        """Return size, load and tightness: what makes an instance easy or hard."""
        jobs, units = self.jobs, self.units
        used = self.profile_of_job
        base = fsum(jobs.length * units.servers[used, 0])
        offered = fsum(self.cluster.capacity)
        width = jobs.window_end - jobs.arrival
        return {
            "jobs": len(jobs),
            "slots": self.time.slots,
            "slot_hours": self.time.slot_hours,
            "model": self.model,
            "units": int((width * units.count[used]).sum()),
            "profiles": {profile.name: jobs.profile.count(profile.name) for profile in self.profiles},
            "k_max": int(max(profile.k_max for profile in self.profiles)),
            "load": base / offered if offered else None,
            "mean_length_slots": exact_mean(jobs.length),
            "mean_slack_slots": exact_mean(jobs.slack),
            "mean_g_per_kwh": exact_mean(self.intensity),
        }


def _raise(faults: list[Any]) -> None:
    if faults:
        raise InputError(faults)
