"""Arrays that the compiled loops of schedules share: an instance, a schedule, and work space."""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mlcluster.methods.price.cheapest import Limits, Space
from carbonopt.problems.mlcluster.methods.price.rows import Rows
from carbonopt.problems.mlcluster.methods.price.timeline import Held
from carbonopt.problems.mlcluster.methods.price.walks import Kinds


class Tables(NamedTuple):
    """What a search does not change, of N jobs and T cells.

    Attributes
    ----------
    carbon
        Price of a watt's carbon [objective a W min], shape (T,).
    carbon_until
        Its sum up to the edges of cells [objective a W], shape (T + 1,).
    minutes
        Length of a cell.
    prices
        Of GPU time, those that lead [objective a GPU min], shape (T,).
    work_prices
        Break prices of work to begin with, above 0 [objective a 1-GPU min], shape (N,).
    arrival, kind, work, restart
        Of jobs: [min], row of `kinds`, [1-GPU min], [min], shape (N,).
    kinds
        Speed and watts.
    hour_price
        What an hour of completion time costs [objective].
    delay_price
        What it costs a job that is put back.
    most_hours
        Of all jobs' completion times together.
    limits
        Of walks.
    """

    carbon: FloatArray
    carbon_until: FloatArray
    minutes: float
    prices: FloatArray
    work_prices: FloatArray
    arrival: FloatArray
    kind: IntArray
    work: FloatArray
    restart: FloatArray
    kinds: Kinds
    hour_price: float
    delay_price: float
    most_hours: float
    limits: Limits


class State(NamedTuple):
    """The present schedule, and the best one.

    Attributes
    ----------
    held
        GPUs that runs hold.
    rows, best
        Runs of the two; arrays have room for more than there are.
    counts
        Rows of the two, shape (2,).
    cost, hours
        What each job costs, and its completion time [h], shape (N,).
    totals
        Objectives of the two, and the sum of `hours`, shape (3,).
    """

    held: Held
    rows: Rows
    best: Rows
    counts: IntArray
    cost: FloatArray
    hours: FloatArray
    totals: FloatArray


class Work(NamedTuple):
    """Work space of a change that takes K jobs out at most.

    Attributes
    ----------
    taken
        The jobs, shape (K,).
    old, new
        Their runs before and after.
    cost, hours
        Of each after, shape (K,).
    price, least
        Of a cell: of GPU time, and the least cost of work for one kind, shape (T,).
    space
        Of walks.
    """

    taken: IntArray
    old: Rows
    new: Rows
    cost: FloatArray
    hours: FloatArray
    price: FloatArray
    least: FloatArray
    space: Space
