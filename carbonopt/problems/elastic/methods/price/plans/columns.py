"""Column generation over whole-job plans: a bound that knows that jobs run on whole servers in whole slots.

    min  sum_q cost_q x_q      s.t.  one plan a job,  servers of all plans <= M_t in each slot,  x >= 0

The restricted master knows some plans; its slot prices lambda, smoothed towards the best ones known,
price out better plans. Whatever the prices, the Lagrangian value bounds every integer schedule:

    sum_j min_plan cost_j(lambda) - sum_t lambda_t M_t
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.elastic.methods.price.parameters import ColumnParameters
from carbonopt.problems.elastic.methods.price.plans.balance import Pool
from carbonopt.problems.elastic.methods.price.plans.pricing import price_jobs
from carbonopt.problems.elastic.methods.price.plans.table import Scratch, Table

LITTLE = 1e-7
"""A rise of the bound below this, relative, is none."""
JOBS_PER_CALL = 2_000
"""Jobs that are priced without a chance to interrupt; some 20 microseconds each."""
JOB_STEPS = 15_000.0
"""Loop steps to price one job, about."""
FLOAT_ERROR = 1e-10
"""Rounding of a Lagrangian value, relative to the size of what it adds up."""
UNLIMITED = 2**40
"""Room of a slot that stands for no limit [servers]."""


class Columns:
    """Plans of all jobs, each once.

    Parameters
    ----------
    table
        The jobs.
    room
        Whole servers of each slot, shape (T,): plans that need more of one are known, but do not fit.
    """

    def __init__(self, table: Table, room: IntArray) -> None:
        self.table = table
        self.room = room
        jobs = len(table.first)
        self.flat_job = np.repeat(np.arange(jobs), table.width)
        self.flat_slot = np.arange(len(self.flat_job)) - np.repeat(table.offset - table.first, table.width)
        self._digit = np.random.default_rng(0).integers(1, 2**62, len(self.flat_job)) | 1
        self._seen: set[tuple[int, int]] = set()
        self._parts: list[tuple[IntArray, FloatArray, BoolArray, IntArray, IntArray, IntArray]] = []

    def __len__(self) -> int:
        return sum(len(part[0]) for part in self._parts)

    def carbon(self, level: IntArray) -> FloatArray:
        """Return the carbon of each job at these levels [g], shape (N,)."""
        kwh = self.table.energy[self.table.profile[self.flat_job], level]
        grams = self.table.intensity[self.flat_slot] * kwh
        return np.asarray(np.bincount(self.flat_job, grams, len(self.table.first)), dtype=np.float64)

    def servers(self, level: IntArray) -> IntArray:
        """Return the servers of each job-slot at these levels, in the flat order."""
        return np.asarray(self.table.servers[self.table.profile[self.flat_job], level])

    def load(self, level: IntArray) -> IntArray:
        """Return the servers used in each slot, shape (T,)."""
        load = np.bincount(self.flat_slot, self.servers(level), len(self.room))
        return load.astype(np.int64)

    def add(self, level: IntArray) -> int:
        """Take in the plans of all jobs that are not known yet; a job without any level has none. Return how many."""
        with np.errstate(over="ignore"):
            digest = np.add.reduceat(level * self._digit, self.table.offset)
        keys = list(enumerate(digest.tolist()))
        fresh = np.array([key[1] != 0 and key not in self._seen for key in keys], dtype=np.bool_)
        if not fresh.any():
            return 0
        self._seen.update(key for key, new in zip(keys, fresh.tolist(), strict=True) if new)
        servers = self.servers(level)
        tight = np.bincount(self.flat_job, servers > self.room[self.flat_slot], len(fresh)) > 0
        used = np.flatnonzero(fresh[self.flat_job] & (level > 0))
        count = np.bincount(self.flat_job[used], minlength=len(fresh))[fresh]
        entries = (count, self.flat_slot[used], level[used])
        self._parts.append((np.flatnonzero(fresh), self.carbon(level)[fresh], ~tight[fresh], *entries))
        return int(fresh.sum())

    def arrays(self) -> tuple[IntArray, FloatArray, BoolArray, IntArray, IntArray, IntArray]:
        """Return job, carbon, whether it fits, and number of entries of each plan; slot and level of each entry."""
        if len(self._parts) > 1:
            joined = [np.concatenate([part[k] for part in self._parts]) for k in range(6)]
            self._parts = [(joined[0], joined[1], joined[2], joined[3], joined[4], joined[5])]
        return self._parts[0]

    def pool(self, prices: FloatArray, least: FloatArray, most: float) -> Pool:
        """Return the plans that fit and have an excess of at most `most` [g], and at least one a job.

        `least` holds each job's least reduced cost at `prices`.
        """
        job, carbon, fits, count, slot, level = self.arrays()
        plan = np.repeat(np.arange(len(job)), count)
        servers = self.table.servers[self.table.profile[job[plan]], level]
        excess = np.maximum(0.0, carbon + np.bincount(plan, prices[slot] * servers, len(job)) - least[job])
        order = np.lexsort((excess, ~fits, job))
        best = np.ones(len(job), dtype=np.bool_)
        best[1:] = np.diff(job[order]) > 0
        chosen = order[(fits & (excess <= most))[order] | best]
        first = np.concatenate([[0], np.cumsum(np.bincount(job[chosen], minlength=len(least)))])
        start = np.concatenate([[0], np.cumsum(count)])
        entry = np.concatenate([np.arange(start[q], start[q + 1]) for q in chosen.tolist()])
        starts = np.concatenate([[0], np.cumsum(count[chosen])])
        return Pool(first, starts, slot[entry], level[entry], excess[chosen])


@dataclass(eq=False)
class Bound:
    """The best Lagrangian value so far [g], its prices, and each job's least reduced cost there."""

    value: float
    prices: FloatArray
    least: FloatArray

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound without a solver."""
        return {"kind": "lagrangian-plans", "prices": self.prices, "bound": self.value}


class PlanPricer:
    """Prices all jobs; remembers their break prices."""

    def __init__(self, table: Table, scratch: Scratch, limit: FloatArray) -> None:
        self.table = table
        self.scratch = scratch
        self.limit = limit
        self.guess = np.zeros(len(table.first))
        self.unlimited = np.full(len(limit), UNLIMITED)

    def __call__(self, prices: FloatArray, room: IntArray | None = None) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the levels of each job's cheapest plan at `prices`, its cost, and the least cost (a bound on it)."""
        jobs = len(self.table.first)
        level = np.zeros(int(self.table.width.sum()), dtype=np.int64)
        cost = np.zeros(jobs)
        least = np.zeros(jobs)
        free = self.unlimited if room is None else room
        for begin in range(0, jobs, JOBS_PER_CALL):
            end = min(jobs, begin + JOBS_PER_CALL)
            price_jobs(begin, end, prices, free, self.guess, level, cost, least, self.table, self.scratch)
        return level, cost, least

    @property
    def steps(self) -> float:
        """Loop steps to price all jobs once, about."""
        return JOB_STEPS * len(self.table.first)

    def bound(self, prices: FloatArray) -> tuple[Bound, IntArray]:
        """Return the Lagrangian bound at `prices`, weakened by what rounding may do, and the plans that attain it."""
        level, _, least = self(prices)
        paid = prices * self.limit
        size = float(np.abs(least).sum() + paid.sum())
        return Bound(float(least.sum() - paid.sum()) - FLOAT_ERROR * size, prices, least), level

    def short_of_servers(self, prices: FloatArray) -> float:
        """Return by how much the plans that need the least servers, at `prices`, cost more than all servers do.

        No schedule exists where that is above 0 (Farkas' lemma): it would pay for no more servers than there are.
        """
        free = self.table._replace(intensity=np.zeros_like(self.table.intensity))
        return PlanPricer(free, self.scratch, self.limit).bound(prices)[0].value


