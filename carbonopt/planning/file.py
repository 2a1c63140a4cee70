"""The plan file: its fields as a schema, and the plan that they make."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from carbonopt.check import report_on
from carbonopt.core.errors import Fault, InputError, UnsupportedError
from carbonopt.core.jsonfile import read_json
from carbonopt.core.time import parse_utc, zone_of_time
from carbonopt.io.jobs import LONGEST_HOURS
from carbonopt.io.queues.entry import MOST_UNITS
from carbonopt.io.queues.job import QueuedJob
from carbonopt.io.schema import Faults, Name, NonNegative, Section
from carbonopt.io.solution import solution_from_dict
from carbonopt.planning.result import Plan
from carbonopt.planning.site import Site, Terms, sites_of
from carbonopt.problems.mosp.data.file import from_dict


def _moment(text: Any) -> Any:
    try:
        return parse_utc(text)
    except (ValueError, AttributeError):
        raise ValueError("must be an ISO 8601 moment such as 2023-11-14T00:00:00Z") from None


def _zone(text: str) -> str:
    try:
        zone_of_time(text)
    except UnsupportedError as error:
        raise ValueError(str(error).partition(": ")[2]) from None
    return text


Moment = Annotated[datetime, BeforeValidator(_moment)]


class JobSection(Section):
    """One entry of ``jobs``."""

    id: Name
    name: str
    user: str
    state: Literal["PENDING", "RUNNING"]
    hours: Annotated[float, Field(gt=0, le=LONGEST_HOURS)]
    cpus: Annotated[float, Field(gt=0, le=MOST_UNITS)]
    gpus: Annotated[float, Field(ge=0, le=MOST_UNITS)]
    memory_gb: NonNegative | None
    priority: Annotated[float, Field(allow_inf_nan=False)] | None
    submitted: Moment | None
    started: Moment | None
    cluster: str
    watts: NonNegative | None
    latest_start: Moment

    def build(self) -> QueuedJob:
        """Return the job."""
        return QueuedJob(**self.model_dump(exclude={"latest_start"}))


class SiteSection(Section):
    """One entry of ``sites``."""

    name: Name
    zone: Name
    cpus: NonNegative | None
    gpus: NonNegative | None


class TermsSection(Section):
    """Field ``terms``."""

    slot_minutes: int
    wait_hours: float
    watts_per_cpu: float
    watts_per_gpu: float
    energy_weight: float = 0.0


class PlanFile(Section):
    """A plan; ``instance`` and ``solution`` are read as the files that they are."""

    schema_version: Literal[1]
    kind: Literal["carbonopt-plan"]
    source: Literal["slurm", "kubernetes"]
    now: Moment
    tz: Annotated[str, AfterValidator(_zone)]
    jobs: list[JobSection]
    sites: Annotated[list[SiteSection], Field(min_length=1)]
    terms: TermsSection
    moved: list[str]
    replanned: dict[str, Any]
    at_once: dict[str, list[Any]] | None
    instance: dict[str, Any]
    solution: dict[str, Any]


def plan_of(path: str | os.PathLike[str]) -> Plan:
    """Return the plan that a file holds.

    Raises
    ------
    InputError
        With every fault of its fields; and if its schedule is none of its instance.
    """
    raw = read_json(path)
    try:
        if raw.get("kind") != "carbonopt-plan":
            raise InputError(Fault("kind", "must be 'carbonopt-plan': a file that carbonopt plan -o wrote"))
        faults = Faults()
        section = faults.whole(PlanFile, raw)
        faults.raise_if_any()
        assert section is not None
        return _plan(section)
    except InputError as error:
        raise error.in_file(path) from None
    except UnsupportedError as error:
        raise InputError(Fault("", str(error), file=str(path))) from None


def _plan(section: PlanFile) -> Plan:
    instance = from_dict(section.instance)
    solution = solution_from_dict(section.solution)
    jobs = tuple(job.build() for job in section.jobs)
    sites = tuple(Site(**site.model_dump()) for site in section.sites)
    sites_of(sites, instance.carbon.zones)
    if {job.id for job in jobs} != set(instance.jobs.name) or len(jobs) != len(instance.jobs):
        raise InputError(Fault("jobs", "must be the jobs of the field instance, each once"))
    if instance.time.start != section.now:
        raise InputError(Fault("now", "must be the beginning of slot 0 of the field instance"))
    for field, schedule in (("solution.schedule", solution.columns), ("at_once", section.at_once)):
        if schedule is None and field == "solution.schedule":
            raise InputError(Fault(field, "is missing: a plan has one"))
        violations = () if schedule is None else report_on(instance, schedule).violations
        if violations:
            raise InputError(Fault(field, f"must keep the instance: {violations[0].message}"))
    return Plan(
        source=section.source,
        now=section.now,
        tz=section.tz,
        jobs=jobs,
        latest=tuple(job.latest_start for job in section.jobs),
        sites=sites,
        terms=Terms(**section.terms.model_dump()),
        instance=instance,
        solution=solution,
        at_once=section.at_once,
        moved=frozenset(section.moved),
        replanned=section.replanned,
    )
