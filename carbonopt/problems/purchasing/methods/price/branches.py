"""A better bound for few jobs that may not split: branches on what they do.

The relaxation splits a large job over many starts, or lets half of it run on the pool. A split has two parts. In one a
job runs on the pool, and in the other it does not. Or it starts there by a moment in one part, and not before it in the
other; in both it may do something else. Each branch has prices of its own, which begin at those of the branch that it
comes from. The branch of least bound is split next. Some splits are tried by a few iterations, and that is taken for
which the product of both rises is largest. Where fewer jobs may run in a slot, weights of sizes add up to less.

References
----------
Achterberg, Koch, Martin (2005), "Branching rules revisited", Operations Research Letters 33, 42-54.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.methods.price.bound import Proof
from carbonopt.problems.purchasing.methods.price.branch_parameters import BranchParameters
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.places import Windows
from carbonopt.problems.purchasing.methods.price.weighings import Weighings

LEAF_SECONDS = 0.005
"""What it takes to recheck a leaf, about, on a slow machine [s]."""
PRICE_SECONDS = 2e-6
"""What it takes more for each price of a unit in a leaf [s]: what its weights add up to at most is worked out anew."""
CHECKS = 2
"""How often the tree is rechecked after its last branch: at the end, and for a checkpoint that begins just before."""
CALL_STEPS = 4e4
"""Loop steps that an evaluation takes beside its own: of few jobs, to call it takes longer."""
LEAST_WINDOW = 1e-3
"""Length of a window of starts below which it is not split [h]."""
LEAST_RISE = 1e-9
"""Rise of a part's bound, over the bound, that counts at least when splits are compared."""
SHORT_HOURS = 0.5
"""Length of a run below which its starts count as spread as those of one of this length [h]."""
FARTHEST = 25.0
"""Excess of a start, over the temperature, from which it has no share of the job."""


class Split(NamedTuple):
    """A job is on the pool or not; or, if it is, starts by a moment or not before it [h]."""

    job: int
    at: float | None

    def parts(self, windows: Windows) -> tuple[Windows, Windows]:
        """Return the windows of both parts."""
        this = np.arange(len(windows.first)) == self.job
        if self.at is None:
            return replace(windows, beside=windows.beside & ~this), replace(windows, on_pool=windows.on_pool & ~this)
        last = np.where(this, self.at, windows.last)
        return replace(windows, last=last), replace(windows, first=np.where(this, self.at, windows.first))

    def node(self, parts: tuple[int, int]) -> dict[str, Any]:
        """Return what a certificate holds of it; `parts` are the numbers of their nodes."""
        when = {} if self.at is None else {"at": self.at}
        return {"job": self.job} | when | {"parts": list(parts)}


@dataclass(frozen=True, eq=False)
class Leaf:
    """A branch that is not split.

    Parameters
    ----------
    number
        Of its node.
    windows
        What jobs may do.
    value, proven
        Its bound, and that less what sums in doubles may lose.
    prices, latest
        Flat arguments of the bound, and those at which the smoothed function is greatest.
    """

    number: int
    windows: Windows
    value: float
    proven: float
    prices: FloatArray
    latest: FloatArray

    def __lt__(self, other: Leaf) -> bool:
        """Return whether this one is split before another one."""
        return (self.value, self.number) < (other.value, other.number)


