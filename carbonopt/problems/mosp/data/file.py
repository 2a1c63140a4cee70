"""The mosp instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, one_of, shown
from carbonopt.core.memory import require_bytes
from carbonopt.io.columns import names_at
from carbonopt.io.schema import (
    CarbonSection,
    Faults,
    InstanceReading,
    Name,
    NonNegative,
    Normalizer,
    Positive,
    SchemaVersion,
    Section,
    TimeSection,
    Whole,
)
from carbonopt.problems.mosp.data import validate
from carbonopt.problems.mosp.data.file_shape import shape_faults
from carbonopt.problems.mosp.data.fixed import FixedRuns
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective, Limits, Objective


def _scalar_or_row(value: Any) -> str:
    if isinstance(value, list):
        return "kind:per slot"
    return "kind:constant"


Capacity = Annotated[
    Annotated[NonNegative, Tag("kind:constant")] | Annotated[list[NonNegative], Tag("kind:per slot")],
    Discriminator(_scalar_or_row),
]


StartLimits = Annotated[
    Annotated[Whole, Tag("kind:constant")] | Annotated[list[Whole], Tag("kind:per slot")],
    Discriminator(_scalar_or_row),
]


class ClusterSection(Section):
    """Field ``clusters``."""

    name: Annotated[list[Name], Field(min_length=1)]
    zone: list[Name]
    capacity: Annotated[dict[Name, list[Capacity]], Field(min_length=1)] = Field(
        description="units per resource: one entry a cluster, a number or one number a slot"
    )
    watts_per_unit: dict[Name, list[NonNegative]]
    max_starts_per_slot: StartLimits | None = Field(
        default=None, description="jobs that may start on a cluster in one slot: one number, or one a cluster"
    )

    def build(self, slots: int) -> Clusters:
        """Return the clusters."""
        resources = list(self.capacity)
        capacity = np.zeros((len(self.name), len(resources), slots))
        for r, resource in enumerate(resources):
            for j, row in enumerate(self.capacity[resource]):
                capacity[j, r] = row
        watts = _table(self.watts_per_unit, resources)
        starts = self.max_starts_per_slot
        limits = None if starts is None else np.broadcast_to(np.array(starts), len(self.name))
        return Clusters(tuple(self.name), tuple(self.zone), capacity, watts, limits)


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival: list[Whole] = Field(description="first slot in which the job may start")
    duration: list[Positive] = Field(description="slots")
    deadline: list[NonNegative] = Field(description="on time if start + duration <= deadline")
    demand: dict[Name, list[NonNegative]] = Field(description="units per resource")
    eligible: list[list[Name]] | None = Field(default=None, description="names of the clusters")

    def build(self, resources: Sequence[str], clusters: Sequence[str]) -> MospJobs:
        """Return the jobs."""
        return MospJobs(
            tuple(self.name),
            np.array(self.arrival, dtype=np.int64),
            np.array(self.duration, dtype=np.int64),
            np.array(self.deadline, dtype=float),
            _table(self.demand, resources),
            self._eligible(clusters),
        )

    def _eligible(self, clusters: Sequence[str]) -> BoolArray | None:
        if self.eligible is None:
            return None
        index = {name: j for j, name in enumerate(clusters)}
        matrix = np.zeros((len(self.eligible), len(clusters)), dtype=np.bool_)
        for row, names in enumerate(self.eligible):
            matrix[row, [index[name] for name in names]] = True
        return matrix


def _table(columns: dict[str, list[float]], resources: Sequence[str]) -> FloatArray:
    return np.array([columns[resource] for resource in resources], dtype=float).T


class FixedSection(Section):
    """Field ``fixed``: one entry a job that runs already in every column."""

    job: list[Name]
    cluster: list[Name]
    start: list[Whole] = Field(description="slot")

    def build(self) -> FixedRuns:
        """Return the runs."""
        return FixedRuns(tuple(self.job), tuple(self.cluster), np.array(self.start, dtype=np.int64))


class CarbonWeights(Section):
    """Weights of the carbon objective."""

    carbon_kg: NonNegative
    tardiness_slots: NonNegative
    completion_slots: NonNegative
    energy_cost: NonNegative = 0.0


class EnergyPriceSection(Section):
    """Field ``energy_price``."""

    zones: Annotated[list[Name], Field(min_length=1)]
    per_kwh: list[list[float]] = Field(description="per zone, per slot; may be negative")
    currency: Name

    def build(self) -> EnergyPrice:
        """Return the price."""
        return EnergyPrice(tuple(self.zones), np.array(self.per_kwh, dtype=float), self.currency)


class LimitsSection(Section):
    """Most of each quantity that a schedule may take."""

    carbon_kg: NonNegative | None = None
    energy_cost: Annotated[float, Field(allow_inf_nan=False)] | None = None
    tardiness_slots: NonNegative | None = None

    def build(self) -> Limits:
        """Return the limits."""
        return Limits(**self.model_dump())


class CarbonObjectiveSection(Section):
    """Field ``objective``: minimise weighted carbon, tardiness and completion time."""

    kind: Literal["carbon"]
    weights: CarbonWeights
    rejection_price: NonNegative | None = None
    limits: LimitsSection = LimitsSection()

    def build(self) -> Objective:
        """Return the objective."""
        weights = self.weights.model_dump()
        return CarbonObjective(**weights, rejection_price=self.rejection_price, limits=self.limits.build())


class CaspianTerms(Section):
    """One number for each of the paper's three terms."""

    z1: NonNegative
    z2: NonNegative
    z3: NonNegative


