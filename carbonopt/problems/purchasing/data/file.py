"""The purchasing instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from carbonopt.io.columns import column_faults, duplicate_faults, names_at, part
from carbonopt.io.schema import (
    AboveZero,
    CarbonSection,
    InstanceReading,
    Name,
    NonNegative,
    SchemaVersion,
    Section,
    TimeSection,
    Whole,
)
from carbonopt.problems.purchasing.data import validate
from carbonopt.problems.purchasing.data.instance import (
    Limits,
    Prices,
    PurchasingInstance,
    PurchasingJobs,
    Queue,
    Spot,
    Weights,
)


class PriceSection(Section):
    """Field ``prices``."""

    on_demand_usd_per_cpu_hour: NonNegative
    reserved_fraction: NonNegative = Field(description="of the on-demand price, paid for every hour of the horizon")
    spot_fraction: NonNegative = Field(description="of the on-demand price")


class SpotSection(Section):
    """Field ``spot``."""

    max_length_hours: NonNegative = Field(description="longest job that may run on spot CPUs")
    evictions_per_hour: NonNegative = Field(description="hazard of a running job's eviction")


class QueueSection(Section):
    """One entry of field ``queues``."""

    max_length_hours: AboveZero | None = Field(description="longest job of the queue; null for jobs of any length")
    max_wait_hours: NonNegative = Field(description="longest time from arrival to start")

    def build(self, name: str) -> Queue:
        """Return the queue."""
        longest = np.inf if self.max_length_hours is None else self.max_length_hours
        return Queue(name, longest, self.max_wait_hours)


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival_hours: list[NonNegative] = Field(description="since the beginning of slot 0")
    length_hours: list[AboveZero]
    cpus: list[AboveZero]

    def build(self) -> PurchasingJobs:
        """Return the jobs."""
        columns = (self.arrival_hours, self.length_hours, self.cpus)
        return PurchasingJobs(tuple(self.name), *(np.array(column, dtype=float) for column in columns))


class WeightSection(Section):
    """Field ``objective.weights``: sums over jobs."""

    carbon_kg: NonNegative
    cost_usd: NonNegative
    wait_hours: NonNegative


class LimitSection(Section):
    """Field ``objective.limits``: of all jobs together; null for none."""

    carbon_kg: NonNegative | None = None
    cost_usd: NonNegative | None = Field(default=None, description="with what is paid in advance")
    mean_wait_hours: NonNegative | None = None


class ObjectiveSection(Section):
    """Field ``objective``: minimise the weighted sum, within limits."""

    weights: WeightSection
    limits: LimitSection = Field(default_factory=LimitSection)


class PurchasingFile(Section):
    """A purchasing instance."""

    schema_version: SchemaVersion
    problem: Literal["purchasing"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: CarbonSection
    zone: Name | None = Field(default=None, description="of the carbon signal; null for its only one")
    prices: PriceSection
    reserved_cpus: Whole | None = Field(description="null where they are to be decided")
    watts_per_cpu: NonNegative
    spot: SpotSection | None = Field(default=None, description="null where no spot CPUs are offered")
    queues: Annotated[dict[Name, QueueSection], Field(min_length=1)]
    jobs: JobSection
    objective: ObjectiveSection
    model: Literal["splitting", "no-split", "suspend-resume"] = "splitting"


def from_dict(raw: dict[str, Any]) -> PurchasingInstance:
    """Return the instance that a file's content stands for.

    The queues may stand in any order, as the fields of a JSON object do: their lengths order them.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    """
    faults = InstanceReading(raw, PurchasingFile)
    prices = faults.section(PriceSection, raw, "prices")
    queues = _queues(faults)
    jobs = faults.section(JobSection, raw, "jobs")
    objective = faults.section(ObjectiveSection, raw, "objective")
    spot = faults.section(SpotSection, raw, "spot") if raw.get("spot") is not None else None
    rest = faults.fields("zone", "reserved_cpus", "watts_per_cpu", "model")
    _shape_faults(faults)
    faults.raise_if_any()
    assert prices is not None
    assert queues is not None
    assert jobs is not None
    assert objective is not None
    assert rest is not None
    return PurchasingInstance(
        **faults.common(),
        **rest,
        jobs=jobs.build(),
        prices=Prices(**vars(prices)),
        spot=None if spot is None else Spot(**vars(spot)),
        queues=queues,
        weights=Weights(**vars(objective.weights)),
        limits=Limits(**vars(objective.limits)),
    )


def _queues(faults: InstanceReading) -> tuple[Queue, ...] | None:
    """Return the queues by increasing length, None after noting their faults."""
    found = faults.fields("queues")
    if found is None:
        return None
    built = [section.build(name) for name, section in found["queues"].items()]
    queues = tuple(sorted(built, key=lambda queue: queue.max_length_hours))
    faults.found += validate.order_faults(queues)
    return queues


def _shape_faults(faults: InstanceReading) -> None:
    """Note every wrong length, duplicate, and unknown zone."""
    raw = faults.raw
    faults.found += column_faults(raw, "jobs", ["arrival_hours", "length_hours", "cpus"], [])
    faults.found += duplicate_faults(raw, "jobs", "name")
    zone = part(raw, "zone")
    zones = names_at(raw, "carbon", "zones")
    if zones and (zone is None or (isinstance(zone, str) and zone)):
        faults.found += validate.zone_faults(zone, tuple(zones))