class Tree:
    """The branches of one instance.

    Parameters
    ----------
    proof
        The bound without branches.
    goal
        Cost of the best schedule: branches that cost as much are not split.
    parameters
        Of branches.
    options
        Count the work.

    Attributes
    ----------
    leaves
        Those that cost less than the goal, as a heap.
    """

    def __init__(self, proof: Proof, goal: float, parameters: BranchParameters, options: Options) -> None:
        self.parameters = parameters
        self.options = options
        self.goal = goal
        self.most_work = options.work.units * (1.0 + parameters.pace)
        fine = proof.dual
        grid = _coarser(fine.grid, parameters.cell_hours)
        self.dual = Dual(fine.instance, grid, fine.held_multiplier, fine.sizes.units)
        self.weighings = Weighings(fine.instance, self.dual.jobs.shared)
        jobs = self.dual.jobs
        every = Windows.of(jobs.arrival, jobs.wait)
        cells = fine.grid.cells
        coarse = proof.point[:cells].reshape(grid.cells, -1).mean(axis=1)
        windows = replace(every, on_pool=jobs.shared > 0)
        root = self._ascent(self._within(windows), np.concatenate([coarse, proof.point[cells:]]))
        self.nodes: list[dict[str, Any]] = [{}]
        self.leaves: list[Leaf] = []
        self.closed: list[Leaf] = []
        self._add(0, windows, root)

    @property
    def bound(self) -> float:
        """The least bound of all leaves."""
        return min(leaf.proven for leaf in (*self.leaves, *self.closed))

    @property
    def size(self) -> int:
        """How many leaves there are."""
        return len(self.leaves) + len(self.closed)

    def remaining(self) -> float:
        """Return the time or work that is left: none after so much work as there may be, or leaves to be checked."""
        if self.options.work.units >= self.most_work:
            return 0.0
        of_leaf = LEAF_SECONDS + PRICE_SECONDS * self.dual.there.size
        if self.options.seconds_left <= CHECKS * of_leaf * self.size:
            return 0.0
        return self.options.remaining

    def grow(self) -> Iterator[float]:
        """Split branches until none is left or time is out; yield the bound after each."""
        while self.leaves and self.size < self.parameters.most_branches and self.remaining() > 0:
            leaf = self.leaves[0]
            parts = self._best_parts(leaf)
            if parts is None:  # nothing to split, or the time was out
                if self.remaining() <= 0:
                    return
                self.closed.append(heapq.heappop(self.leaves))
                continue
            heapq.heappop(self.leaves)
            split, climbed = parts
            numbers = len(self.nodes), len(self.nodes) + 1
            self.nodes[leaf.number] = split.node(numbers)
            self.nodes += [{}, {}]
            for number, (windows, ascent) in zip(numbers, climbed, strict=True):
                self._add(number, windows, ascent)
            yield self.bound

    def certificate(self) -> dict[str, Any]:
        """Return the certificate of the bound."""
        units: list[dict[str, Any]] = []
        nodes = list(self.nodes)
        for leaf in (*self.leaves, *self.closed):
            _, told = self._within(leaf.windows).certificate(leaf.prices)
            rounded = told.get("rounded", [])
            units = [{name: each for name, each in entry.items() if name != "prices"} for entry in rounded]
            nodes[leaf.number] = {"prices": told["prices"], "rounded_prices": [entry["prices"] for entry in rounded]}
        per_slot = self.dual.grid.per_slot
        return {"kind": "branches", "grid_slots": per_slot, "rounded": units, "nodes": nodes, "bound": self.bound}

    def _add(self, number: int, windows: Windows, ascent: Ascent) -> None:
        """Add a leaf where an ascent goes on to."""
        ascent.smooth(self.parameters.temperatures, self.parameters.iterations)
        proven, _ = self._within(windows).certificate(ascent.prices)
        leaf = Leaf(number, windows, ascent.value, proven, ascent.prices, ascent.latest)
        if leaf.value >= self.goal:
            self.closed.append(leaf)
        else:
            heapq.heappush(self.leaves, leaf)

    def _within(self, windows: Windows) -> Dual:
        """Return the dual of a branch."""
        return self.dual.within(windows, self.weighings.there(self.dual.sizes.units, windows))

    def _ascent(self, dual: Dual, first: FloatArray) -> Ascent:
        """Return an ascent from flat arguments."""

        def spend() -> None:
            self.options.spend(dual.steps + CALL_STEPS)

        return Ascent(dual.hard, dual.soft, first, 0.0, dual.upper, 1.0, self.remaining, spend, goal=self.goal)

    def _best_parts(self, leaf: Leaf) -> tuple[Split, list[tuple[Windows, Ascent]]] | None:
        """Return the split of a branch that raises both bounds most, and its parts with what was climbed so far."""
        best: tuple[Split, list[tuple[Windows, Ascent]]] | None = None
        most = -np.inf
        least = LEAST_RISE * abs(leaf.value)
        for split in self._splits(leaf):
            climbed = []
            rise = 1.0
            for windows in split.parts(leaf.windows):
                ascent = self._ascent(self._within(windows), leaf.prices)
                ascent.look(leaf.latest)
                ascent.smooth(self.parameters.temperatures[:1], self.parameters.tried_iterations)
                climbed.append((windows, ascent))
                rise *= max(min(ascent.value, self.goal) - leaf.value, least)
            if self.remaining() <= 0:
                return best
            if rise > most:
                best, most = (split, climbed), rise
        return best

    def _splits(self, leaf: Leaf) -> list[Split]:
        """Return splits that are worth a try: of the jobs with most work that the relaxation splits the most."""
        dual = self._within(leaf.windows)
        windows = leaf.windows
        temperature = self.parameters.temperatures[-1]
        self.options.spend(dual.steps)
        dual.soft(leaf.latest, temperature)
        jobs = dual.jobs
        work = self.dual.jobs.cpus * jobs.length
        found: list[tuple[float, Split]] = []
        for job in np.flatnonzero(windows.on_pool).tolist():
            beside = float(dual.used_other[job]) if windows.beside[job] else 0.0
            heat = temperature * dual.unit * float(jobs.shared[job] * jobs.length[job])
            start, cost, _ = dual.costs_of(job, leaf.latest)
            share = np.exp(-np.minimum((cost - cost.min()) / max(heat, 1e-300), FARTHEST))
            mean = float(share @ start / share.sum())
            spread = float(np.sqrt(max(0.0, share @ (start - mean) ** 2 / share.sum())))
            if windows.beside[job]:
                found.append((2 * float(work[job]) * min(beside, 1 - beside), Split(job, None)))
            first, last = float(windows.first[job]), float(windows.last[job])
            if last - first > LEAST_WINDOW:
                apart = min(1.0, spread / max(float(jobs.length[job]), SHORT_HOURS))
                at = mean if first < mean < last else (first + last) / 2
                found.append((float(work[job]) * (1 - beside) * apart, Split(job, at)))
        found.sort(key=lambda entry: (-entry[0], entry[1].job, entry[1].at is None))
        return [split for score, split in found[: self.parameters.tried] if score > 0]


def _coarser(grid: Grid, hours: float) -> Grid:
    """Return a grid of cells of about so many hours, of which each is made of whole cells of another grid."""
    slot = grid.hours * grid.per_slot
    wanted = max(1, round(slot / hours))
    per_slot = max(count for count in range(1, grid.per_slot + 1) if grid.per_slot % count == 0 and count <= wanted)
    return Grid(grid.slots, per_slot, slot / per_slot)