class Normalizers(Section):
    """What each of the paper's terms is divided by; 0 leaves a term out."""

    z1: Normalizer
    z2: Normalizer
    z3: Normalizer


class CaspianObjectiveSection(Section):
    """Field ``objective``: maximise the paper's Z."""

    kind: Literal["caspian"]
    weights: CaspianTerms
    normalizers: Normalizers | None = Field(default=None, description="Zbar; null: the LP optima")

    def build(self) -> Objective:
        """Return the objective."""
        bars = self.normalizers
        return CaspianObjective(
            **self.weights.model_dump(),
            normalizers=None if bars is None else (bars.z1, bars.z2, bars.z3),
        )


OBJECTIVES: dict[str, type[CarbonObjectiveSection] | type[CaspianObjectiveSection]] = {
    "carbon": CarbonObjectiveSection,
    "caspian": CaspianObjectiveSection,
}


class MospFile(Section):
    """A mosp instance."""

    schema_version: SchemaVersion
    problem: Literal["mosp"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: CarbonSection
    clusters: ClusterSection
    jobs: JobSection
    objective: Annotated[CarbonObjectiveSection | CaspianObjectiveSection, Field(discriminator="kind")]
    fixed: FixedSection | None = Field(default=None, description="cluster and start of jobs that run already")
    energy_price: EnergyPriceSection | None = Field(default=None, description="price of electricity, by zone and slot")


def from_dict(raw: dict[str, Any]) -> MospInstance:
    """Return the instance that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    TooLargeError
        If its arrays would not fit into memory.
    """
    faults = InstanceReading(raw, MospFile)
    cluster_section = faults.section(ClusterSection, raw, "clusters")
    job_section = faults.section(JobSection, raw, "jobs")
    objective_section = _objective_section(raw, faults)
    fixed_section = None if raw.get("fixed") is None else faults.section(FixedSection, raw, "fixed")
    price_section = None
    if raw.get("energy_price") is not None:
        price_section = faults.section(EnergyPriceSection, raw, "energy_price")
    faults.found += shape_faults(raw, faults.slots)
    if faults.sound("time", "carbon", "clusters", "objective"):
        assert faults.time is not None
        assert faults.carbon is not None
        assert cluster_section is not None
        assert objective_section is not None
        time = faults.time.build()
        resources = tuple(cluster_section.capacity)
        _require_memory(raw, len(cluster_section.name), len(resources), time.slots)
        carbon = faults.carbon.build(time)
        clusters = cluster_section.build(time.slots)
        objective = objective_section.build()
        faults.found += validate.cross_faults(carbon, resources, clusters, None, objective)
    faults.raise_if_any()
    assert job_section is not None
    return MospInstance(
        name=raw["name"],
        provenance=raw.get("provenance", {}),
        carbon=carbon,
        resources=resources,
        clusters=clusters,
        jobs=job_section.build(resources, clusters.name),
        objective=objective,
        fixed=None if fixed_section is None else fixed_section.build(),
        energy_price=None if price_section is None else price_section.build(),
    )


def _objective_section(raw: dict[str, Any], faults: Faults) -> CarbonObjectiveSection | CaspianObjectiveSection | None:
    """Return the objective, read as the kind that it says it is."""
    section = raw.get("objective", {})
    kind = "carbon"
    if isinstance(section, dict):
        kind = section.get("kind", "carbon")
    if not isinstance(kind, str) or kind not in OBJECTIVES:
        faults.found.append(Fault("objective.kind", f"must be {one_of(tuple(OBJECTIVES))}", shown(kind)))
        return None
    return faults.section(OBJECTIVES[kind], raw, "objective")


def _require_memory(raw: dict[str, Any], clusters: int, resources: int, slots: int) -> None:
    """Refuse arrays that would not fit: the file may be small, since one number can stand for every slot."""
    jobs = len(names_at(raw, "jobs", "name") or ())
    capacity = 8 * clusters * resources * slots
    copies = 3  # as read, in Clusters, and spelled out over the slots
    size = f"{clusters} clusters, {resources} resources, {slots} slots and {jobs} jobs"
    require_bytes(f"an instance of {size} does not fit into memory", copies * capacity + clusters * jobs)
