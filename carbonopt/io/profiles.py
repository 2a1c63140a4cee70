"""Reader of measured scaling profiles: throughput and power of a job on 1, 2, 3, ... nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, frozen_float, frozen_int
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.csvfile import Table, read_table

_COLUMNS = {name: (name,) for name in ("nodes", "throughput", "power")}
_RULES = {
    "nodes": "must be a whole number, at least 0",
    "throughput": "must be a finite number, at least 0",
    "power": "must be a finite number of watts, at least 0",
}
ROUNDING = 1e-9
"""By which a node may add more than the one before it, relative: 0.4 - 0.3 is above 0.3 - 0.2."""


@dataclass(frozen=True, eq=False)
class ScalingProfile:
    """What was measured at each number of nodes.

    Parameters
    ----------
    name
        Of the file, without its endings.
    nodes
        k_min, k_min + 1, ..., shape (U,).
    throughput
        Of all nodes together, in any unit, shape (U,): increasing, by no more from node to node.
    watts
        Power of all nodes together [W], shape (U,), never falling.
    """

    name: str
    nodes: IntArray
    throughput: FloatArray
    watts: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", frozen_int(self.nodes))
        object.__setattr__(self, "throughput", frozen_float(self.throughput))
        object.__setattr__(self, "watts", frozen_float(self.watts))


def read_scaling(path: str | os.PathLike[str]) -> ScalingProfile:
    r"""Read a scaling profile with the columns ``nodes,throughput,power`` (CSV, plain or gzip).

    Parameters
    ----------
    path
        The file: one row for each number of nodes, from the least on that the job runs on, none left
        out, in any order. A row of 0 nodes may stand beside them, with throughput and power 0.
        Throughput is in any unit, power in watts; both are of all nodes together.

    Raises
    ------
    InputError
        With every fault: file, column, line, value and what would be right. Throughput must increase,
        by no more from node to node, and power must not fall.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "nbody.csv")
    ...     _ = path.write_text("nodes,throughput,power\n1,50,55\n2,90,110\n")
    ...     profile = read_scaling(path)
    >>> profile.name, profile.nodes.tolist(), profile.watts.tolist()
    ('nbody', [1, 2], [55.0, 110.0])
    """
    table = read_table(path)
    at = table.columns(_COLUMNS)
    nodes, throughput, watts = (table.numbers(at[name]) for name in _COLUMNS)
    good = {
        name: (column >= 0) & (column < np.inf)
        for name, column in (("nodes", nodes), ("throughput", throughput), ("power", watts))
    }
    good["nodes"] &= (nodes == np.floor(nodes)) & (nodes < 2**31)
    faults = [fault for name, rule in _RULES.items() for fault in table.faults(at[name], ~good[name], rule)]
    if not faults:
        faults = list(_row_faults(table, at["nodes"], nodes))
    if faults:
        raise InputError(faults)
    order: IntArray = np.argsort(nodes, kind="stable")
    faults = list(_course_faults(table, at, order, nodes, throughput, watts))
    if faults:
        raise InputError(faults)
    order = order[nodes[order] > 0]
    return ScalingProfile(profile_name(path), nodes[order].astype(np.int64), throughput[order], watts[order])


def profile_name(path: str | os.PathLike[str]) -> str:
    """Return the name of the profile in a file: the file's, without its endings.

    Examples
    --------
    >>> profile_name("profiles/nbody100k.csv.gz")
    'nbody100k'
    """
    return Path(path).name.removesuffix(".gz").removesuffix(".csv")


def _row_faults(table: Table, column: int, nodes: FloatArray) -> Iterator[Fault]:
    """Yield a fault for each number of nodes that stands twice or is left out."""
    order = np.argsort(nodes, kind="stable").tolist()
    if nodes.max() == 0:
        yield table.fault(column, order[0], "must not be the only number of nodes")
    for before, row in pairwise(order):
        least = nodes[before] + 1
        missing = nodes[row] - nodes[before] - 1
        if missing < 0:
            yield table.fault(column, row, f"is a duplicate of line {table.lines[before]}")
        elif missing > 0 and nodes[before] > 0:
            if missing == 1:
                left_out = f"{least:.0f}"
            else:
                left_out = f"{least:.0f} to {nodes[row] - 1:.0f}"
            yield table.fault(column, row, f"must be {least:.0f}: there is no row for {left_out} nodes")


def _course_faults(
    table: Table, at: dict[str, int], order: IntArray, nodes: FloatArray, throughput: FloatArray, watts: FloatArray
) -> Iterator[Fault]:
    """Yield a fault for each row in which throughput or power takes a wrong turn; `order` sorts by nodes."""
    empty: BoolArray = nodes == 0
    yield from table.faults(at["throughput"], empty & (throughput > 0), "must be 0: there are no nodes")
    yield from table.faults(at["power"], empty & (watts > 0), "must be 0: power is that of the job's own nodes")
    gain_before = np.inf
    throughput_before = 0.0
    watts_before = 0.0
    for row in order[nodes[order] > 0].tolist():
        gain = throughput[row] - throughput_before
        if gain <= 0:
            words = f"must be above {shown(throughput_before)}, that of one node less"
            yield table.fault(at["throughput"], row, words)
        elif gain > gain_before * (1 + ROUNDING):
            most = shown(float(throughput_before + gain_before))
            yield table.fault(at["throughput"], row, f"must be at most {most}: no node adds more than the one before")
            throughput_before = float(throughput[row])
        else:
            gain_before = gain
            throughput_before = float(throughput[row])
        if watts[row] < watts_before:
            yield table.fault(at["power"], row, f"must be at least {shown(watts_before)}, that of one node less")
        watts_before = max(watts_before, float(watts[row]))
