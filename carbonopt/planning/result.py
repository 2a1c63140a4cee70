"""A plan: the starts of the jobs of a queue, with their carbon and what proves how good they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from carbonopt.core.display import number, percent
from carbonopt.core.jobs import HTML_ROWS
from carbonopt.core.jsonfile import write_json
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Solution
from carbonopt.core.time import format_utc, zone_of_time
from carbonopt.io.queues.job import RUNNING, QueuedJob
from carbonopt.planning.model import job_kg
from carbonopt.planning.site import Site, Terms
from carbonopt.problems.mosp.data.instance import MospInstance

if TYPE_CHECKING:
    import pandas as pd


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


@dataclass(frozen=True, repr=False)
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

    @cached_property
    def rows(self) -> list[Row]:
        """The jobs in the order of their starts."""
        zone = zone_of_time(self.tz)
        jobs = {job.id: job for job in self.jobs}
        first = {} if self.at_once is None else places(self.at_once)
        rows = []
        for name, (cluster, start) in places(self.solution.columns or {}).items():
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
    def energy_cost(self) -> float | None:
        """Cost of the energy of all jobs from now on [`currency`]; None without prices."""
        return self.solution.metrics.get("energy_cost")

    @property
    def currency(self) -> str | None:
        """Unit of money of the prices; None without prices."""
        return None if self.instance.energy_price is None else self.instance.energy_price.currency

    @property
    def saving_kg(self) -> float | None:
        """Saved over starting at once [kgCO2eq]."""
        savings = [row.saving_kg for row in self.rows]
        return None if None in savings else sum(saving for saving in savings if saving is not None)

    def __repr__(self) -> str:
        value = f"{number(self.kg)} kg, gap {percent(self.solution.gap)}"
        return f"Plan({len(self.jobs)} jobs from {format_utc(self.now)}, {value})"

    def _repr_html_(self) -> str:
        html: str = self.to_frame().to_html(max_rows=HTML_ROWS, notebook=True)
        return html

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
            **({} if self.energy_cost is None else {"energy_cost": self.energy_cost, "currency": self.currency}),
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


def places(schedule: Schedule) -> dict[str, tuple[str, int]]:
    """Return cluster and start slot by job."""
    if not schedule:
        return {}
    rows = zip(schedule["job"], schedule["cluster"], schedule["start"], strict=True)
    return {job: (cluster, int(start)) for job, cluster, start in rows}
