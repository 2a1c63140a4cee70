"""The best bound of one instance: by prices, of cliques too, by branches, or by a search tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.block_trees import BlockTrees
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dual import Dual
from carbonopt.problems.mosp.methods.price.parameters import PriceParameters
from carbonopt.problems.mosp.methods.price.rejections import Rejections
from carbonopt.problems.mosp.methods.price.window_tree import WindowTree


class Proof:
    """What is proven so far, in the sense of a minimisation: the best bounds, and what certifies them.

    Parameters
    ----------
    instance, dual
        The problem and its dual function.
    params
        Of the method.

    Attributes
    ----------
    prices, price_bound
        Prices of capacity, flat, and the bound that they prove; infinite if some job that must run can run nowhere.
    rejections
        The bound by branches on the number of rejected jobs; None before `count_rejections`, or where that is skipped.
    cliques
        The bound with prices of cliques, too; None where it is not made.
    windows
        The bound by branches on windows of large jobs; None where there are none.
    blocks
        The bound by trees of blocks of slots; None where there are none.
    tree
        The bound of a search tree, by beams or HiGHS: it has no certificate.
    mean_free_cost, work
        What a job costs on average where capacity is ignored, in size, and its mean units x slots.
    """

    def __init__(self, instance: MospInstance, dual: Dual, params: PriceParameters) -> None:
        self.dual = dual
        self.params = params
        self.prices: FloatArray = np.zeros(instance.clusters.limit.size)
        value = dual.safe(self.prices)
        self.price_bound = np.inf if value is None else value
        self.tree = -np.inf
        self.mean_free_cost = dual.mean_least_cost(self.prices) or 1.0
        self.work = float((instance.jobs.demand.sum(axis=1) * instance.jobs.duration).mean()) or 1.0
        self.rejections: Rejections | None = None
        self.cliques: CliqueBound | None = None
        self.windows: WindowTree | None = None
        self.blocks: BlockTrees | None = None

    @property
    def certified(self) -> float:
        """The best bound with a certificate."""
        found = [self.price_bound]
        if self.rejections is not None:
            found.append(self.rejections.bound)
        if self.cliques is not None:
            found.append(self.cliques.proof.bound)
        if self.windows is not None:
            found.append(self.windows.bound)
        if self.blocks is not None:
            found.append(self.blocks.bound)
        return max(found)

    @property
    def best(self) -> float:
        """The best bound of all."""
        return max(self.certified, self.tree)

    def raise_prices(self, options: Options) -> Iterator[float]:
        """Raise the bound by better prices; yield it now and then."""
        ascent = Ascent(
            self.dual.hard,
            self.dual.soft,
            self.prices,
            upper=LARGEST_PRICE,  # they rise without end where there is no schedule
            scale=self.mean_free_cost / self.work,
            remaining=lambda: options.remaining,
            spend=lambda: options.spend(self.dual.steps),
        )
        for temperature in self.params.bound.temperatures:
            ascent.smooth([temperature * self.mean_free_cost], self.params.bound.iterations)
            yield self._with(ascent.prices)
        ascent.step(self.params.bound.steps)
        yield self._with(ascent.prices)

    def _with(self, prices: FloatArray) -> float:
        value = self.dual.safe(prices)
        if value is not None and value > self.price_bound:
            self.prices = prices
            self.price_bound = value
        return self.price_bound

    def count_rejections(self, goal: float, options: Options) -> Iterator[float]:
        """Raise the bound, to `goal` at most, by branches on the number of rejected jobs; yield it now and then."""
        if len(self.dual.table.group) > self.params.rejections.most_shapes:
            return
        self.rejections = Rejections(
            self.dual, self.prices, self.price_bound, self.mean_free_cost, self.work, self.params, goal
        )
        for _ in self.rejections.split(options):
            yield self.certified

    def certificate(self, sign: float) -> dict[str, Any]:
        """Return what proves `certified`, a bound times `sign` in the sense of the objective.

        It states no bound where it proves that there is no schedule.
        """
        proof: dict[str, Any] = {"kind": "lagrangian", "prices": self.prices.reshape(self.dual.shape).tolist()}
        if self.windows is not None and self.windows.bound == self.certified:
            proof = self.windows.certificate()
        elif self.blocks is not None and self.blocks.bound == self.certified:
            proof = self.blocks.certificate(sign)
        elif self.cliques is not None and self.cliques.proof.bound == self.certified:
            proof = self.cliques.proof.certificate()
        elif self.rejections is not None and self.rejections.bound > self.price_bound:
            proof = self.rejections.certificate()
        return proof | {"bound": sign * self.certified} if np.isfinite(self.certified) else proof
