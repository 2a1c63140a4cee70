"""Data of energy-cost aware scheduling (CSPLib problem 059)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float, frozen_int
from carbonopt.core.errors import InputError
from carbonopt.core.instance import Instance
from carbonopt.core.jobs import SlotJobTable
from carbonopt.problems.ecas.data import validate

ANY = -1
"""Machine of a job that may run on any."""


@dataclass(frozen=True)
class Weights:
    """What the objective counts of the energy.

    Parameters
    ----------
    cost
        Weight of the money that the energy costs.
    carbon_kg
        Weight of a kilogram of its emissions.
    """

    cost: float = 1.0
    carbon_kg: float = 0.0


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines that are on or off in each slot, and off before the first slot and after the last.

    Parameters
    ----------
    name
        Names of the M machines, all different.
    capacity
        c_mr: units of each resource, shape (M, R).
    idle_kw
        idle_m: power of a machine that is on, without its jobs [kW], shape (M,).
    up_cost, down_cost
        up_m, down_m: of each start and each stop [objective], shape (M,).
    available
        Whether each machine may be on in each slot, shape (M, T); None where all may always be.
    """

    name: tuple[str, ...]
    capacity: IntArray
    idle_kw: FloatArray
    up_cost: FloatArray
    down_cost: FloatArray
    available: BoolArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", tuple(self.name))
        if self.available is not None:
            available = np.array(self.available, dtype=np.bool_)
            available.setflags(write=False)
            object.__setattr__(self, "available", available)
        object.__setattr__(self, "capacity", frozen_int(self.capacity, "machines.capacity"))
        for column in ("idle_kw", "up_cost", "down_cost"):
            object.__setattr__(self, column, frozen_float(getattr(self, column)))

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True, eq=False, repr=False)
class EcasJobs(SlotJobTable):
    """Jobs that run once, without a break, on one machine.

    Parameters
    ----------
    arrival
        e_j: the first slot in which each of the N jobs may run, shape (N,).
    duration
        d_j: slots, at least 1, shape (N,).
    deadline
        l_j: the job ends by the beginning of this slot, hard, shape (N,).
    power_kw
        p_j: power that the job adds to any machine [kW], shape (N,).
    use
        u_jr: units of each resource while the job runs, shape (N, R).
    machine
        The machine on which each job must run, `ANY` where it may run on any, shape (N,); None where all may. A job
        that runs already has a window of its length too.
    """

    duration: IntArray
    deadline: IntArray
    power_kw: FloatArray
    use: IntArray
    machine: IntArray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.machine is not None:
            object.__setattr__(self, "machine", frozen_int(self.machine, "jobs.machine"))
        for column in ("duration", "deadline", "use"):
            object.__setattr__(self, column, frozen_int(getattr(self, column), f"jobs.{column}"))
        object.__setattr__(self, "power_kw", frozen_float(self.power_kw))

    @property
    def last_start(self) -> IntArray:
        """The last slot in which each job may start, shape (N,)."""
        return self.deadline - self.duration


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class EcasInstance(Instance):
    """On which machine and when each job runs, and when each machine is on.

    Parameters
    ----------
    price_per_kwh
        f_t: price of energy, which may be negative, shape (T,).
    resources
        Names of the R resources.
    machines, jobs, weights
        See their classes.

    Raises
    ------
    InputError
        For every inconsistency between the parts, all at once.
    """

    problem: ClassVar[str] = "ecas"

    price_per_kwh: FloatArray
    resources: tuple[str, ...]
    machines: Machines
    jobs: EcasJobs
    weights: Weights = field(default_factory=Weights)

    def __post_init__(self) -> None:
        object.__setattr__(self, "price_per_kwh", frozen_float(self.price_per_kwh))
        object.__setattr__(self, "resources", tuple(self.resources))
        faults = list(validate.faults(self))
        if faults:
            raise InputError(faults)

    @property
    def sense(self) -> str:
        """``min``."""
        return "min"

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the optional constraints that this instance has."""
        given = {"machines.available": self.machines.available, "jobs.machine": self.jobs.machine}
        return tuple(name for name, value in given.items() if value is not None)

    @cached_property
    def value_per_kwh(self) -> FloatArray:
        """What a kilowatt hour adds to the objective by slot, shape (T,)."""
        value = self.weights.cost * self.price_per_kwh
        if self.carbon.zones:
            value = value + self.weights.carbon_kg * self.carbon.g_per_kwh[0] / 1000
        return frozen_float(value)

    @cached_property
    def job_kwh(self) -> FloatArray:
        """Energy of each job in one slot [kWh], shape (N,)."""
        return frozen_float(self.jobs.power_kw * self.time.slot_hours)

    @cached_property
    def idle_cost(self) -> FloatArray:
        """What a machine that is on adds to the objective by slot, shape (M, T)."""
        return frozen_float(np.outer(self.machines.idle_kw * self.time.slot_hours, self.value_per_kwh))

    @cached_property
    def fits(self) -> BoolArray:
        """Whether each job may run on each machine, which has room for it alone, shape (N, M)."""
        room = (self.jobs.use[:, None, :] <= self.machines.capacity).all(axis=2)
        if self.jobs.machine is not None:
            own = self.jobs.machine[:, None]
            room &= (own == ANY) | (own == np.arange(len(self.machines)))
        return np.asarray(room)

    def data(self) -> dict[str, Any]:
        """Return prices, machines and jobs as the file holds them."""
        machines, jobs = self.machines, self.jobs
        return {
            "price_per_kwh": self.price_per_kwh,
            "machines": {
                "name": machines.name,
                "capacity": dict(zip(self.resources, machines.capacity.T, strict=True)),
                "idle_kw": machines.idle_kw,
                "up_cost": machines.up_cost,
                "down_cost": machines.down_cost,
                **({} if machines.available is None else {"available": machines.available.astype(np.int64)}),
            },
            "jobs": {
                "name": jobs.name,
                "arrival": jobs.arrival,
                "duration": jobs.duration,
                "deadline": jobs.deadline,
                "power_kw": jobs.power_kw,
                "use": dict(zip(self.resources, jobs.use.T, strict=True)),
                **({} if jobs.machine is None else {"machine": self._names_of_machines(jobs.machine)}),
            },
            "objective": {"weights": {"cost": self.weights.cost, "carbon_kg": self.weights.carbon_kg}},
        }

    def _names_of_machines(self, machine: IntArray) -> list[str | None]:
        return [None if m == ANY else self.machines.name[m] for m in machine]

    def features(self) -> dict[str, Any]:
        """Return the size, and the load of the scarcest resource over the whole horizon."""
        room = self.machines.capacity.sum(axis=0, dtype=np.float64) * self.time.slots
        work = self.jobs.use.T.astype(np.float64) @ self.jobs.duration
        if room.all():
            load = float(np.max(work / np.maximum(room, 1e-300), initial=0.0))
        else:
            load = None
        size = {"jobs": len(self.jobs), "machines": len(self.machines), "resources": len(self.resources)}
        return {**size, "slots": self.time.slots, "load": load}
