"""What an instance of purchasing holds beside jobs and carbon: prices, spot CPUs, queues, weights and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carbonopt.core.errors import InputError
from carbonopt.problems.purchasing.data import validate


def refuse(faults: list[Any]) -> None:
    """Raise an error that tells the faults, if there are any."""
    if faults:
        raise InputError(faults)


@dataclass(frozen=True)
class Prices:
    """What a CPU costs.

    Parameters
    ----------
    on_demand_usd_per_cpu_hour
        p_od, paid for use.
    reserved_fraction
        Share of p_od that a reserved CPU costs, paid in advance for every hour of the horizon.
    spot_fraction
        Share of p_od that a spot CPU costs, paid for use.
    """

    on_demand_usd_per_cpu_hour: float = 0.0624
    reserved_fraction: float = 0.4
    spot_fraction: float = 0.2

    def __post_init__(self) -> None:
        refuse(validate.price_faults(self))

    @property
    def reserved_usd_per_cpu_hour(self) -> float:
        """p_res."""
        return self.reserved_fraction * self.on_demand_usd_per_cpu_hour

    @property
    def spot_usd_per_cpu_hour(self) -> float:
        """p_sp."""
        return self.spot_fraction * self.on_demand_usd_per_cpu_hour


@dataclass(frozen=True)
class Spot:
    """What spot CPUs are offered for.

    An evicted job loses all that it has done and restarts at once, on demand, for its whole length.

    Parameters
    ----------
    max_length_hours
        J^max: jobs up to this length may run on spot CPUs [h].
    evictions_per_hour
        Hazard h of a running job's eviction; a chance q in each hour is h = -ln(1 - q).
    """

    max_length_hours: float = 2.0
    evictions_per_hour: float = 0.0

    def __post_init__(self) -> None:
        refuse(validate.spot_faults(self))


@dataclass(frozen=True)
class Queue:
    """Jobs that share a waiting limit.

    Parameters
    ----------
    name
        E.g. ``short``.
    max_length_hours
        Longest job of the queue [h]; infinite for the last one.
    max_wait_hours
        W: the longest time from arrival to start [h].
    """

    name: str
    max_length_hours: float
    max_wait_hours: float

    def __post_init__(self) -> None:
        refuse(validate.queue_faults(self))


GAIA_QUEUES = (Queue("short", 2.0, 6.0), Queue("long", float("inf"), 24.0))


@dataclass(frozen=True)
class Weights:
    """What the objective adds up.

    Parameters
    ----------
    carbon_kg, cost_usd, wait_hours
        Price of a kilogram of CO2eq, of a dollar, and of an hour that a job waits.
    """

    carbon_kg: float = 1.0
    cost_usd: float = 1.0
    wait_hours: float = 0.0

    def __post_init__(self) -> None:
        refuse(validate.weight_faults(self))


@dataclass(frozen=True)
class Limits:
    """Upper limits on what the objective adds up (epsilon-constraints); None for no limit.

    Parameters
    ----------
    carbon_kg, cost_usd, mean_wait_hours
        Of all jobs together; the cost includes what is paid in advance.
    """

    carbon_kg: float | None = None
    cost_usd: float | None = None
    mean_wait_hours: float | None = None

    def __post_init__(self) -> None:
        refuse(validate.limit_faults(self))

    def __bool__(self) -> bool:
        return any(value is not None for value in vars(self).values())
