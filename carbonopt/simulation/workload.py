"""What is simulated: jobs, and the pools that they run on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.errors import Fault, InputError, shown

Speed = Callable[[int, float], float]
"""Work that a job does in a unit of time with so many units: ``speed(job, units)``."""


@dataclass(frozen=True, eq=False)
class Workload:
    """Jobs of a simulation, in any unit of time (hours, unless a problem says otherwise).

    Parameters
    ----------
    arrival
        Shape (N,), at least 0.
    work
        Time that each job runs at speed 1, shape (N,), above 0.
    units
        What each job takes of a pool unless an action says otherwise, shape (N,), above 0.
    name
        For messages; None for the jobs' positions.
    expected_work
        What a policy may know of the work, shape (N,): a job's class may have a mean that is known.
        None where policies know the work itself.
    speed
        None where every job runs at speed 1 whatever it has.
    restart
        Time that a job runs without progress at each start after its first, and where it is scaled or
        migrated, shape (N,); None where that is free.

    Raises
    ------
    InputError
        For a column of another length and for values out of range, all at once.
    """

    arrival: FloatArray
    work: FloatArray
    units: FloatArray
    name: tuple[str, ...] | None = None
    expected_work: FloatArray | None = None
    speed: Speed | None = None
    restart: FloatArray | None = None

    def __post_init__(self) -> None:
        for column in ("arrival", "work", "units", "expected_work", "restart"):
            if getattr(self, column) is not None:
                object.__setattr__(self, column, frozen_float(getattr(self, column)))
        if self.expected_work is None:
            object.__setattr__(self, "expected_work", self.work)
        faults = list(self._faults())
        if faults:
            raise InputError(faults)

    def _faults(self) -> list[Fault]:
        found = []
        for column, floor in (("arrival", True), ("work", False), ("units", False), ("restart", True)):
            values = getattr(self, column)
            if values is None:
                continue
            if values.shape != (len(self),):
                found.append(Fault(column, f"must have one entry for each of the {len(self)} jobs"))
                continue
            for row in np.flatnonzero(~(np.isfinite(values) & ((values >= 0) if floor else (values > 0)))):
                if floor:
                    words = "must be finite and at least 0"
                else:
                    words = "must be finite and above 0"
                found.append(Fault(column, words, shown(float(values[row])), int(row)))
        return found

    def __len__(self) -> int:
        return self.arrival.size

    def label(self, job: int) -> str:
        """Return what messages call a job."""
        return repr(self.name[job]) if self.name is not None else str(job)


@dataclass(frozen=True, eq=False)
class Pool:
    """Something that jobs run on: reserved, on-demand or spot CPUs, a cluster, a set of GPUs.

    What it costs and emits is the problem's matter, which finds the pool by its name in the log.

    Parameters
    ----------
    name
        E.g. ``reserved``.
    capacity
        Units: a number, one number a slot, or None where there is no end of them.
    slot
        Length of the slots of a capacity that varies; its last value holds on.
    evictions
        Chance that a running job is evicted, per unit of time (a constant hazard). It loses all that it
        has done.
    startup
        Time at the beginning of each run in which its units are taken and the job makes no progress.
    """

    name: str
    capacity: float | npt.ArrayLike | None = None
    slot: float = 1.0
    evictions: float = 0.0
    startup: float = 0.0

    def __post_init__(self) -> None:
        limit = np.atleast_1d(np.asarray(np.inf if self.capacity is None else self.capacity, dtype=np.float64))
        faults = []
        if limit.ndim != 1 or not limit.size or not (limit >= 0).all():
            faults.append(Fault(f"{self.name}.capacity", "must be at least 0 in each slot"))
        for field in ("evictions", "startup"):
            value = getattr(self, field)
            if not 0 <= value < np.inf:
                faults.append(Fault(f"{self.name}.{field}", "must be finite and at least 0", shown(value)))
        if not 0 < self.slot < np.inf:
            faults.append(Fault(f"{self.name}.slot", "must be finite and above 0", shown(self.slot)))
        if faults:
            raise InputError(faults)
        object.__setattr__(self, "_limit", limit)

    def changes(self) -> list[tuple[float, float]]:
        """Return the times at which the capacity changes, each with what it is from then on; the first is 0."""
        limit: FloatArray = self.__dict__["_limit"]
        first = np.flatnonzero(np.concatenate(([True], np.diff(limit) != 0)))
        return [(float(slot * self.slot), float(limit[slot])) for slot in first]
