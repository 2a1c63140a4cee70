"""Learning from the oracle: what it did in past windows, whose jobs and carbon are known by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.core.time import TimeGrid
from carbonopt.problems.elastic.data.instance import ElasticInstance, ElasticJobs
from carbonopt.problems.elastic.methods.greedy import allocate
from carbonopt.problems.elastic.methods.price.fluid.method import fluid_optimum
from carbonopt.problems.elastic.online.cases import Cases, carbon_features
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.verify.late_windows import with_slots

ORACLES = ("greedy", "optimum")
"""Whom CarbonFlex may learn from: Algorithm 1, or the fluid optimum."""
WEEK_HOURS = 168.0
"""Length of a window that the oracle plans as a whole [h], as CarbonFlex's week-long traces."""
DAY_HOURS = 24.0
"""How far ahead a state looks for cheaper hours [h] (CarbonFlex, table 2: the day-ahead ranking)."""
LEAST_ON_SHARE = 1e-6
"""A unit that is on for less of a slot than this is off: the optimum's shares are as exact as this."""
EXTENSIONS = 96
"""Slots by which a deadline is extended at most: a job that four days more do not help is left unfinished."""


def learned(
    past: ElasticInstance | Sequence[ElasticInstance],
    base: KnowledgeBase | None = None,
    oracle: str = "greedy",
    window_hours: float = WEEK_HOURS,
    step_hours: float = DAY_HOURS,
) -> KnowledgeBase:
    """Return a base with what the oracle does in windows of the past.

    Parameters
    ----------
    past
        One instance or several. Each is cut into windows that begin every `step_hours`: in each, the jobs
        that arrive in it, on a cluster that is empty at its beginning.
    base
        What to add it to; None for a new one. It is changed.
    oracle
        ``greedy``: the paper's Algorithm 1, in its fluid variant. ``optimum``: the certified fluid optimum.
    window_hours
        Length of the windows [h]. A longer one replays more jobs together, and takes longer.
    step_hours
        Time from the beginning of one window to that of the next [h]. A longer step makes fewer cases.

    Raises
    ------
    UnsupportedError
        For an unknown oracle, or a length or step that is not above 0.
    """
    require_number("window_hours", window_hours, above=0)
    require_number("step_hours", step_hours, above=0)
    found = KnowledgeBase() if base is None else base
    for instance in [past] if isinstance(past, ElasticInstance) else past:
        hours = instance.time.slot_hours
        length, step = (max(1, round(value / hours)) for value in (window_hours, step_hours))
        last = int(instance.jobs.arrival.max(initial=0)) + 1
        for first in range(0, max(1, last - length + 1), step):
            window = cut(instance, first, min(first + length, last))
            if window is not None:
                found.add(replayed(window, found.queue_hours, oracle, last=min(length, last - first)))
    return found


def cut(instance: ElasticInstance, first: int, last: int) -> ElasticInstance | None:
    """Return the jobs that arrive in slots first..last-1, from `first` on; None where there are none."""
    jobs = instance.jobs
    rows = np.flatnonzero((jobs.arrival >= first) & (jobs.arrival < last))
    if not len(rows):
        return None
    return chosen(instance, rows, first, int(jobs.window_end[rows].max()), jobs.slack[rows])


def chosen(instance: ElasticInstance, rows: IntArray, first: int, end: int, slack: IntArray) -> ElasticInstance:
    """Return some jobs, with these slacks, on slots first..end-1."""
    jobs, carbon = instance.jobs, instance.carbon
    time = TimeGrid(end - first, instance.time.slot_hours, instance.time.slot_start(first))
    return replace(
        instance,
        name=f"{instance.name}-from{first}",
        carbon=CarbonSignal(carbon.zones, carbon.g_per_kwh[:, first:end], time),
        cluster=replace(instance.cluster, capacity=instance.cluster.capacity[first:end]),
        jobs=ElasticJobs(
            tuple(jobs.name[row] for row in rows.tolist()),
            jobs.arrival[rows] - first,
            jobs.length[rows],
            slack,
            tuple(jobs.profile[row] for row in rows.tolist()),
        ),
    )


