"""The ML cluster instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from carbonopt.core.errors import Fault
from carbonopt.core.memory import require_bytes
from carbonopt.io.columns import column_faults, duplicate_faults, names_at, part, unknown_faults
from carbonopt.io.schema import (
    AboveZero,
    CarbonSection,
    InstanceReading,
    Name,
    NonNegative,
    Positive,
    SchemaVersion,
    Section,
    TimeSection,
)
from carbonopt.problems.mlcluster.data import validate
from carbonopt.problems.mlcluster.data.instance import Cluster, MlClusterInstance, MlJobs, Profile
from carbonopt.problems.mlcluster.data.settings import Limits, Weights

BYTES_PER_JOB = 500
"""Memory that a job takes in an instance and on its way to a file, rounded up [bytes]."""
BYTES_PER_SLOT = 64
"""Memory that a slot takes in an instance and on its way to a file, rounded up [bytes]."""
JOB_COLUMNS = ("arrival_minutes", "work_gpu_minutes", "profile", "min_gpus", "max_gpus")


class ClusterSection(Section):
    """Field ``cluster``."""

    gpus: Positive
    zone: Name
    gpus_per_host: Positive = 2
    idle_watts_per_gpu: NonNegative = 0.0
    host_watts: NonNegative = 0.0

    def build(self) -> Cluster:
        """Return the cluster."""
        return Cluster(**self.model_dump())


class ProfileSection(Section):
    """One entry of field ``profiles``."""

    throughput: list[NonNegative] = Field(description="on 1, 2, ... GPUs, in units of that on one: the first is 1")
    watts: list[NonNegative] = Field(description="power of the job on 1, 2, ... GPUs, never falling")
    restart_minutes: NonNegative = 0.0

    def build(self, name: str) -> Profile:
        """Return the profile."""
        return Profile(name, np.array(self.throughput), np.array(self.watts), self.restart_minutes)


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival_minutes: list[NonNegative] = Field(description="since the beginning of slot 0")
    work_gpu_minutes: list[AboveZero] = Field(description="minutes that the job takes on one GPU")
    profile: list[Name]
    min_gpus: list[Positive]
    max_gpus: list[Positive]

    def build(self) -> MlJobs:
        """Return the jobs."""
        return MlJobs(
            tuple(self.name),
            np.array(self.arrival_minutes, dtype=float),
            np.array(self.work_gpu_minutes, dtype=float),
            tuple(self.profile),
            np.array(self.min_gpus, dtype=np.int64),
            np.array(self.max_gpus, dtype=np.int64),
        )


class WeightSection(Section):
    """Field ``objective.weights``."""

    carbon_kg: NonNegative = 1.0
    jct_hours: NonNegative = 0.0


class LimitSection(Section):
    """Field ``objective.limits``."""

    mean_jct_hours: NonNegative | None = None


class ObjectiveSection(Section):
    """Field ``objective``: sums over jobs, and limits on them."""

    weights: WeightSection = Field(default_factory=WeightSection)
    limits: LimitSection = Field(default_factory=LimitSection)


class MlClusterFile(Section):
    """An ML cluster instance."""

    schema_version: SchemaVersion
    problem: Literal["mlcluster"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: CarbonSection
    cluster: ClusterSection
    profiles: Annotated[dict[Name, ProfileSection], Field(min_length=1)]
    jobs: JobSection
    objective: ObjectiveSection = Field(default_factory=ObjectiveSection)


def from_dict(raw: dict[str, Any]) -> MlClusterInstance:
    """Return the instance that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    TooLargeError
        If its arrays would not fit into memory.
    """
    faults = InstanceReading(raw, MlClusterFile)
    cluster = faults.section(ClusterSection, raw, "cluster")
    profiles = faults.fields("profiles")
    jobs = faults.section(JobSection, raw, "jobs")
    objective = faults.section(ObjectiveSection, raw, "objective", ObjectiveSection())
    faults.found += _shape_faults(raw)
    if profiles is not None:
        for name, section in profiles["profiles"].items():
            faults.found += validate.scale_faults(f"profiles.{name}", section.throughput, section.watts)
    faults.raise_if_any()
    assert cluster is not None
    assert profiles is not None
    assert jobs is not None
    assert objective is not None
    assert faults.slots is not None
    size = BYTES_PER_JOB * len(jobs.name) + BYTES_PER_SLOT * float(faults.slots)
    require_bytes(f"an instance of {len(jobs.name)} jobs and {faults.slots} slots", size)
    return MlClusterInstance(
        **faults.common(),
        cluster=cluster.build(),
        profiles=tuple(section.build(name) for name, section in profiles["profiles"].items()),
        jobs=jobs.build(),
        weights=Weights(**objective.weights.model_dump()),
        limits=Limits(**objective.limits.model_dump()),
    )


def _shape_faults(raw: dict[str, Any]) -> Iterator[Fault]:
    """Yield every wrong length, duplicate, and unknown zone or profile."""
    yield from column_faults(raw, "jobs", JOB_COLUMNS, [])
    yield from duplicate_faults(raw, "jobs", "name")
    zones = names_at(raw, "carbon", "zones")
    for fault in unknown_faults("cluster.zone", [(0, part(raw, "cluster", "zone"))], zones, "carbon.zones"):
        yield Fault(fault.field, fault.problem, fault.value)
    profiles = part(raw, "profiles")
    names = part(raw, "jobs", "profile")
    if isinstance(profiles, dict) and isinstance(names, list):
        yield from unknown_faults("jobs.profile", enumerate(names), list(profiles), "profiles")
