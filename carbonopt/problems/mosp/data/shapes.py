"""Workloads in the shape of real traces: heavy tails, bursts, job arrays, two resources, eligibility, day and night."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.time import TimeGrid
from carbonopt.io.supercomputer import supercomputer_jobs
from carbonopt.io.workload import job_names, stream
from carbonopt.problems.mosp.data.instance import Clusters, MospJobs

ARRIVAL_SHARE = 0.75
"""Jobs arrive within this share of the horizon."""
LONGEST_SHARE = 0.25
"""Longest job over the horizon: longer ones of the model end there."""
LEAST_FACTOR, MOST_FACTOR = 2.0, 4.0
"""Deadline: arrival + so many times the length, uniform, as in Caspian (section V-A)."""
WATTS_PER_NODE = (200.0, 350.0, 50.0)
"""Power of a node [W]: least, most, step."""
WATTS_PER_GB = 0.392
"""Power of memory [W/GB], as Cloud Carbon Footprint assumes."""
GB_PER_NODE = (2.0, 1.0)
"""Mean and standard deviation of the natural logarithm of a job's memory per node [ln GB]."""
MOST_GB_PER_NODE = 64.0
DAY_HOURS = (8, 20)
"""Hours of the day at which the nodes may be fewer [h, UTC]."""
LEAST_TAIL = 0.1
"""Of the sizes of job arrays: one half of those have 1,024 jobs or more then."""
FACTORS, MEMORY, ELIGIBLE, POWER, ARRAYS = range(5)
"""Random streams of a seed."""


@dataclass(frozen=True)
class Shape:
    """What a workload has beside its numbers of jobs, clusters and slots.

    Parameters
    ----------
    max_demand
        Nodes of the largest job, at least 2.
    memory
        Whether memory is a second resource [GB].
    restricted_share
        Share of the jobs that may not run on every cluster, from 0 to 1. Each of them may run on one at least.
    day_capacity
        Share of the nodes that batch jobs have from 8 to 20 o'clock, above 0 and at most 1.
    array_tail
        Tail of the sizes of job arrays, whose jobs are alike: of all arrays ``s ** -array_tail`` have s jobs or more.
        At least 0.1; infinite for no arrays. In 20 stretches of 756 jobs of the log RICC-2010-2 of the Parallel
        Workloads Archive, with arrivals and lengths in whole hours, 46 % of the arrays have two jobs or more, 10 %
        have 10, and 1 % have 160: a tail of 0.9. In two of HPC2N-2002-2.2 32 % have two or more, 10 % have 5, and 1 %
        have 16: about 1.6.

    Raises
    ------
    UnsupportedError
        For a number out of range.
    """

    max_demand: int = 128
    memory: bool = False
    restricted_share: float = 0.0
    day_capacity: float = 1.0
    array_tail: float = np.inf

    def __post_init__(self) -> None:
        if self.max_demand < 2:
            raise UnsupportedError(f"max_demand = {shown(self.max_demand)}: must be at least 2")
        if not 0 <= self.restricted_share <= 1:
            raise UnsupportedError(f"restricted_share = {shown(self.restricted_share)}: must be from 0 to 1")
        if not 0 < self.day_capacity <= 1:
            raise UnsupportedError(f"day_capacity = {shown(self.day_capacity)}: must be above 0 and at most 1")
        if not self.array_tail >= LEAST_TAIL:
            raise UnsupportedError(f"array_tail = {shown(self.array_tail)}: must be at least {LEAST_TAIL}")


