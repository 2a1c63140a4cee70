"""The mosp instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.io.schema import (
    CarbonSection,
    Faults,
    Name,
    NonNegative,
    Positive,
    Section,
    TimeSection,
    Whole,
    check_header,
)
from carbonopt.problems.mosp import validate
from carbonopt.problems.mosp.instance import (
    CarbonObjective,
    CaspianObjective,
    Clusters,
    MospInstance,
    MospJobs,
    Objective,
)


def _scalar_or_row(value: Any) -> str:
    return "kind:per slot" if isinstance(value, list) else "kind:constant"


Capacity = Annotated[
    Annotated[NonNegative, Tag("kind:constant")] | Annotated[list[NonNegative], Tag("kind:per slot")],
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

    def build(self, slots: int) -> Clusters:
        """Return the clusters.

        Raises
        ------
        InputError
            For every entry of a wrong length, all at once.
        """
        count, resources = len(self.name), list(self.capacity)
        faults = Faults()
        capacity = np.zeros((count, len(resources), slots))
        watts = np.zeros((count, len(resources)))
        for r, resource in enumerate(resources):
            rows = self.capacity[resource]
            with faults.collect():
                _same_length(f"clusters.capacity.{resource}", len(rows), count, "clusters")
                for j, row in enumerate(rows):
                    if isinstance(row, list) and len(row) != slots:
                        raise InputError(
                            Fault(
                                f"clusters.capacity.{resource}",
                                f"must be one number or {slots} (one a slot)",
                                f"{len(row)} values",
                                j,
                            )
                        )
                    capacity[j, r] = row
            with faults.collect():
                watts[:, r] = _column("clusters.watts_per_unit", self.watts_per_unit, resource, count, "clusters")
        faults.found += _unknown_keys("clusters.watts_per_unit", self.watts_per_unit, resources)
        if len(self.zone) == count:
            with faults.collect():
                Clusters(tuple(self.name), tuple(self.zone), capacity, watts)
        else:
            with faults.collect():
                _same_length("clusters.zone", len(self.zone), count, "clusters")
        faults.raise_if_any()
        return Clusters(tuple(self.name), tuple(self.zone), capacity, watts)


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival: list[Whole] = Field(description="first slot in which the job may start")
    duration: list[Positive] = Field(description="slots")
    deadline: list[NonNegative] = Field(description="on time if start + duration <= deadline")
    demand: dict[Name, list[NonNegative]] = Field(description="units per resource")
    eligible: list[list[str]] | None = Field(default=None, description="names of the clusters")

    def build(self, resources: list[str], clusters: list[str] | None) -> MospJobs:
        """Return the jobs; `clusters` None stands for names that were found wrong before.

        Raises
        ------
        InputError
            For every column of a wrong length and every unknown cluster, all at once.
        """
        count = len(self.name)
        faults = Faults()
        demand = np.zeros((count, len(resources)))
        for r, resource in enumerate(resources):
            with faults.collect():
                demand[:, r] = _column("jobs.demand", self.demand, resource, count, "jobs")
        faults.found += _unknown_keys("jobs.demand", self.demand, resources)
        eligible: BoolArray | None = None
        with faults.collect():
            eligible = self._eligible(clusters)
        with faults.collect():
            jobs = MospJobs(
                tuple(self.name),
                np.array(self.arrival, dtype=np.int64),
                np.array(self.duration, dtype=np.int64),
                np.array(self.deadline, dtype=float),
                demand,
                eligible,
            )
        faults.raise_if_any()
        return jobs

    def _eligible(self, clusters: list[str] | None) -> BoolArray | None:
        if self.eligible is None or clusters is None:
            return None
        _same_length("jobs.eligible", len(self.eligible), len(self.name), "jobs")
        index = {name: j for j, name in enumerate(clusters)}
        faults = [
            Fault("jobs.eligible", f"names an unknown cluster: clusters.name has {one_of(clusters)}", shown(name), row)
            for row, names in enumerate(self.eligible)
            for name in names
            if name not in index
        ]
        if faults:
            raise InputError(faults)
        matrix = np.zeros((len(self.eligible), len(clusters)), dtype=np.bool_)
        for row, names in enumerate(self.eligible):
            matrix[row, [index[name] for name in names]] = True
        return matrix


class CarbonWeights(Section):
    """Weights of the carbon objective."""

    carbon_kg: NonNegative
    tardiness_slots: NonNegative
    completion_slots: NonNegative


class CarbonObjectiveSection(Section):
    """Field ``objective``: minimise weighted carbon, tardiness and completion time."""

    kind: Literal["carbon"]
    weights: CarbonWeights
    rejection_price: NonNegative | None = None

    def build(self) -> Objective:
        """Return the objective."""
        weights = self.weights.model_dump()
        return CarbonObjective(**weights, rejection_price=self.rejection_price)


class CaspianTerms(Section):
    """One number for each of the paper's three terms."""

    z1: NonNegative
    z2: NonNegative
    z3: NonNegative


