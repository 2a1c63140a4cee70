"""What `generate` and `convert` are told of a purchasing instance, whatever its jobs are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, prefix_sums
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import InputError, UnsupportedError, one_of, shown
from carbonopt.core.time import format_utc
from carbonopt.io.convert import ROUNDING_SLOTS
from carbonopt.problems.purchasing.data import validate
from carbonopt.problems.purchasing.data.instance import (
    GAIA_QUEUES,
    MODELS,
    Prices,
    PurchasingInstance,
    PurchasingJobs,
    Queue,
    Spot,
    Weights,
)

WAIT_WEIGHT = 0.005
"""What an hour of mean wait counts, in units of the carbon or cost of running every job at once on demand."""


@dataclass(frozen=True)
class Terms:
    """Prices, purchase options, queues and objective.

    Parameters
    ----------
    reserved, reserved_share, decide_reserved
        Reserved CPUs; or as a share of the mean demand while jobs arrive, rounded; or to be decided with
        the rest. At most one of the three; by default half of the mean demand in a generated instance,
        none in a converted one.
    queues
        `Queue` objects or text such as ``short:2:6,long:inf:24``: name, longest job [h], longest wait [h].
    spot_max_length_hours, evictions_per_hour
        Either offers spot CPUs: by default for jobs of at most 2 h, without evictions.
    model
        ``splitting``, ``no-split`` or ``suspend-resume``.
    weights
        Of a kilogram of CO2eq, a dollar, and an hour of a job's wait. None: such that carbon and cost of
        running every job at its arrival on demand count 1 each, and an hour of mean wait 0.005.
    watts_per_cpu
        Power of a running CPU [W].
    on_demand_usd_per_cpu_hour, reserved_fraction, spot_fraction
        See `Prices`.

    Raises
    ------
    UnsupportedError
        For a queue, share or combination that makes no sense.
    InputError
        For every number out of range.
    """

    reserved: int | None = None
    reserved_share: float | None = None
    decide_reserved: bool = False
    queues: str | Sequence[Queue] = GAIA_QUEUES
    spot_max_length_hours: float | None = None
    evictions_per_hour: float | None = None
    model: str = "splitting"
    weights: Sequence[float] | None = None
    watts_per_cpu: float = 1.0
    on_demand_usd_per_cpu_hour: float = Prices.on_demand_usd_per_cpu_hour
    reserved_fraction: float = Prices.reserved_fraction
    spot_fraction: float = Prices.spot_fraction

    def __post_init__(self) -> None:
        if isinstance(self.queues, str):
            queues = parse_queues(self.queues)
        else:
            queues = tuple(self.queues)
        object.__setattr__(self, "queues", queues)
        if self.model not in MODELS:
            raise UnsupportedError(f"unknown model {self.model!r}: must be {one_of(MODELS)}")
        if (self.reserved is not None) + (self.reserved_share is not None) + self.decide_reserved > 1:
            raise UnsupportedError("only one of reserved, reserved_share and decide_reserved may be given")
        if self.reserved_share is not None and not 0 <= self.reserved_share < np.inf:
            raise UnsupportedError(f"reserved_share = {shown(self.reserved_share)}: must be at least 0")
        if self.weights is not None and len(self.weights) != 3:
            words = "must be three numbers: of a kg, of a dollar, and of an hour of wait"
            raise UnsupportedError(f"weights = {shown(tuple(self.weights))}: {words}")
        faults = [
            *validate.scalar_faults(self.reserved, self.watts_per_cpu, self.model),
            *validate.order_faults(queues),
        ]
        for part in (lambda: self.prices, lambda: self.spot, lambda: self.weights and Weights(*self.weights)):
            try:
                part()
            except InputError as error:
                faults += error.faults
        if faults:
            raise InputError(faults)

    @property
    def says_reserved(self) -> bool:
        """Whether the reserved CPUs are told in one way or another."""
        return self.reserved is not None or self.reserved_share is not None or self.decide_reserved

    @property
    def prices(self) -> Prices:
        """What a CPU costs."""
        return Prices(self.on_demand_usd_per_cpu_hour, self.reserved_fraction, self.spot_fraction)

    @cached_property
    def spot(self) -> Spot | None:
        """What spot CPUs are offered for; None where they are not."""
        given = {"max_length_hours": self.spot_max_length_hours, "evictions_per_hour": self.evictions_per_hour}
        told = {key: value for key, value in given.items() if value is not None}
        return Spot(**told) if told else None

    def queue_of(self, length_hours: FloatArray) -> IntArray:
        """Return the position of the queue of jobs of these lengths, shape (N,)."""
        edges = np.array([queue.max_length_hours for queue in self._queues[:-1]])
        return np.searchsorted(edges, length_hours, side="left").astype(np.int64)

    def window_ends(self, arrival_hours: FloatArray, length_hours: FloatArray) -> FloatArray:
        """Return when each job has ended at the latest, evictions included [h], shape (N,)."""
        waits = np.array([queue.max_wait_hours for queue in self._queues])
        ends: FloatArray = arrival_hours + waits[self.queue_of(length_hours)] + length_hours
        return ends + self._again(length_hours)

    def horizon_slots(self, arrival_hours: FloatArray, length_hours: FloatArray, slot_hours: float) -> float:
        """Return the slots that windows and views of policies need, and one more.

        A policy that knows the mean length of a job's queue looks ahead as far as a job of that length
        might run.
        """
        queue = self.queue_of(length_hours)
        mean = np.bincount(queue, length_hours) / np.maximum(1, np.bincount(queue))
        ends = self.window_ends(arrival_hours, length_hours) + np.maximum(0, mean[queue] - length_hours)
        return float(np.ceil(ends.max() / slot_hours - ROUNDING_SLOTS)) + 1

    def instance(
        self, name: str, provenance: dict[str, Any], carbon: CarbonSignal, jobs: PurchasingJobs, mean_cpus: float
    ) -> PurchasingInstance:
        """Return the instance of some jobs, whose mean demand while they arrive is `mean_cpus`."""
        reserved = self.reserved or 0
        if self.reserved_share is not None:
            reserved = round(self.reserved_share * mean_cpus)
        if self.weights is not None:
            weights = Weights(*self.weights)
        else:
            weights = self._weights(carbon, jobs)
        told = {
            "mean_cpus_while_jobs_arrive": mean_cpus,
            "weights": "given" if self.weights is not None else "carbon and cost of all jobs at once on demand are 1",
            "carbon_start": format_utc(carbon.time.start),
        }
        return PurchasingInstance(
            name=name,
            provenance=provenance | told,
            carbon=carbon,
            jobs=jobs,
            prices=self.prices,
            spot=self.spot,
            queues=self._queues,
            weights=weights,
            reserved_cpus=None if self.decide_reserved else reserved,
            watts_per_cpu=self.watts_per_cpu,
            model=self.model,
        )

    @property
    def _queues(self) -> tuple[Queue, ...]:
        assert isinstance(self.queues, tuple)
        return self.queues

    def _again(self, length_hours: FloatArray) -> FloatArray:
        """Return what an eviction may add to each job's run [h], shape (N,)."""
        if self.spot is None or not self.spot.evictions_per_hour:
            return np.zeros(len(length_hours))
        return np.where(length_hours <= self.spot.max_length_hours, length_hours, 0.0)

    def _weights(self, carbon: CarbonSignal, jobs: PurchasingJobs) -> Weights:
        """Return weights under which the baseline counts 1 in carbon and 1 in cost, to six digits."""
        slot = carbon.time.slot_hours
        edges = slot * np.arange(carbon.time.slots + 1)
        sums = slot * prefix_sums(carbon.g_per_kwh[0])
        start, end = (
            np.interp(moment, edges, sums) for moment in (jobs.arrival_hours, jobs.arrival_hours + jobs.length_hours)
        )
        kg = float(jobs.cpus @ (end - start)) * self.watts_per_cpu / 1e6
        usd = float(jobs.cpus @ jobs.length_hours) * self.on_demand_usd_per_cpu_hour
        parts = (1 / kg if kg else 1.0, 1 / usd if usd else 1.0, WAIT_WEIGHT / len(jobs))
        return Weights(*(float(f"{part:.6g}") for part in parts))


def parse_queues(text: str) -> tuple[Queue, ...]:
    """Return the queues that a text such as ``short:2:6,long:inf:24`` tells.

    Examples
    --------
    >>> parse_queues("short:2:6,long:inf:24") == GAIA_QUEUES
    True
    """
    queues = []
    for part in text.split(","):
        name, *numbers = part.split(":")
        try:
            longest, wait = map(float, numbers)
        except ValueError:
            words = "must be name:longest job:longest wait in hours, e.g. short:2:6,long:inf:24"
            raise UnsupportedError(f"queues: {part!r}: {words}") from None
        queues.append(Queue(name.strip(), longest, wait))
    return tuple(queues)
