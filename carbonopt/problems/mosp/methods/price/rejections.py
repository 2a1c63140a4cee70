"""A better bound where jobs may be rejected: branching on how many jobs of equal size are.

The relaxation rejects fractions of jobs. With a charge lambda_S on each rejection of a job of a set S, of which between
l_S and u_S are rejected, every schedule of a branch costs at least

    sum_i min( rejection_cost + sum_{S with i} lambda_S, least priced cost_i ) - sum mu C - sum_S lambda_S (u_S or l_S)

with u_S where the charge is positive and l_S where it is negative. Each branch has its own prices mu and charges. Sets
are the jobs of equal work (units x slots), of at most some work, and of equal duration and demand.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.dual import FLOAT_ERROR, Dual, Relaxed, Softened
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters

LARGEST_PENALTY = 1e3
"""Prices and charges at most, in costs of the whole: they grow without limit where a branch holds no schedule."""


@dataclass(eq=False)
class Branch:
    """A branch: what the numbers of rejections are in, and what proves its bound.

    Parameters
    ----------
    least, most
        Rejected jobs of each set, shape (S,).
    prices, charges
        Of capacity, flat, and on rejections, shape (S,).
    bound
        On the cost of all schedules of the branch.
    rejected
        Rejected jobs of each set in the relaxation, shape (S,).
    split
        The set, and the number up to which the first of `parts` goes; the second has more.
    depth
        How many splits lead to it.
    parts
        Two branches, or none.
    """

    least: FloatArray
    most: FloatArray
    prices: FloatArray
    charges: FloatArray
    bound: float
    rejected: FloatArray
    split: tuple[int, int] = (-1, 0)
    depth: int = 0
    parts: tuple[Branch, ...] = ()


class Rejections:
    """The branches of one instance.

    Parameters
    ----------
    dual
        Its dual function.
    prices
        Of capacity, flat: those of the best bound without branches.
    bound
        That bound.
    mean_free_cost, work
        Cost and units x slots of a typical job.
    params
        Of the method.
    goal
        A branch with this bound needs no better one: the cost of a schedule.

    Attributes
    ----------
    sets, sizes
        Whether the jobs of a shape are in a set, shape (S, H): first the sets of equal work, from small to large, then
        those of no more work than these, so many each; then each shape.
    root
        The branch with all schedules.
    bound
        The least bound of all branches that have no parts.
    """

    def __init__(
        self,
        dual: Dual,
        prices: FloatArray,
        bound: float,
        mean_free_cost: float,
        work: float,
        params: PriceParameters,
        goal: float = np.inf,
    ) -> None:
        self.dual = dual
        self.mean_free_cost = mean_free_cost
        self.work = work
        self.goal = goal
        self.params = params.rejections
        self.ascent = params.bound
        table = dual.table
        of_class = np.repeat(np.arange(len(table.group)), np.diff(table.class_first))
        jobs = np.bincount(np.repeat(of_class, np.diff(table.member_first)), weights=table.jobs)
        size = np.round(table.scale * table.length[table.group] / work, 9)
        different = np.unique(size)[:, None]
        self.sizes = len(different)
        self.sets: BoolArray = np.concatenate([size == different, size <= different, np.eye(len(size), dtype=bool)])
        none = np.zeros(len(self.sets))
        self.root = Branch(none, self.sets.astype(np.float64) @ jobs, prices, none, bound, none)
        self.bound = bound

    def split(self, options: Options) -> Iterator[None]:
        """Split branches, and yield after each split, until the options' time is out or there is nothing to split."""
        self.root = self._raised(self.root, options)
        self.bound = self.root.bound
        heap: list[tuple[float, int, Branch]] = [(self.bound, 0, self.root)]
        for number in range(1, self.params.most_branches, 2):
            branch = heap[0][2]
            branch.split = chosen, whole = self._chosen(branch)
            if chosen < 0 or branch.depth == self.params.deepest or options.remaining == 0:
                return
            heapq.heappop(heap)
            branch.parts = parts = tuple(self._part(branch, chosen, whole, more, options) for more in (False, True))
            for k, part in enumerate(parts):
                heapq.heappush(heap, (part.bound, number + k, part))
            self.bound = heap[0][0]
            yield

    def _chosen(self, branch: Branch) -> tuple[int, int]:
        """Return a set and a number to split at; set -1 for none.

        The set whose number of rejections is farthest from a whole one: of equal work, else of a shape. Where all are
        about whole: no job smaller than those that are rejected, or at least one.
        """
        whole = np.floor(branch.rejected)
        far = np.abs(branch.rejected - np.rint(branch.rejected))
        far[(whole < branch.least) | (whole + 1 > branch.most)] = 0.0
        sizes = self.sizes
        for begin, end in ((0, sizes), (2 * sizes, len(far))):
            chosen = begin + int(np.argmax(far[begin:end]))
            if far[chosen] >= self.params.nearly_whole:
                return chosen, int(whole[chosen])
        is_rejected = np.append(branch.rejected[:sizes] > 0.5, True)
        smaller = sizes + int(np.argmax(is_rejected)) - 1
        if smaller >= sizes and branch.least[smaller] < 1 <= branch.most[smaller]:
            return smaller, 0
        chosen = int(np.argmax(far))
        if far[chosen] >= self.params.least_fraction:
            return (chosen, int(whole[chosen]))
        return (-1, 0)

    def _part(self, branch: Branch, chosen: int, whole: int, is_more: bool, options: Options) -> Branch:
        least = branch.least.copy()
        most = branch.most.copy()
        if is_more:
            least[chosen] = max(least[chosen], whole + 1)
        else:
            most[chosen] = min(most[chosen], whole)
        part = replace(branch, least=least, most=most, depth=branch.depth + 1, split=(-1, 0))
        return self._raised(part, options)

    def _raised(self, branch: Branch, options: Options) -> Branch:
        """Return a branch with the best prices and charges found; its bound is no less than it was."""
        dual = self.dual
        capacity = len(branch.prices)
        is_most = branch.most < self.root.most
        active = np.flatnonzero((branch.least > 0) | is_most)
        sets = self.sets[active].astype(np.float64)
        unit = self.work
        largest = LARGEST_PENALTY * (abs(self.root.bound) + dual.table.rejection_cost)
        low = np.where(branch.least > 0, -largest, 0.0)[active]
        high = np.where(is_most, largest, 0.0)[active]
        rejected = np.zeros(self.sets.shape[1])  # in the last soft evaluation

        def split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            return x[:capacity], x[capacity:] * unit

        def with_charges(charges: FloatArray, relaxed: Relaxed | Softened) -> tuple[float, FloatArray]:
            count = sets @ relaxed.rejected
            limit = np.clip(count, branch.least[active], branch.most[active])
            limit = np.where(charges > 0, branch.most[active], np.where(charges < 0, branch.least[active], limit))
            slope = np.concatenate([relaxed.slope, unit * (count - limit)])
            return relaxed.value - float(charges @ limit), slope

        def hard(x: FloatArray) -> tuple[float, FloatArray]:
            prices, charges = split(x)
            return with_charges(charges, dual.relaxed(prices, dual.rejection_cost + charges @ sets))

        def soft(x: FloatArray, temperature: float) -> tuple[float, FloatArray]:
            nonlocal rejected
            prices, charges = split(x)
            softened = dual.softened(prices, temperature, dual.rejection_cost + charges @ sets)
            rejected = softened.rejected
            return with_charges(charges, softened)

        ascent = Ascent(
            hard,
            soft,
            np.concatenate([branch.prices, branch.charges[active] / unit]),
            lower=np.concatenate([np.zeros(capacity), low]),
            upper=np.concatenate([np.full(capacity, largest), high]),
            scale=self.mean_free_cost / self.work,
            remaining=lambda: options.remaining,
            spend=lambda: options.spend(dual.steps),
            goal=self.goal,
        )
        temperatures = [temperature * self.mean_free_cost for temperature in self.ascent.temperatures]
        ascent.smooth(temperatures, self.ascent.iterations)
        estimate = self.sets @ rejected
        ascent.step(self.params.steps)
        prices, charges = split(ascent.prices)
        all_charges = np.zeros(len(branch.charges))
        all_charges[active] = charges
        value = self._safe(branch, prices, all_charges)
        if value <= branch.bound:
            prices = branch.prices
            all_charges = branch.charges
            value = branch.bound
        return replace(branch, prices=prices, charges=all_charges, bound=value, rejected=estimate)

    def _safe(self, branch: Branch, prices: FloatArray, charges: FloatArray) -> float:
        """Return the bound of a branch less an allowance for rounding."""
        value = self.dual.safe(prices, self.dual.rejection_cost + charges @ self.sets)
        owed = charges * np.where(charges > 0, branch.most, branch.least)
        sums = float(np.abs(owed).sum()) + float(np.abs(charges) @ self.root.most)
        if value is None:
            return -np.inf
        return value - float(owed.sum()) - FLOAT_ERROR * sums

    def certificate(self) -> dict[str, Any]:
        """Return what proves the bound."""
        used: list[int] = []

        def told(branch: Branch) -> dict[str, Any]:
            if not branch.parts:
                return {"prices": branch.prices.reshape(self.dual.shape).tolist(), "charges": branch.charges}
            chosen, most = branch.split
            if chosen not in used:
                used.append(chosen)
            at_most, more = (told(part) for part in branch.parts)
            return {"set": used.index(chosen), "most": most, "at_most": at_most, "more": more}

        def shortened(node: dict[str, Any]) -> dict[str, Any]:
            if "charges" in node:
                return node | {"charges": node["charges"][used].tolist()}
            return node | {side: shortened(node[side]) for side in ("at_most", "more")}

        tree = shortened(told(self.root))
        sets = [np.flatnonzero(self.sets[chosen, self.dual.jobs.shape]).tolist() for chosen in used]
        return {"kind": "rejections", "sets": sets, "tree": tree}
