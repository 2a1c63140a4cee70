"""What an optimizer is given in a period: the jobs that are there, and the slots from now on.

The program counts completion from its slot 0, and the weight of a slot's delay in 1 / lambda depends on where that is.
With clock ``start`` slot 0 is that of the whole instance, so that lambda is the same number as in the program of
the whole day; slots before now have no capacity. With clock ``now`` it is the present slot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.time import TimeGrid
from carbonopt.problems.mosp.data.instance import Clusters, MospInstance, MospJobs
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective, Objective
from carbonopt.problems.mosp.formulation.objective import carbon_kg_per_unit
from carbonopt.problems.mosp.online.forecasts import ZoneForecasts
from carbonopt.simulation import State

ROUNDING = 1e-9
"""Of a deadline that is meant to be at the edge of a slot."""


@dataclass(frozen=True, eq=False)
class Window:
    """A period's instance.

    Parameters
    ----------
    instance
        A jobs, of which each has the run time that it has left; M clusters in the order of `cluster`.
    job, cluster
        Positions of its jobs and clusters in the whole instance, shapes (A,) and (M,).
    home
        Cluster on which each job last ran, as a position in the window, shape (A,); -1 where it has not begun.
    running
        Whether each job runs now, shape (A,).
    now
        The present slot, as the window counts them.
    """

    instance: MospInstance
    job: IntArray
    cluster: IntArray
    home: IntArray
    running: BoolArray
    now: int


@dataclass(frozen=True)
class Rules:
    """What a policy may do with a job that has begun.

    Parameters
    ----------
    suspend
        Whether a running job may stop and go on later; it keeps what it has done.
    migrate
        Whether it may then go on on another cluster.
    """

    suspend: bool = True
    migrate: bool = True


@dataclass(frozen=True)
class Sight:
    """How a period sees time.

    Parameters
    ----------
    slots
        How far it looks; farther where a job has more to run, and never past the instance's horizon.
    clock
        ``start`` or ``now``: from where completion times are counted.
    deadlines
        ``slots``: a deadline within a slot counts as the slot's beginning, since jobs complete at the edges of
        slots alone: a job is on time under the one if it is under the other, but being late by a part of a slot is
        no longer nearly free. ``exact``: as they are.
    notice_slots
        Slots from a job's arrival to the first period that sees it.
    """

    slots: int
    clock: str = "start"
    deadlines: str = "slots"
    notice_slots: int = 0


def look(state: State, rules: Rules, sight: Sight, homes: Mapping[int, int], order: IntArray) -> Window | None:
    """Return the window of this moment, with no objective of its own; None where there is nothing to decide.

    Parameters
    ----------
    state
        Of a mosp simulation.
    rules
        Without suspension running jobs are no part of the window, and their capacity is taken.
    sight
        How far it looks, and what it makes of time.
    homes
        Cluster on which each job that has begun last ran.
    order
        Order of the clusters in the window, which decides ties of many methods.
    """
    whole = state.instance
    now = round(state.now)
    assert isinstance(whole, MospInstance)
    assert isinstance(state.forecast, ZoneForecasts)
    queued = [i for i in state.queued if whole.jobs.arrival[i] + sight.notice_slots <= now]
    active = [*queued, *(state.running if rules.suspend else ())]
    job = np.array(sorted(active), dtype=np.int64)
    left = np.array([round(state.remaining(int(i))) for i in job], dtype=np.int64)
    span = min(max(sight.slots, int(left.max(initial=0))), whole.time.slots - now)
    if not len(job) or span < 1:
        return None
    base = 0 if sight.clock == "start" else now
    past = whole.carbon.g_per_kwh[:, base:now]
    intensity = np.hstack([past, state.forecast.of_zones(whole.carbon.zones, now, span)])
    grid = TimeGrid(now - base + span, whole.time.slot_hours, whole.time.slot_start(base))
    place = np.argsort(order)
    home = np.array([place[homes[i]] if i in homes else -1 for i in job.tolist()], dtype=np.int64)
    window = MospInstance(
        name=f"{whole.name} in slot {now}",
        carbon=CarbonSignal(whole.carbon.zones, intensity, grid),
        resources=whole.resources,
        clusters=_clusters(state, whole, (base, now, now + span), order, taken=not rules.suspend),
        jobs=_jobs(whole, job, left, (base, now), _eligible(whole, job, order, home, rules), sight),
    )
    running = np.array([i in state.running for i in job.tolist()], dtype=np.bool_)
    return Window(window, job, order, home, running, now - base)


def _jobs(
    whole: MospInstance, job: IntArray, left: IntArray, clock: tuple[int, int], eligible: BoolArray, sight: Sight
) -> MospJobs:
    """Return the jobs with what they have left; `clock` is slot 0 of the window and the present slot."""
    deadline = due(whole.jobs.deadline[job], sight) - clock[0]
    arrival = np.full(len(job), clock[1] - clock[0])
    names = tuple(whole.jobs.name[i] for i in job.tolist())
    return overdue(
        MospJobs(names, arrival, left, np.maximum(deadline, 0.0), whole.jobs.demand[job], eligible), deadline
    )


def overdue(jobs: MospJobs, deadline: FloatArray) -> MospJobs:
    """Return the jobs with deadlines below 0 where they are overdue: files hold none such, all methods take them."""
    if bool((deadline < 0).any()):
        object.__setattr__(jobs, "deadline", frozen_float(deadline))
    return jobs


def due(deadline: FloatArray, sight: Sight) -> FloatArray:
    """Return deadlines as the plan takes them."""
    if sight.deadlines == "slots":
        return np.floor(deadline + ROUNDING)
    return deadline


def _eligible(whole: MospInstance, job: IntArray, order: IntArray, home: IntArray, rules: Rules) -> BoolArray:
    eligible = whole.eligible[job][:, order]
    if rules.migrate:
        return eligible
    stays = (home[:, None] < 0) | (home[:, None] == np.arange(len(order)))
    return np.asarray(eligible & stays)


def _clusters(state: State, whole: MospInstance, clock: tuple[int, int, int], order: IntArray, taken: bool) -> Clusters:
    """Return the clusters in the window, less what runs where that is not to be stopped.

    `clock` is the window's slot 0, the present slot and the window's end.
    """
    base, now, end = clock
    clusters = whole.clusters
    capacity: FloatArray = np.array(clusters.capacity[:, :, base:end])
    capacity[:, :, : now - base] = 0.0
    for job, run in state.running.items() if taken else ():
        until = now - base + round(state.remaining(job))
        capacity[run.pool, :, now - base : until] -= whole.jobs.demand[job][:, None]
    picked: Sequence[int] = order.tolist()
    return Clusters(
        tuple(clusters.name[j] for j in picked),
        tuple(clusters.zone[j] for j in picked),
        np.maximum(capacity, 0.0)[order],
        clusters.watts_per_unit[order],
    )


def with_period_objective(window: Window, objective: Objective) -> Window:
    """Return the window with the objective of a period: that of the whole, where a job that finds no place waits.

    Under caspian the normalizers are those of the period (Algorithm 2, line 1). Under carbon, where every job
    must run, waiting costs twice what any job could cost in the window, so that a job waits only if it must.
    """
    if isinstance(objective, CaspianObjective):
        objective = replace(objective, normalizers=None)
    elif objective.rejection_price is None:
        objective = replace(objective, rejection_price=_waiting_price(window.instance, objective))
    return replace(window, instance=window.instance.with_objective(objective))


def _waiting_price(window: MospInstance, objective: CarbonObjective) -> float:
    jobs = window.jobs
    slots = window.time.slots
    dearest = carbon_kg_per_unit(window).max(axis=(0, 2), initial=0.0)
    emitted = float(((jobs.demand @ dearest) * jobs.duration).max(initial=0.0))
    latest = max(0.0, slots - float(jobs.deadline.min(initial=0.0)))
    most = objective.carbon_kg * emitted + objective.tardiness_slots * latest + objective.completion_slots * slots
    return 2.0 * most + 1e-6