def supercomputer_workload(
    shape: Shape, jobs: int, zones: tuple[str, ...], grid: TimeGrid, load: float, seed: int
) -> tuple[MospJobs, Clusters]:
    """Draw jobs of the model of Lublin and Feitelson, and equal clusters for them.

    Parameters
    ----------
    shape
        Of the workload.
    jobs
        Number of jobs N.
    zones
        Of the M clusters.
    grid
        T slots.
    load
        Work over capacity of the whole horizon, of each resource. A cluster has room for each job at any time, so
        that the load may be lower.
    seed
        Of every draw.
    """
    slot_hours = grid.slot_hours
    hours = ARRIVAL_SHARE * grid.slots * slot_hours
    begin = grid.start.hour + grid.start.minute / 60
    size = array_sizes(jobs, shape.array_tail, seed)
    drawn = supercomputer_jobs(len(size), hours, shape.max_demand, seed, begin)
    longest = max(1, int(LONGEST_SHARE * grid.slots))
    duration = np.clip(np.ceil(drawn.length_hours / slot_hours), 1, longest).astype(np.int64)
    arrival = np.minimum(np.ceil(drawn.arrival_hours / slot_hours), grid.slots - duration).astype(np.int64)
    deadline = arrival + duration * stream(seed, FACTORS).uniform(LEAST_FACTOR, MOST_FACTOR, len(size))
    demand = drawn.cpus[:, None]
    if shape.memory:
        demand = np.column_stack([drawn.cpus, _memory(drawn.cpus, seed)])
    eligible = _eligible(len(size), len(zones), shape.restricted_share, seed) if shape.restricted_share else None
    of = np.repeat(np.arange(len(size)), size)
    allowed = None if eligible is None else eligible[of]
    table = MospJobs(job_names(jobs), arrival[of], duration[of], deadline[of], demand[of], allowed)
    return table, _clusters(shape, zones, duration[of], demand[of], grid, load, seed)


def array_sizes(jobs: int, tail: float, seed: int) -> IntArray:
    """Draw how many jobs each array has, in order of arrival; the last one ends with the number of jobs.

    >>> array_sizes(12, np.inf, seed=1).tolist() == [1] * 12
    True
    >>> sizes = array_sizes(10_000, 0.9, seed=1)
    >>> int(sizes.sum()), round(float((sizes >= 2).mean()), 2), round(float((sizes >= 10).mean()), 2)
    (10000, 0.58, 0.15)
    """
    drawn = np.minimum((1 - stream(seed, ARRAYS).random(jobs)) ** (-1 / tail), jobs).astype(np.int64)
    end = np.minimum(np.cumsum(drawn), jobs)
    size = np.diff(end, prepend=0)
    return size[size > 0]


def _memory(nodes: FloatArray, seed: int) -> FloatArray:
    """Return the memory of each job [GB], rounded to 0.1 GB, shape (N,)."""
    per_node = np.exp(stream(seed, MEMORY).normal(*GB_PER_NODE, len(nodes)))
    return np.asarray(np.round(nodes * np.clip(per_node, 0.1, MOST_GB_PER_NODE), 1))


def _eligible(jobs: int, clusters: int, restricted_share: float, seed: int) -> BoolArray:
    """Return a_ij, shape (N, M): a restricted job may run on one cluster, and on each other with probability 1/2."""
    rng = stream(seed, ELIGIBLE)
    restricted = rng.random(jobs) < restricted_share
    allowed = rng.random((jobs, clusters)) < 0.5
    allowed[np.arange(jobs), rng.integers(0, clusters, jobs)] = True
    return np.asarray(allowed | ~restricted[:, None])


def _clusters(
    shape: Shape, zones: tuple[str, ...], duration: IntArray, demand: FloatArray, grid: TimeGrid, load: float, seed: int
) -> Clusters:
    hour = np.floor(grid.start.hour + grid.start.minute / 60 + grid.slot_hours * np.arange(grid.slots)) % 24
    day = (hour >= DAY_HOURS[0]) & (hour < DAY_HOURS[1])
    share = np.where(day, shape.day_capacity, 1.0)
    units = np.ceil(duration @ demand / (load * len(zones) * share.sum()))
    capacity = np.ceil(np.maximum(units, demand.max(axis=0) / share.min())[:, None] * share)
    if shape.day_capacity == 1:
        capacity = capacity[:, 0]
    least, most, step = WATTS_PER_NODE
    watts = stream(seed, POWER).integers(round(least / step), round(most / step) + 1, len(zones)) * step
    power = np.column_stack([watts, np.full(len(zones), WATTS_PER_GB)])[:, : demand.shape[1]]
    names = tuple(f"c{j:0{len(str(len(zones)))}d}-{zone}" for j, zone in enumerate(zones))
    return Clusters(names, zones, np.broadcast_to(capacity, (len(zones), *capacity.shape)), power)
