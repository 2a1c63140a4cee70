"""Compiled loops that give jobs their cheapest runs in what others leave, one after the other."""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import IntArray
from carbonopt.problems.mlcluster.methods.price.cheapest import Asked, cheapest_runs
from carbonopt.problems.mlcluster.methods.price.rows import Rows
from carbonopt.problems.mlcluster.methods.price.tables import State, Tables, Work
from carbonopt.problems.mlcluster.methods.price.timeline import Window, hold
from carbonopt.problems.mlcluster.methods.price.walks import fill_least


@kernel
def carbon_until(tables: Tables, moment: float) -> float:
    """Return what a watt costs from the beginning to a moment [objective]."""
    t = min(int(moment / tables.minutes), len(tables.carbon) - 1)
    value: float = tables.carbon_until[t] + (moment - t * tables.minutes) * tables.carbon[t]
    return value


@kernel
def copy_row(source: Rows, r: int, target: Rows, i: int) -> None:
    """Write row `r` of `source` as row `i` of `target`."""
    target.job[i] = source.job[r]
    target.start[i] = source.start[r]
    target.end[i] = source.end[r]
    target.gpus[i] = source.gpus[r]


@kernel
def put_in(state: State, runs: Rows, count: int) -> None:
    """Add runs to the rows."""
    for r in range(count):
        copy_row(runs, r, state.rows, state.counts[0])
        state.counts[0] += 1


@kernel
def put_back(tables: Tables, state: State, k: int, first: int, work: Work) -> tuple[int, int]:
    """Give the k-th job that is taken its cheapest runs, as rows of `work.new` from `first` on.

    Returns
    -------
    count : int
        Of runs; 0 where there are none, -1 where arrays have no room for them.
    looked_at : int
        Stretches, and those whose states were looked at, over all walks.
    """
    j = work.taken[k]
    kind = tables.kind[j]
    if len(tables.carbon) + state.held.steps[0] > len(work.space.over.length):
        return -1, 0
    speed, watts = tables.kinds.speed[kind], tables.kinds.watts[kind]
    fill_least(tables.carbon, work.price, speed, watts, work.least)
    window = Window(tables.carbon, work.price, work.least, tables.minutes, tables.arrival[j], tables.delay_price)
    asked = Asked(tables.work[j], tables.work_prices[j], tables.restart[j])
    count, looked_at = cheapest_runs(state.held, window, asked, speed, watts, tables.limits, work.space)
    needed = state.counts[0] + first + count
    if needed > len(work.new.job) or state.held.steps[0] + 2 * needed + 2 > len(state.held.moment):
        return -1, looked_at
    runs = work.space.runs
    work.cost[k] = 0.0
    for r in range(count):
        start, end, gpus = runs.start[r], runs.end[r], runs.gpus[r]
        i = first + r
        work.new.job[i], work.new.start[i], work.new.end[i], work.new.gpus[i] = j, start, end, gpus
        work.cost[k] += watts[gpus - 1] * (carbon_until(tables, end) - carbon_until(tables, start))
        work.hours[k] = (end - tables.arrival[j]) / 60
    work.cost[k] += tables.hour_price * work.hours[k]
    hold(state.held, runs.start[:count], runs.end[:count], runs.gpus[:count], 1)
    return count, looked_at


@kernel
def place_all(tables: Tables, state: State, order: IntArray, work: Work) -> tuple[int, int, bool]:
    """Give jobs their cheapest runs, one after the other; the first that has none ends it.

    Returns
    -------
    count : int
        Jobs that have runs now.
    looked_at : int
        Stretches, and those whose states were looked at, over all walks.
    has_room : bool
        Whether the arrays have room for the next job.
    """
    total = 0
    for i in range(len(order)):
        work.taken[0] = order[i]
        runs, looked_at = put_back(tables, state, 0, 0, work)
        total += looked_at
        if runs <= 0:
            return i, total, runs == 0
        put_in(state, work.new, runs)
    return len(order), total, True
