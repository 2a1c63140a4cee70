"""The ecas instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from carbonopt.core.arrays import IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault
from carbonopt.core.memory import require_bytes
from carbonopt.core.ranges import LARGEST_NUMBER
from carbonopt.core.time import TimeGrid
from carbonopt.io.columns import column_faults, duplicate_faults, names_at, part, row_faults, unknown_faults
from carbonopt.io.schema import (
    CarbonSection,
    InstanceReading,
    Name,
    NonNegative,
    Positive,
    SchemaVersion,
    Section,
    TimeSection,
    Whole,
)
from carbonopt.problems.ecas.data.instance import ANY, EcasInstance, EcasJobs, Machines, Weights

BYTES_PER_SLOT = 64
"""Memory that a slot takes of a machine, and of the signals, rounded up [bytes]."""
Price = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER, allow_inf_nan=False)]


class OptionalCarbonSection(CarbonSection):
    """Field ``carbon``: one zone, or none where the carbon intensity is not known."""

    zones: Annotated[list[Name], Field(max_length=1)]

    def build(self, time: TimeGrid) -> CarbonSignal:
        """Return the carbon signal over `time`, with no row where there is no zone."""
        grams = np.array(self.g_per_kwh, dtype=float).reshape(len(self.zones), time.slots)
        return CarbonSignal(tuple(self.zones), grams, time)


class MachineSection(Section):
    """Field ``machines``: one entry a machine in every column."""

    name: list[Name]
    capacity: dict[Name, list[Whole]] = Field(description="per resource, per machine")
    idle_kw: list[NonNegative] = Field(description="power of a machine that is on, without its jobs")
    up_cost: list[NonNegative] = Field(description="of each start, in units of the objective")
    down_cost: list[NonNegative] = Field(description="of each stop, in units of the objective")
    available: list[list[Annotated[int, Field(ge=0, le=1)]]] | None = Field(
        default=None, description="per machine and slot: 1 where it may be on; by default always"
    )


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival: list[Whole] = Field(description="first slot in which the job may run")
    duration: list[Positive] = Field(description="slots")
    deadline: list[Whole] = Field(description="the job ends by the beginning of this slot")
    power_kw: list[NonNegative] = Field(description="power that the job adds to any machine")
    use: dict[Name, list[Whole]] = Field(description="per resource, per job")
    machine: list[Name | None] | None = Field(
        default=None, description="on which the job must run; null where it may run on any"
    )


class WeightSection(Section):
    """Field ``objective.weights``."""

    cost: NonNegative = 1.0
    carbon_kg: NonNegative = 0.0


class ObjectiveSection(Section):
    """Field ``objective``: what the energy counts."""

    weights: WeightSection = Field(default_factory=WeightSection)


class EcasFile(Section):
    """An ecas instance."""

    schema_version: SchemaVersion
    problem: Literal["ecas"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: OptionalCarbonSection
    price_per_kwh: list[Price] = Field(description="per slot; may be negative")
    machines: MachineSection
    jobs: JobSection
    objective: ObjectiveSection = Field(default_factory=ObjectiveSection)


def from_dict(raw: dict[str, Any]) -> EcasInstance:
    """Return the instance that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    TooLargeError
        If its arrays would not fit into memory.
    """
    reading = InstanceReading(raw, EcasFile)
    prices = reading.fields("price_per_kwh")
    machines = reading.section(MachineSection, raw, "machines")
    jobs = reading.section(JobSection, raw, "jobs")
    objective = reading.section(ObjectiveSection, raw, "objective", ObjectiveSection())
    reading.found += _shape_faults(raw, reading.slots)
    if prices is not None and reading.slots not in (None, len(prices["price_per_kwh"])):
        words = f"must have {reading.slots} prices, one a slot (time.slots)"
        reading.found.append(Fault("price_per_kwh", words, f"{len(prices['price_per_kwh'])} values"))
    reading.raise_if_any()
    assert prices is not None
    assert machines is not None
    assert jobs is not None
    assert objective is not None
    assert reading.slots is not None
    size = f"an instance of {len(machines.name)} machines and {reading.slots} slots"
    require_bytes(size, BYTES_PER_SLOT * (len(machines.name) + 2.0) * reading.slots)
    resources = tuple(machines.capacity)
    return EcasInstance(
        **reading.common(),
        price_per_kwh=np.array(prices["price_per_kwh"]),
        resources=resources,
        machines=Machines(
            tuple(machines.name),
            _table(machines.capacity, resources, len(machines.name)),
            np.array(machines.idle_kw),
            np.array(machines.up_cost),
            np.array(machines.down_cost),
            None if machines.available is None else np.array(machines.available, dtype=np.bool_),
        ),
        jobs=EcasJobs(
            tuple(jobs.name),
            np.array(jobs.arrival, dtype=np.int64),
            np.array(jobs.duration, dtype=np.int64),
            np.array(jobs.deadline, dtype=np.int64),
            np.array(jobs.power_kw),
            _table(jobs.use, resources, len(jobs.name)),
            _rows_of(jobs.machine, machines.name),
        ),
        weights=Weights(**objective.weights.model_dump()),
    )


def _table(columns: dict[str, list[int]], resources: tuple[str, ...], rows: int) -> Any:
    """Return one row an entry and one column a resource, in the order of `resources`."""
    return np.array([columns[name] for name in resources], dtype=np.int64).reshape(len(resources), rows).T


def _rows_of(names: list[str | None] | None, machines: list[str]) -> IntArray | None:
    """Return the numbers of the machines that jobs name."""
    rows = {name: m for m, name in enumerate(machines)}
    return None if names is None else np.array([ANY if name is None else rows[name] for name in names], dtype=np.int64)


def _shape_faults(raw: dict[str, Any], slots: int | None) -> Iterator[Fault]:
    """Yield every wrong length, duplicate, and resource that machines and jobs do not share."""
    yield from column_faults(raw, "machines", ("idle_kw", "up_cost", "down_cost", "available"), ("capacity",))
    yield from column_faults(raw, "jobs", ("arrival", "duration", "deadline", "power_kw", "machine"), ("use",))
    yield from duplicate_faults(raw, "machines", "name")
    yield from duplicate_faults(raw, "jobs", "name")
    if slots is not None:
        yield from row_faults("machines.available", part(raw, "machines", "available"), slots, ", one a slot")
    fixed = part(raw, "jobs", "machine")
    named = enumerate(fixed if isinstance(fixed, list) else ())
    yield from unknown_faults("jobs.machine", named, names_at(raw, "machines", "name"), "machines.name")
    capacity = part(raw, "machines", "capacity")
    use = part(raw, "jobs", "use")
    if isinstance(capacity, dict) and isinstance(use, dict) and set(capacity) != set(use):
        known, found = (", ".join(map(repr, names)) or "none" for names in (capacity, use))
        yield Fault("jobs.use", f"must have the resources of machines.capacity: {known}", found)
