"""What the compiled loops of schedules work on: tables of an instance, a schedule, and work space that grows."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mlcluster.methods.price.bound import Proof
from carbonopt.problems.mlcluster.methods.price.cheapest import Limits, space_of
from carbonopt.problems.mlcluster.methods.price.path import path_steps
from carbonopt.problems.mlcluster.methods.price.rows import Rows
from carbonopt.problems.mlcluster.methods.price.tables import State, Tables, Work
from carbonopt.problems.mlcluster.methods.price.timeline import hold, nothing_held, with_room
from carbonopt.problems.mlcluster.methods.price.walks import Kinds

HIGHEST = 1e9
"""Worth of work up to which runs are looked for, over the largest price of work."""
CLOSE = 1e-6
"""See `break_paths`: a walk that is not quite the best has to be cut more, where it does too much work."""
WIDTH = 0.03
"""See `break_paths`: prices for which runs are looked for are not those that lead."""


class Room:
    """A schedule, and what is needed to change it.

    Parameters
    ----------
    proof
        The prices that lead.
    rows
        The schedule.
    most_jobs
        That are taken out at a time, at most.

    Attributes
    ----------
    tables, state, work
        What the compiled loops take.
    """

    def __init__(self, proof: Proof, rows: Rows, most_jobs: int) -> None:
        self.tables = _tables(proof)
        self._most_jobs = most_jobs
        cost, hours = _values(self.tables, rows)
        totals = np.array([cost.sum(), cost.sum(), hours.sum()])
        held = nothing_held(2 * len(rows.job) + 2)
        hold(held, rows.start, rows.end, rows.gpus, 1)
        self.state = State(held, rows, rows, np.full(2, len(rows.job)), cost, hours, totals)
        self.grow()

    @property
    def rows(self) -> Rows:
        """The schedule."""
        return self.state.rows.first(int(self.state.counts[0]))

    @property
    def best(self) -> Rows:
        """The best schedule that there was."""
        return self.state.best.first(int(self.state.counts[1]))

    def steps(self, looked_at: int) -> float:
        """Return about how many loop steps walks take that look at so many stretches."""
        return path_steps(float(looked_at), self.tables.kinds.speed.shape[1])

    def grow(self) -> None:
        """Make the arrays larger: at least twice as large, and twice as large as runs of one job in each cell need."""
        state, tables, most = self.state, self.tables, self._most_jobs
        cells, gpus = len(tables.carbon), tables.kinds.speed.shape[1]
        size = 2 * max(len(state.rows.job), int(state.counts.max()) + cells)
        self.state = state._replace(
            held=with_room(state.held, 2 * size), rows=state.rows.with_space(size), best=state.best.with_space(size)
        )
        self.work = Work(
            taken=np.zeros(most, dtype=np.int64),
            old=Rows.space(size),
            new=Rows.space(size),
            cost=np.zeros(most),
            hours=np.zeros(most),
            price=np.zeros(cells),
            least=np.zeros(cells),
            space=space_of(cells + 2 * size, gpus),
        )


def _tables(proof: Proof) -> Tables:
    """Return what does not change."""
    c = proof.coefficients
    instance = c.instance
    limit = instance.limits.mean_jct_hours
    work_prices = np.maximum(proof.work_prices, 1e-12)
    return Tables(
        carbon=c.carbon,
        carbon_until=np.concatenate([[0.0], np.cumsum(c.carbon) * c.minutes]),
        minutes=c.minutes,
        prices=proof.prices,
        work_prices=work_prices,
        arrival=instance.jobs.arrival_minutes,
        kind=c.kind,
        work=instance.jobs.work_gpu_minutes,
        restart=instance.scales.restart_minutes[instance.profile_of_job],
        kinds=Kinds(c.speed, c.watts),
        hour_price=instance.weights.jct_hours,
        delay_price=proof.delay_price,
        most_hours=np.inf if limit is None else limit * len(instance.jobs),
        limits=Limits(instance.cluster.gpus, HIGHEST * float(work_prices.max(initial=0.0)), CLOSE, WIDTH),
    )


def _values(tables: Tables, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Return what each job costs, and its completion time [h], shapes (N,); 0 where it has no rows."""
    count = len(tables.arrival)
    last = np.zeros(count)
    np.maximum.at(last, rows.job, rows.end)
    hours = np.where(last > 0, (last - tables.arrival) / 60, 0.0)
    edges = tables.minutes * np.arange(len(tables.carbon_until))
    start, end = (np.interp(moment, edges, tables.carbon_until) for moment in (rows.start, rows.end))
    carbon = tables.kinds.watts[tables.kind[rows.job], rows.gpus - 1] * (end - start)
    return np.bincount(rows.job, carbon, count) + tables.hour_price * hours, hours
