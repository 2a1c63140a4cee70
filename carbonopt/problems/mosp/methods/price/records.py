"""What the search knows of jobs and of the schedule that it changes, as records that compiled loops can read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray, RecordArray

JOB = np.dtype(
    [
        ("member", np.int64),
        ("group", np.int32),
        ("length", np.int32),
        ("arrival", np.int32),
        ("level", np.int32),
        ("work", np.float64),
        ("rejection_regret", np.float64),
        ("lowest", np.float64),
        ("least", np.float64),
        ("rejection_cost", np.float64),
        ("is_level", np.bool_),
        ("is_changed", np.bool_),
        ("place", np.int64),
        ("best", np.int64),
        ("cost", np.float64),
        ("excess", np.float64),
        ("after", np.int64),
        ("before", np.int64),
        ("high_regret_at", np.int64),
        ("rejected_at", np.int64),
    ],
    align=True,
)
"""What the search knows of a job, in one piece of memory.

member, group, length, arrival, work, rejection_regret
    Its row of the dual's table, group, slots, units x slots, and its excess where it is rejected.
lowest, least, rejection_cost
    Its least reduced cost, rejection included, the least cost of its places, and what it costs where it is rejected.
level, is_level
    Its level of demand, and whether it demands no more than that.
place, cost, excess, best
    cluster x T + start, -1 where it is rejected, what that costs, its excess; the place in the best schedule.
after, before
    Its neighbours in the list of jobs of one place; -1 ends it.
high_regret_at, rejected_at, is_changed
    Its positions among the jobs of large regret and the rejected ones, or -1; whether it may be elsewhere than in the
    best schedule.
"""
MOVED = np.dtype(
    [("job", np.int64), ("place", np.int64), ("cost", np.float64), ("excess", np.float64), ("key", np.float64)]
)
"""A job that a move has taken out: where it was, and its key in the order of insertions."""
NOW = np.dtype(
    [
        ("total", np.float64),
        ("best_total", np.float64),
        ("rejection_cost", np.float64),
        ("full_slot_bonus", np.float64),
        ("high_regret_excess", np.float64),
        ("high_regret_count", np.int64),
        ("rejected_count", np.int64),
        ("longest", np.int64),
    ]
)
"""Of the whole schedule.

total, best_total, rejection_cost
    Cost of the schedule now, and of the best; what a rejected job costs, unless it is charged less.
full_slot_bonus
    What counts less in an insertion for each slot in which it leaves no room to others.
high_regret_excess, high_regret_count
    Excess above which a job is one of large regret, and how many there are.
rejected_count
    How many jobs are rejected.
longest
    Duration of the longest job.
"""


class State(NamedTuple):
    """A schedule of N jobs, and what the search needs to change it.

    Attributes
    ----------
    jobs
        Records of type `JOB`, shape (N,).
    demand
        Shape (N, R).
    capacity_left
        Units left of each resource by cluster x T + slot, shape (R, M T).
    levels, least_demand
        Demands that have bits of their own, shape (V, R), and the least of all jobs, shape (R,).
    room
        Bits: whether the demand of a level is free in a slot of the M T, shape (V, words).
    head
        First job of each place, -1 for none, shape (M T,).
    high_regret, rejected, changed
        Jobs of large excess, those that do not run, and those that may not be where the best schedule has them: lists,
        shape (N,).
    moved, order
        Work space: what a move has taken out, records of type `MOVED`, and the order in which it comes back.
    now
        One record of type `NOW`.
    """

    jobs: RecordArray
    demand: FloatArray
    capacity_left: FloatArray
    levels: FloatArray
    least_demand: FloatArray
    room: IntArray
    head: IntArray
    high_regret: IntArray
    rejected: IntArray
    changed: IntArray
    moved: RecordArray
    order: IntArray
    now: RecordArray

    @property
    def place(self) -> IntArray:
        """Place of each job, -1 where it is rejected, shape (N,)."""
        return np.asarray(self.jobs["place"])

    @property
    def best(self) -> IntArray:
        """Place of each job in the best schedule, shape (N,)."""
        return np.asarray(self.jobs["best"])

    @property
    def best_total(self) -> float:
        """Cost of the best schedule."""
        return float(self.now["best_total"][0])