def replayed(window: ElasticInstance, queue_hours: Sequence[float], oracle: str = "greedy", last: int = 0) -> Cases:
    """Return a case for each of the first `last` slots of a window, or all of them.

    Parameters
    ----------
    window
        T slots; the oracle knows all of it. The deadlines of jobs that Algorithm 1 does not complete are extended
        and it runs again, as in section 4.2, with the last day repeated where the window ends too soon.
    queue_hours
        Longest job of each queue but the last [h].
    oracle
        One of `ORACLES`.
    last
        Slots that make cases; 0 for all.
    """
    require_one_of("oracle", oracle, ORACLES)
    cases = last or window.time.slots
    if oracle == "greedy":
        window = _completed(window)
    job, slot, unit, share = _units(window, oracle)
    slots = window.time.slots
    units = window.units
    profile = window.profile_of_job
    on = share > LEAST_ON_SHARE
    load = np.asarray(np.bincount(slot, units.servers[profile[job], unit] * share, slots), dtype=np.float64)
    rho = np.full(slots, np.inf)
    np.minimum.at(rho, slot[on], units.gain[profile[job[on]], unit[on]])
    rho[~np.isfinite(rho)] = 1.0
    completion = np.array(window.jobs.window_end)
    ends = np.zeros(len(completion), dtype=np.int64)
    np.maximum.at(ends, job[on], slot[on] + 1)
    completion = np.where(ends > 0, ends, completion)
    state = np.column_stack([_carbon(window), _jobs(window, completion, queue_hours)])
    hour = window.time.start.timestamp() / 3600 + np.arange(slots, dtype=np.float64) * window.time.slot_hours
    return Cases(state, load, rho, hour).kept(slice(0, cases))


def _completed(window: ElasticInstance) -> ElasticInstance:
    """Return the window with deadlines extended, a slot at a time, until Algorithm 1 completes every job."""
    late = allocate(window, "fluid").unfinished
    rounds = 0
    while len(late) and rounds < EXTENSIONS:
        slack = window.jobs.slack.copy()
        slack[late] += 1
        window = with_slots(window, int(window.jobs.window_end.max()) + 1).with_slack(slack)
        late = allocate(window, "fluid").unfinished
        rounds += 1
    return window


def _units(window: ElasticInstance, oracle: str) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Return job, slot, unit and share of every unit that the oracle has on."""
    if oracle == "greedy":
        found = allocate(window, "fluid")
        return found.job, found.slot, found.unit, found.part
    schedule = fluid_optimum(window, Options(time_limit=None)).schedule
    if schedule is None:
        raise UnsupportedError(f"{window.name} has no schedule that completes every job in time: use oracle 'greedy'")
    index = {name: row for row, name in enumerate(window.jobs.name)}
    job = np.array([index[name] for name in schedule["job"]], dtype=np.int64)
    k_min = window.units.servers[window.profile_of_job[job], 0].astype(np.int64)
    count = np.array(schedule["servers"], dtype=np.int64) - k_min + 1
    row = np.repeat(np.arange(len(job)), count)
    unit = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    slot = np.array(schedule["slot"], dtype=np.int64)
    share = np.array(schedule["share"])
    return job[row], slot[row], unit, share[row]


def _carbon(window: ElasticInstance) -> FloatArray:
    """Return the features of carbon, shape (T, 3); beyond the end the last day is repeated."""
    intensity = window.intensity
    day = max(1, round(DAY_HOURS / window.time.slot_hours))
    ahead = sliding_window_view(np.concatenate([intensity, np.resize(intensity[-day:], day)])[1:], day)
    return carbon_features(intensity, np.concatenate([intensity[:1], intensity[:-1]]), ahead[: len(intensity)])


def _jobs(window: ElasticInstance, completion: IntArray, queue_hours: Sequence[float]) -> FloatArray:
    """Return the active jobs of each queue and their mean elasticity, shape (T, Q + 1)."""
    jobs = window.jobs
    slots = window.time.slots
    queue = np.searchsorted(np.array(queue_hours) / window.time.slot_hours, jobs.length * (1 - 1e-9))
    units = window.units
    elasticity = (units.gain.sum(axis=1) / units.count)[window.profile_of_job]

    def active(weight: FloatArray) -> FloatArray:
        change = np.bincount(jobs.arrival, weight, slots + 1) - np.bincount(completion, weight, slots + 1)
        return np.asarray(np.cumsum(change)[:slots])

    counts = [active((queue == q).astype(float)) for q in range(len(queue_hours) + 1)]
    every = np.sum(counts, axis=0)
    total = np.maximum(active(elasticity), 0.0)
    return np.column_stack([*counts, np.divide(total, every, out=np.zeros(slots), where=every > 0.5)])