class CaspianObjectiveSection(Section):
    """Field ``objective``: maximise the paper's Z."""

    kind: Literal["caspian"]
    weights: CaspianTerms
    normalizers: CaspianTerms | None = Field(default=None, description="Zbar; null: the LP optima")

    def build(self) -> Objective:
        """Return the objective."""
        bars = self.normalizers
        return CaspianObjective(
            **self.weights.model_dump(),
            normalizers=None if bars is None else (bars.z1, bars.z2, bars.z3),
        )


def _kind(raw: Any) -> str | None:
    kind = raw.get("kind") if isinstance(raw, dict) else getattr(raw, "kind", None)
    return None if kind is None else f"kind:{kind}"


ObjectiveSection = Annotated[
    Annotated[CarbonObjectiveSection, Tag("kind:carbon")] | Annotated[CaspianObjectiveSection, Tag("kind:caspian")],
    Discriminator(_kind),
]


class MospFile(Section):
    """A mosp instance."""

    schema_version: Literal[1]
    problem: Literal["mosp"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: CarbonSection
    clusters: ClusterSection
    jobs: JobSection
    objective: ObjectiveSection


class _Wrapped(Section):
    objective: ObjectiveSection


def from_dict(raw: dict[str, Any]) -> MospInstance:
    """Return the instance that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    """
    faults = Faults()
    check_header(raw, tuple(MospFile.model_fields), faults)
    time_section = faults.section(TimeSection, raw["time"], "time") if "time" in raw else None
    carbon_section = faults.section(CarbonSection, raw["carbon"], "carbon") if "carbon" in raw else None
    cluster_section = faults.section(ClusterSection, raw["clusters"], "clusters") if "clusters" in raw else None
    job_section = faults.section(JobSection, raw["jobs"], "jobs") if "jobs" in raw else None
    time = carbon = clusters = jobs = objective = None
    if "objective" in raw:
        wrapped = faults.section(_Wrapped, {"objective": raw["objective"]}, "")
        objective = wrapped.objective.build() if wrapped else None
    if time_section:
        with faults.collect():
            time = time_section.build()
    if carbon_section and time:
        with faults.collect():
            carbon = carbon_section.build(time)
    if cluster_section and carbon:
        with faults.collect():
            clusters = cluster_section.build(carbon.time.slots)
    resources = tuple(cluster_section.capacity) if cluster_section else None
    if job_section:
        with faults.collect():
            demanded = list(resources if resources is not None else job_section.demand)
            jobs = job_section.build(demanded, cluster_section.name if cluster_section else None)
    if resources is not None:
        faults.found += validate.cross_faults(carbon, resources, clusters, jobs, objective)
    faults.raise_if_any()
    assert carbon is not None
    assert clusters is not None
    assert jobs is not None
    assert objective is not None
    return MospInstance(
        name=raw["name"],
        provenance=raw["provenance"],
        carbon=carbon,
        resources=resources or (),
        clusters=clusters,
        jobs=jobs,
        objective=objective,
    )


def _same_length(field: str, length: int, count: int, what: str) -> None:
    if length != count:
        raise InputError(Fault(field, f"must have one entry for each of the {count} {what}", f"{length} entries"))


def _column(field: str, table: dict[str, list[float]], resource: str, count: int, what: str) -> FloatArray:
    if resource not in table:
        raise InputError(Fault(f"{field}.{resource}", "is missing (clusters.capacity has this resource)"))
    _same_length(f"{field}.{resource}", len(table[resource]), count, what)
    return np.array(table[resource], dtype=float)


def _unknown_keys(field: str, table: dict[str, Any], resources: list[str]) -> list[Fault]:
    return [
        Fault(f"{field}.{name}", f"is an unknown resource: clusters.capacity has {one_of(resources)}")
        for name in table
        if name not in resources
    ]