def generate(
    columns: Columns, pricer: PlanPricer, best: Bound, penalty: float, params: ColumnParameters, options: Options
) -> tuple[Bound, float | None]:
    """Generate columns until the master is within the gap of the bound, or time is out.

    `penalty` [g per server and slot] is what load above a capacity costs in the master, so that it has
    a solution whatever the columns. Returns the best bound, and the master's value at the end.
    """
    value = None
    stalled = 0
    gap = min(params.gap, options.mip_rel_gap / 10)
    for number in range(params.rounds):
        prices, value = _master(columns, penalty, max(1e-8, 10.0 ** -(3 + number)), options)
        if prices is None:
            break
        fresh = 0
        center = best.prices
        before = best.value
        for share in params.center_shares:
            if options.remaining == 0:
                break
            options.spend(pricer.steps)
            found, level = pricer.bound(share * center + (1 - share) * prices)
            fresh += columns.add(level)
            best = found if found.value > best.value else best
        options.report(bound=best.value, certificate=best.certificate)
        far = value is not None and value - best.value > params.far_gap * abs(value)
        stalled = 0 if far or best.value > before + LITTLE * abs(before) else stalled + 1
        closed = value is not None and value - best.value <= gap * abs(value)
        if closed or fresh == 0 or stalled == params.patience or options.remaining == 0:
            break
    return best, value


def _master(
    columns: Columns, penalty: float, tolerance: float, options: Options
) -> tuple[FloatArray | None, float | None]:
    """Solve the restricted master by interior point; return its slot prices and value."""
    job, carbon, _, count, slot, level = columns.arrays()
    program = Program("plans")
    x = program.add_variables("x", len(job), cost=carbon)
    over = program.add_variables("over", len(columns.room), cost=penalty)
    one = program.add_rows("one", len(columns.table.first), lower=1.0, upper=1.0)
    capacity = program.add_rows("capacity", len(columns.room), upper=columns.room)
    plan = np.repeat(np.arange(len(job)), count)
    program.add_entries(one.start + job, x.index, 1.0)
    servers = columns.table.servers[columns.table.profile[job[plan]], level]
    program.add_entries(capacity.start + slot, x.start + plan, servers)
    program.add_entries(capacity.index, over.index, -1.0)
    quiet = replace(options, callback=None, threads=options.threads or 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the range of the costs is that of the jobs' sizes
        result = highs.solve(program, quiet, lp_solver="ipm", interior_tolerance=tolerance)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.row_dual is None:
        return None, None
    return np.maximum(0.0, -result.row_dual[capacity.slice]), result.objective
