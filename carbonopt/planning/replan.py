"""`replan`: the rest of a plan under a newer forecast, with a price on moving what was announced."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from carbonopt.check import report_on
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, UnsupportedError, shown
from carbonopt.core.options import Options, Schedule
from carbonopt.core.solution import relative_gap
from carbonopt.core.status import Status
from carbonopt.core.time import format_utc, zone_of_time
from carbonopt.io.queues.job import RUNNING, Queue, QueuedJob
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.judge import Run, judged
from carbonopt.planning.model import ROUNDING_SLOTS, instance_of, job_kg
from carbonopt.planning.plan import Paths, at_once_of, moment_of, read_forecast, read_tariff, require_schedule
from carbonopt.planning.result import Plan, Row, places
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.solve import solve


def replan(
    plan: Plan,
    carbon: Paths | CarbonSignal,
    *,
    now: datetime | str | None = None,
    queue: str | os.PathLike[str] | Queue | None = None,
    move_price: float = 0.0,
    method: str | None = None,
    default_hours: float | None = None,
    leave_out: Collection[str] = (),
    time_limit: float | None = 60.0,
    mip_rel_gap: float = 1e-4,
    seed: int = 0,
    reading: Reading = AS_THEY_ARE,
    price: Paths = (),
) -> Plan:
    """Plan again what has not begun.

    Parameters
    ----------
    plan
        Of before.
    carbon
        Files of the newer forecast, or a signal that begins at the first slot edge of `plan` from `now` on.
    now
        Not before the plan's own; None for the clock's time. Starts keep to the slot edges of the first plan.
    queue
        Jobs as they are now; None where they ran as planned, each up to its time limit.
    move_price
        Carbon that moving an announced start must save [kgCO2eq].
    method
        Of `carbonopt.solve`, none of which knows a price on moves; None for the one that does.
    default_hours, leave_out
        Of reading `queue`, as in `carbonopt.planning.plan.plan`.
    time_limit, mip_rel_gap, seed
        Of the search.
    reading, price
        As in `carbonopt.planning.plan.plan`.

    Returns
    -------
    Plan
        `Plan.moved` holds new jobs, and those that were announced otherwise. `Plan.replanned` holds the number of
        announced starts and of moves, what the new forecast changes at the announced starts, what the moves take
        back, and objective, bound and gap with the price of moves in them.

    Raises
    ------
    InputError
        As `carbonopt.planning.plan.plan` does.
    UnsupportedError
        For a moment before the plan's, or a price out of range.
    """
    from carbonopt.problems.mosp.methods.churn import solve_near  # HiGHS: not at `import carbonopt`

    if not 0 <= move_price < float("inf"):
        raise UnsupportedError(f"move_price = {shown(move_price)}: must be a number of kg, at least 0")
    if method is not None and move_price:
        raise UnsupportedError(f"method {method!r} knows no price on moves: leave out one of the two")
    options = Options(time_limit, mip_rel_gap, 0.0, seed)
    edge = _edge(plan, moment_of(now, plan.tz))
    jobs, latest = _jobs_now(plan, edge, queue, default_hours, leave_out)
    signal = read_forecast(carbon, edge, plan.terms, reading)
    tariff = read_tariff(price, signal, plan.sites, plan.terms, reading)
    instance = instance_of(jobs, latest, signal, plan.sites, plan.terms, tariff)
    announced = _announced(plan, instance, edge)
    if method is None:
        began = time.perf_counter()
        outcome = solve_near(instance, options, announced=announced, price=move_price)
        run = Run("replan", options.to_dict(), time.perf_counter() - began)
        bound = outcome.bound
        found = replace(outcome, bound=None, certificate=None)
        try:
            solution = judged(instance, found, run)
        except KeyboardInterrupt:  # what was found is not lost: a signal raises once
            solution = judged(instance, replace(found, status=Status.INTERRUPTED), run)
    else:
        solution = solve(instance, method, time_limit=time_limit, mip_rel_gap=mip_rel_gap, seed=seed)
        bound = solution.bound
    require_schedule(instance, solution)
    made = replace(
        plan, now=edge, jobs=jobs, latest=latest, instance=instance, solution=solution, at_once=at_once_of(instance)
    )
    kept = places(announced)
    moved = frozenset(row.id for row in made.rows if row.state != RUNNING and not _is_kept(row, kept.get(row.id), made))
    facts = _facts(plan, made, announced, moved, move_price, bound)
    return replace(made, moved=moved, replanned=facts)


def _edge(plan: Plan, now: datetime) -> datetime:
    """Return the first slot edge of a plan that is not before `now`."""
    if now < plan.now:
        words = f"must not be before {format_utc(plan.now)}, when the plan began"
        raise UnsupportedError(f"now = {format_utc(now)}: {words}")
    slot = timedelta(minutes=plan.terms.slot_minutes)
    return plan.now + ceil((now - plan.now) / slot - ROUNDING_SLOTS) * slot


def _jobs_now(
    plan: Plan,
    edge: datetime,
    queue: str | os.PathLike[str] | Queue | None,
    default_hours: float | None,
    leave_out: Collection[str],
) -> tuple[tuple[QueuedJob, ...], tuple[datetime, ...]]:
    """Return the jobs that wait or run at the edge, and when each should have started.

    Raises
    ------
    InputError
        If there are none.
    """
    latest = {job.id: moment for job, moment in zip(plan.jobs, plan.latest, strict=True)}
    if queue is None:
        known = {job.id: job for job in plan.jobs}
        jobs = [_aged(known[row.id], row, edge) for row in plan.rows if row.end > edge]
    else:
        if not isinstance(queue, Queue):
            from carbonopt.io.queues.read import read_queue  # pydantic: not at `import carbonopt`

            queue = read_queue(queue, zone_of_time(plan.tz), default_hours, leave_out)
        if queue.source != plan.source:
            raise UnsupportedError(f"the queue is of {queue.source}, the plan of {plan.source}")
        jobs = list(queue.jobs)
    if not jobs:
        raise InputError(Fault("jobs", f"must not all have ended by {format_utc(edge)}: nothing is left to plan"))
    new = edge + timedelta(hours=plan.terms.wait_hours)
    return tuple(jobs), tuple(latest.get(job.id, new) for job in jobs)


def _aged(job: QueuedJob, row: Row, edge: datetime) -> QueuedJob:
    """Return a job as it is at the edge, if it began as planned."""
    if job.state == RUNNING or row.begin >= edge:
        return job
    return replace(job, state=RUNNING, started=row.begin, cluster=row.cluster)


def _announced(plan: Plan, instance: MospInstance, edge: datetime) -> Schedule:
    """Return the announced places of the jobs that still wait, in slots of the new instance."""
    settled = set() if instance.fixed is None else set(instance.fixed.job)
    waiting = set(instance.jobs.name) - settled
    slot = timedelta(minutes=plan.terms.slot_minutes)
    rows = [row for row in plan.rows if row.id in waiting and row.state != RUNNING]
    starts = [round((row.begin - edge) / slot) for row in rows]
    return {"job": [row.id for row in rows], "cluster": [row.cluster for row in rows], "start": starts}


def _is_kept(row: Row, place: tuple[str, int] | None, made: Plan) -> bool:
    """Return whether a job is where it was announced; False where it was not."""
    if place is None:
        return False
    begin = made.now + place[1] * timedelta(minutes=made.terms.slot_minutes)
    return (row.cluster, row.begin) == (place[0], begin)


def _facts(
    before: Plan, made: Plan, announced: Schedule, moved: frozenset[str], price: float, bound: float | None
) -> dict[str, Any]:
    """Return what the new forecast and the moves cost: see `replan`."""
    expected = {row.id: row.kg for row in before.rows}
    now = {row.id: row.kg for row in made.rows}
    stays = {}
    impossible = 0
    duration = dict(zip(made.instance.jobs.name, made.instance.jobs.duration.tolist(), strict=True))
    for job, (cluster, start) in places(announced).items():
        if 0 <= start <= made.instance.time.slots - duration[job]:
            stays[job] = job_kg(made.instance, job, cluster, start)
        else:
            impossible += 1
    moves = len(moved & set(announced["job"]))
    objective = report_on(made.instance, made.solution.columns or {}).objective
    priced = None if objective is None else objective + price * moves
    bound = bound if priced is None or bound is None else min(bound, priced)
    return {
        "announced": len(announced["job"]),
        "announced_impossible": impossible,
        "new_jobs": sorted(moved - set(announced["job"])),
        "moves": moves,
        "move_price_kg": price,
        "forecast_change_kg": sum(kg - expected[job] for job, kg in stays.items()),
        "taken_back_kg": sum(kg - now[job] for job, kg in stays.items()),
        "objective_with_moves": priced,
        "bound": bound,
        "gap": relative_gap(priced, bound),
    }
