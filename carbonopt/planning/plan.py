"""`plan`: when and where each job of a queue starts, with its carbon and the proven gap."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.jsonfile import write_json
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.time import format_utc, to_utc
from carbonopt.io.carbon import read_carbon
from carbonopt.io.queues.job import RUNNING, Queue, QueuedJob
from carbonopt.planning.model import instance_of, job_kg
from carbonopt.planning.site import Site, Terms, sites_of, zone_of_time
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.solve import diagnose, solve

if TYPE_CHECKING:
    import pandas as pd

Paths = Sequence[str | os.PathLike[str]]
BASELINE = "greedy-clean"
"""Starting at once: every job as early as it fits, ties to the cleanest cluster."""


@dataclass(frozen=True)
class Row:
    """One job of a plan.

    Parameters
    ----------
    id, name, state
        Of the job.
    cluster
        On which it runs.
    was_on
        Cluster, partition or queue that the scheduler has it in; empty where it is not known.
    begin, end
        Its start and its end at the time limit.
    kg, kg_at_once
        What it emits from now on [kgCO2eq], and would if all jobs started at once; None where they cannot.
    moved
        Whether its start differs from what was announced; a job that was not announced counts as moved.
    """

    id: str
    name: str
    state: str
    cluster: str
    was_on: str
    begin: datetime
    end: datetime
    kg: float
    kg_at_once: float | None
    moved: bool

    @property
    def saving_kg(self) -> float | None:
        """Saved over starting at once [kgCO2eq]."""
        return None if self.kg_at_once is None else self.kg_at_once - self.kg


@dataclass(frozen=True)
class Plan:
    """Starts of the jobs of a queue.

    Parameters
    ----------
    source
        ``slurm`` or ``kubernetes``.
    now
        From which moment on it holds: the beginning of slot 0.
    tz
        Name of the user's time zone.
    jobs, latest
        The jobs, and when each should have started.
    sites, terms
        What it was made with.
    instance, solution
        The problem that it solves, and how: objective, bound, status.
    at_once
        Schedule of all jobs as early as they fit; None where they do not.
    moved
        Jobs, by id, whose start was not announced as it is.
    replanned
        What a replanning cost and saved; empty for a first plan.
    """

    source: str
    now: datetime
    tz: str
    jobs: tuple[QueuedJob, ...]
    latest: tuple[datetime, ...]
    sites: tuple[Site, ...]
    terms: Terms
    instance: MospInstance
    solution: Solution
    at_once: Schedule | None
    moved: frozenset[str] = frozenset()
    replanned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """The jobs in the order of their starts."""
        zone = zone_of_time(self.tz)
        jobs = {job.id: job for job in self.jobs}
        first = {} if self.at_once is None else _places(self.at_once)
        rows = []
        for name, (cluster, start) in _places(self.solution.columns or {}).items():
            job = jobs[name]
            begin = self.now + timedelta(hours=start * self.instance.time.slot_hours)
            if job.state == RUNNING and job.started is not None:
                begin = job.started
            end = begin + timedelta(hours=job.hours)
            kg = job_kg(self.instance, name, cluster, start)
            early = None if name not in first else job_kg(self.instance, name, *first[name])
            moments = begin.astimezone(zone), end.astimezone(zone)
            moved = name in self.moved
            rows.append(Row(name, job.name, job.state, cluster, job.cluster, *moments, kg, early, moved))
        return sorted(rows, key=lambda row: (row.begin, row.state != RUNNING, row.id))

    @property
    def kg(self) -> float:
        """Carbon of all jobs from now on [kgCO2eq]."""
        return sum(row.kg for row in self.rows)

    @property
    def saving_kg(self) -> float | None:
        """Saved over starting at once [kgCO2eq]."""
        savings = [row.saving_kg for row in self.rows]
        return None if None in savings else sum(saving for saving in savings if saving is not None)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame; moments are ISO 8601 in the user's time zone."""
        import pandas as pd

        rows = [asdict(row) | {"saving_kg": row.saving_kg} for row in self.rows]
        for row in rows:
            row["begin"] = row["begin"].isoformat()
            row["end"] = row["end"].isoformat()
        columns = ["id", "name", "state", "cluster", "begin", "end", "kg", "kg_at_once", "saving_kg", "moved"]
        return pd.DataFrame(rows, columns=columns)

    def summary(self) -> dict[str, Any]:
        """Return the numbers of the plan: what ``--json`` prints beside its rows."""
        return {
            "now": format_utc(self.now),
            "tz": self.tz,
            "jobs": len(self.jobs),
            "running": sum(job.state == RUNNING for job in self.jobs),
            "kg": self.kg,
            "saving_kg": self.saving_kg,
            "objective": self.solution.objective,
            "bound": self.solution.bound,
            "gap": self.solution.gap,
            "status": str(self.solution.status),
            **({"replanned": dict(self.replanned)} if self.replanned else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as its file holds it."""
        return {
            "schema_version": 1,
            "kind": "carbonopt-plan",
            "source": self.source,
            "now": format_utc(self.now),
            "tz": self.tz,
            "jobs": [
                job.to_dict() | {"latest_start": format_utc(moment)}
                for job, moment in zip(self.jobs, self.latest, strict=True)
            ],
            "sites": [asdict(site) for site in self.sites],
            "terms": self.terms.to_dict(),
            "moved": sorted(self.moved),
            "replanned": dict(self.replanned),
            "at_once": self.at_once,
            "instance": self.instance.to_dict(),
            "solution": self.solution.to_dict(),
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to `path` (``.json`` or ``.json.gz``), whole or not at all."""
        write_json(path, self.to_dict())


def _places(schedule: Schedule) -> dict[str, tuple[str, int]]:
    """Return cluster and start slot by job."""
    if not schedule:
        return {}
    rows = zip(schedule["job"], schedule["cluster"], schedule["start"], strict=True)
    return {job: (cluster, int(start)) for job, cluster, start in rows}


def plan(
    queue: str | os.PathLike[str] | Queue,
    carbon: Paths | CarbonSignal,
    *,
    now: datetime | str | None = None,
    tz: str = "UTC",
    clusters: Sequence[Site | str] = (),
    terms: Terms | None = None,
    default_hours: float | None = None,
    leave_out: Collection[str] = (),
    method: str = "auto",
    time_limit: float | None = 60.0,
    mip_rel_gap: float = 1e-4,
    seed: int = 0,
) -> Plan:
    """Plan the starts of the jobs that wait, around those that run.

    Parameters
    ----------
    queue
        A file (see `carbonopt.io.queues.read.read_queue`), or a queue.
    carbon
        Files of the forecast (see `carbonopt.io.carbon.read_carbon`), or a signal whose slot 0 begins at `now`.
    now
        When the first job may start; None for the clock's time.
    tz
        The user's time zone, in which begins and ends are told, and in which times of the queue are that have none.
    clusters
        `Site` or ``NAME=ZONE:CPUS:GPUS``; by default one in each zone of the files, with room for all jobs.
    terms
        Length of a slot, longest wait, and power.
    default_hours, leave_out
        Run time of jobs without a time limit; jobs that are not read.
    method, time_limit, mip_rel_gap, seed
        Of `carbonopt.solve`.

    Raises
    ------
    InputError
        For every fault of the files, a forecast that does not cover `now` or ends before a job could, and where the
        clusters have no room for all jobs within it.
    UnsupportedError
        For options out of range.
    """
    zone = zone_of_time(tz)
    moment = moment_of(now, tz)
    terms = terms or Terms()
    if not isinstance(queue, Queue):
        from carbonopt.io.queues.read import read_queue  # pydantic: not at `import carbonopt`

        queue = read_queue(queue, zone, default_hours, leave_out)
    signal = read_forecast(carbon, moment, terms)
    sites = sites_of([Site.of(site) if isinstance(site, str) else site for site in clusters], signal.zones)
    latest = tuple(moment + timedelta(hours=terms.wait_hours) for _ in queue.jobs)
    instance = instance_of(queue.jobs, latest, signal, sites, terms)
    solution = solve(instance, method, time_limit=time_limit, mip_rel_gap=mip_rel_gap, seed=seed)
    require_schedule(instance, solution)
    made = Plan(queue.source, moment, tz, queue.jobs, latest, sites, terms, instance, solution, at_once_of(instance))
    return replace(made, moved=frozenset(row.id for row in made.rows if row.state != RUNNING))


def moment_of(now: datetime | str | None, tz: str) -> datetime:
    """Return a moment in UTC; one without a time zone is in the user's, None is the clock's time."""
    if now is None:
        return datetime.now(UTC).replace(microsecond=0)
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now.strip())
        except ValueError:
            raise UnsupportedError(f"now = {shown(now)}: must be a moment such as 2026-11-24T22:00") from None
    if not 1970 < now.year < 2200:
        raise UnsupportedError(f"now = {shown(str(now))}: must be a moment from 1971 to 2199")
    return to_utc(now if now.tzinfo else now.replace(tzinfo=zone_of_time(tz)))


def read_forecast(carbon: Paths | CarbonSignal, start: datetime, terms: Terms) -> CarbonSignal:
    """Return the forecast from a moment to its end, in slots.

    Raises
    ------
    InputError
        If it does not cover the moment, or a signal begins at another.
    """
    if not isinstance(carbon, CarbonSignal):
        return read_carbon(*carbon, start=start, slot_hours=terms.slot_hours)
    if carbon.time.start != start or carbon.time.slot_hours != terms.slot_hours:
        begins = f"{format_utc(carbon.time.start)} in slots of {60 * carbon.time.slot_hours:g} min"
        words = f"must begin at {format_utc(start)} in slots of {terms.slot_minutes} min"
        raise InputError(Fault("carbon", words, begins))
    return carbon


def at_once_of(instance: MospInstance) -> Schedule | None:
    """Return the schedule of all jobs as early as they fit; None where that way not all of them do."""
    return solve(instance, BASELINE, time_limit=None).columns


def require_schedule(instance: MospInstance, solution: Solution) -> None:
    """Refuse a solution without schedule.

    Raises
    ------
    InputError
        It tells which jobs find no room, in which hours.
    KeyboardInterrupt
        If the search for one was interrupted.
    """
    if solution.has_solution:
        return
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    findings = diagnose(instance, time_limit=20.0).findings
    faults = [Fault("jobs", finding.message) for finding in findings]
    words = f"no plan was found ({solution.status}): must leave more time, or more room on the clusters"
    raise InputError(faults or [Fault("jobs", words)])


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan file.

    Raises
    ------
    InputError
        With what is wrong with it.
    """
    from carbonopt.planning.file import plan_of  # pydantic: not at `import carbonopt`

    return plan_of(path)
