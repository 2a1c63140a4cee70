"""What every tool of `mosp_build.py` starts from and ends with: an instance's arrays, and a program's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Data:
    """What every tool starts from: N jobs of one resource, M clusters of constant capacity, T slots."""

    instance: MospInstance
    arrival: Ints
    duration: Ints
    deadline: Floats
    demand: Floats
    capacity: Floats
    kg_per_unit: Floats
    """kgCO2eq of one used unit in each slot, shape (M, T)."""
    weights: CarbonObjective


@dataclass(frozen=True)
class Arrays:
    """A program as HiGHS takes it, compressed by columns or by rows."""

    cost: Floats
    lower: Floats
    upper: Floats
    integer: npt.NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    starts: npt.NDArray[np.integer[Any]]
    indices: npt.NDArray[np.integer[Any]]
    values: Floats
    by_rows: bool = False

    def size(self) -> tuple[int, int, int]:
        """Columns, rows that hold a coefficient, nonzeros."""
        used = np.count_nonzero(np.diff(self.starts)) if self.by_rows else len(np.unique(self.indices))
        return len(self.cost), int(used), int(np.count_nonzero(self.values))


@dataclass(frozen=True)
class Tool:
    """How one tool builds the program."""

    model: Callable[[Data], Any]
    arrays: Callable[[Any], Arrays]
    load: Callable[[Any], Any] | None = None
    """Its own way to a HiGHS object that holds the model; None: `load_arrays`."""
    package: str = ""
    slow: bool = False
    """Built once, whatever the number of repeats."""


def read_data(instance: MospInstance) -> Data:
    """Take the arrays out of an instance, which has to be of the kind that all the tools state here."""
    jobs, clusters, weights = instance.jobs, instance.clusters, instance.objective
    constant = bool((clusters.capacity == clusters.capacity[:, :, :1]).all())
    plain = isinstance(weights, CarbonObjective) and weights.rejection_price is None
    if jobs.eligible is not None or len(instance.resources) != 1 or not constant or not plain:
        raise SystemExit("this comparison is of one resource, constant capacity, no eligibility and no rejection")
    assert isinstance(weights, CarbonObjective)
    kwh_per_unit = clusters.watts_per_unit[:, 0] / 1000 * instance.time.slot_hours
    return Data(
        instance,
        jobs.arrival,
        jobs.duration,
        jobs.deadline,
        jobs.demand[:, 0],
        clusters.capacity[:, 0],
        kwh_per_unit[:, None] * instance.carbon.g_per_kwh[instance.zone_of_cluster] / 1000,
        weights,
    )


# What a user of a matrix or array tool writes in numpy.


@dataclass(frozen=True)
class Placements:
    """One entry a column x_ijt."""

    job: Ints
    cluster: Ints
    start: Ints
    cost: Floats


def placements(data: Data) -> Placements:
    """List where each job may start, and what that costs."""
    jobs, (clusters, slots) = len(data.arrival), data.capacity.shape
    starts = np.maximum(0, slots - data.duration - data.arrival + 1)
    count = (starts[:, None] * (data.demand[:, None] <= data.capacity[:, 0])).ravel()
    pair = np.repeat(np.arange(jobs * clusters), count)
    job, cluster = pair // clusters, pair % clusters
    start = np.arange(len(pair)) - (np.cumsum(count) - count)[pair] + data.arrival[job]
    end = start + data.duration[job]
    kg = np.zeros((clusters, slots + 1))
    np.cumsum(data.kg_per_unit, axis=1, out=kg[:, 1:])
    cost = data.weights.carbon_kg * data.demand[job] * (kg[cluster, end] - kg[cluster, start])
    cost += data.weights.tardiness_slots * np.maximum(0, end - data.deadline[job])
    cost += data.weights.completion_slots * end
    return Placements(job, cluster, start, cost)


def usage(data: Data, x: Placements) -> tuple[Ints, Ints, Ints]:
    """List the nonzeros of the capacity rows in order of columns: the columns' starts; column and row of each."""
    slots = data.capacity.shape[1]
    duration = data.duration[x.job]
    starts = np.concatenate([[0], np.cumsum(duration)])
    column = np.repeat(np.arange(len(duration)), duration)
    row = np.arange(len(column)) + np.repeat(x.cluster * slots + x.start - starts[:-1], duration)
    return starts, column, row
