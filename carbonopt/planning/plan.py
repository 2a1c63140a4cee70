"""`plan`: when and where each job of a queue starts, with its carbon and the proven gap."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.options import Schedule
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.time import format_utc, to_utc, zone_of_time
from carbonopt.io.carbon import read_carbon
from carbonopt.io.prices import read_prices
from carbonopt.io.queues.job import RUNNING, Queue
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.planning.model import instance_of
from carbonopt.planning.result import Plan
from carbonopt.planning.site import Site, Terms, sites_of
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.solve import diagnose, solve

Paths = Sequence[str | os.PathLike[str]]
BASELINE = "greedy-clean"
"""Starting at once: every job as early as it fits, ties to the cleanest cluster."""


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
    reading: Reading = AS_THEY_ARE,
    price: Paths = (),
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
        `Site` or ``NAME=ZONE:CPUS:GPUS``; by default one in each zone of the files, with room for all jobs. It has the
        name of the zone, or that of the queue's cluster where both have one alone.
    terms
        Length of a slot, longest wait, and power.
    default_hours, leave_out
        Run time of jobs without a time limit; jobs that are not read.
    method, time_limit, mip_rel_gap, seed
        Of `carbonopt.solve`.
    reading
        What to take where the files of the forecast leave a choice, and whether to fill their gaps.
    price
        Files of electricity prices (see `carbonopt.io.prices`), as far as the forecast goes.

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
    signal = read_forecast(carbon, moment, terms, reading)
    given = [Site.of(site) if isinstance(site, str) else site for site in clusters]
    sites = sites_of(given or _only_site(queue, signal.zones), signal.zones)
    latest = tuple(moment + timedelta(hours=terms.wait_hours) for _ in queue.jobs)
    tariff = read_tariff(price, signal, sites, terms, reading)
    instance = instance_of(queue.jobs, latest, signal, sites, terms, tariff)
    solution = solve(instance, method, time_limit=time_limit, mip_rel_gap=mip_rel_gap, seed=seed)
    require_schedule(instance, solution)
    made = Plan(queue.source, moment, tz, queue.jobs, latest, sites, terms, instance, solution, at_once_of(instance))
    return replace(made, moved=frozenset(row.id for row in made.rows if row.state != RUNNING))


def _only_site(queue: Queue, zones: Sequence[str]) -> list[Site]:
    """Return the cluster that all jobs are on, where there is one zone for it; else nothing."""
    names = {job.cluster for job in queue.jobs}
    return [Site(names.pop(), zones[0])] if len(zones) == len(names) == 1 and all(names) else []


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


def read_forecast(
    carbon: Paths | CarbonSignal, start: datetime, terms: Terms, reading: Reading = AS_THEY_ARE
) -> CarbonSignal:
    """Return the forecast from a moment to its end, in slots.

    Raises
    ------
    InputError
        If it does not cover the moment, or a signal begins at another.
    """
    if not isinstance(carbon, CarbonSignal):
        return read_carbon(*carbon, start=start, slot_hours=terms.slot_hours, **reading.choices())
    if carbon.time.start != start or carbon.time.slot_hours != terms.slot_hours:
        begins = f"{format_utc(carbon.time.start)} in slots of {60 * carbon.time.slot_hours:g} min"
        words = f"must begin at {format_utc(start)} in slots of {terms.slot_minutes} min"
        raise InputError(Fault("carbon", words, begins))
    return carbon


def read_tariff(
    price: Paths, signal: CarbonSignal, sites: Sequence[Site], terms: Terms, reading: Reading
) -> EnergyPrice | None:
    """Return the prices where the clusters are; None without files.

    Raises
    ------
    UnsupportedError
        If energy cost has a weight and there is no file.
    """
    if price:
        return read_prices(price, signal.time, tuple(dict.fromkeys(site.zone for site in sites)), reading)
    if terms.energy_weight:
        raise UnsupportedError(f"energy_weight = {terms.energy_weight:g}: needs prices (--price FILE)")
    return None


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
