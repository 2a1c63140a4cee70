"""The elastic instance file: its sections as a schema, and the instance that they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from carbonopt.core.errors import Fault
from carbonopt.core.memory import require_bytes
from carbonopt.core.ranges import LARGEST_WHOLE
from carbonopt.io.columns import column_faults, duplicate_faults, names_at, part, unknown_faults
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
from carbonopt.problems.elastic.data import validate
from carbonopt.problems.elastic.data.instance import Cluster, ElasticInstance, ElasticJobs, Profile

BYTES_PER_JOB = 400
"""Memory that a job takes in an instance and on its way to a file, rounded up [bytes]."""
BYTES_PER_SLOT = 64
"""Memory that a slot takes in an instance and on its way to a file, rounded up [bytes]."""


def _scalar_or_row(value: Any) -> str:
    return "kind:per slot" if isinstance(value, list) else "kind:constant"


class ClusterSection(Section):
    """Field ``cluster``."""

    capacity: Annotated[
        Annotated[NonNegative, Tag("kind:constant")] | Annotated[list[NonNegative], Tag("kind:per slot")],
        Discriminator(_scalar_or_row),
    ] = Field(description="servers: a number, or one number a slot")
    zone: Name
    network_watts_per_gbps: NonNegative = 0.0

    def build(self) -> Cluster:
        """Return the cluster."""
        return Cluster(np.array(self.capacity, dtype=float), self.zone, self.network_watts_per_gbps)


class ProfileSection(Section):
    """One entry of field ``profiles``."""

    k_min: Positive = 1
    marginal_throughput: list[float] = Field(description="per unit: 1 for k_min servers, then for each further server")
    marginal_watts: list[NonNegative] = Field(description="per unit: of k_min servers, then of each further server")
    marginal_gbps: list[NonNegative] | None = None

    def build(self, name: str) -> Profile:
        """Return the profile."""
        gbps = None if self.marginal_gbps is None else np.array(self.marginal_gbps, dtype=float)
        return Profile(name, self.k_min, np.array(self.marginal_throughput), np.array(self.marginal_watts), gbps)


_Length = Annotated[float, Field(gt=0, le=LARGEST_WHOLE, allow_inf_nan=False)]


class JobSection(Section):
    """Field ``jobs``: one entry a job in every column."""

    name: list[Name]
    arrival: list[Whole] = Field(description="first slot in which the job may run")
    length: list[_Length] = Field(description="slots of work at k_min")
    slack: list[Whole] = Field(description="slots; the window is [arrival, arrival + ceil(length) + slack)")
    profile: list[Name]

    def build(self) -> ElasticJobs:
        """Return the jobs."""
        return ElasticJobs(
            tuple(self.name),
            np.array(self.arrival, dtype=np.int64),
            np.array(self.length, dtype=float),
            np.array(self.slack, dtype=np.int64),
            tuple(self.profile),
        )


class ObjectiveSection(Section):
    """Field ``objective``: carbon in grams, and what it adds."""

    switching_g_per_server: NonNegative = 0.0


class ElasticFile(Section):
    """An elastic instance."""

    schema_version: SchemaVersion
    problem: Literal["elastic"]
    name: Name
    provenance: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection
    carbon: CarbonSection
    cluster: ClusterSection
    profiles: Annotated[dict[Name, ProfileSection], Field(min_length=1)]
    jobs: JobSection
    objective: ObjectiveSection = Field(default_factory=ObjectiveSection)
    model: Literal["integer", "fluid"]


def from_dict(raw: dict[str, Any]) -> ElasticInstance:
    """Return the instance that a file's content stands for.

    Raises
    ------
    InputError
        With every fault of every section, and of what does not fit together.
    TooLargeError
        If its arrays would not fit into memory.
    """
    faults = InstanceReading(raw, ElasticFile)
    cluster = faults.section(ClusterSection, raw, "cluster")
    profiles = faults.fields("profiles")
    job_section = faults.section(JobSection, raw, "jobs")
    objective = faults.section(ObjectiveSection, raw, "objective", ObjectiveSection())
    model = faults.fields("model")
    faults.found += _shape_faults(raw, faults.slots)
    if profiles is not None:
        for name, section in profiles["profiles"].items():
            faults.found += _profile_faults(name, section)
    if model is not None and objective is not None:
        faults.found += validate.model_faults(model["model"], objective.switching_g_per_server)
    jobs = None
    if job_section is not None and faults.sound("jobs"):
        jobs = job_section.build()
        if faults.slots is not None:
            faults.found += validate.window_faults(jobs, faults.slots)
    faults.raise_if_any()
    assert cluster is not None
    assert profiles is not None
    assert jobs is not None
    assert objective is not None
    assert model is not None
    assert faults.slots is not None
    require_bytes(
        f"an instance of {len(jobs)} jobs and {faults.slots} slots",
        BYTES_PER_JOB * len(jobs) + BYTES_PER_SLOT * float(faults.slots),
    )
    return ElasticInstance(
        **faults.common(),
        cluster=cluster.build(),
        profiles=tuple(section.build(name) for name, section in profiles["profiles"].items()),
        jobs=jobs,
        model=model["model"],
        switching_g_per_server=objective.switching_g_per_server,
    )


def _profile_faults(name: str, section: ProfileSection) -> Iterator[Fault]:
    """Yield what is wrong with the values and lengths of a profile whose types are right."""
    place = f"profiles.{name}"
    count = len(section.marginal_throughput)
    yield from validate.throughput_faults(f"{place}.marginal_throughput", section.marginal_throughput)
    for column in ("marginal_watts", "marginal_gbps"):
        values = getattr(section, column)
        if values is not None and count and len(values) != count:
            words = f"must have one entry for each of the {count} units of marginal_throughput"
            yield Fault(f"{place}.{column}", words, f"{len(values)} entries")


def _shape_faults(raw: dict[str, Any], slots: int | None) -> Iterator[Fault]:
    """Yield every wrong length, duplicate, and unknown zone or profile; `slots` None if unknown."""
    yield from column_faults(raw, "jobs", ["arrival", "length", "slack", "profile"], [])
    yield from duplicate_faults(raw, "jobs", "name")
    capacity = part(raw, "cluster", "capacity")
    profiles = part(raw, "profiles")
    if isinstance(capacity, list) and slots is not None and len(capacity) != slots:
        words = f"must have {slots} values, one a slot, or be one number"
        yield Fault("cluster.capacity", words, f"{len(capacity)} values")
    zones = names_at(raw, "carbon", "zones")
    for fault in unknown_faults("cluster.zone", [(0, part(raw, "cluster", "zone"))], zones, "carbon.zones"):
        yield Fault(fault.field, fault.problem, fault.value)
    names = part(raw, "jobs", "profile")
    if isinstance(profiles, dict) and isinstance(names, list):
        yield from unknown_faults("jobs.profile", enumerate(names), list(profiles), "profiles")
