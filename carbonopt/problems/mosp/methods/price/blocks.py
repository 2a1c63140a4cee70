"""A higher bound by blocks of slots: whole jobs compete for capacity within a block, and all other slots have prices.

What prices lose lies in few slots, often the first and the last ones, which few jobs can fill. Let b be such a block.
Outside of it, slots have their prices, and cliques have theirs. Then jobs meet each other in the block alone. A program
with whole jobs and the capacities of the block says what all jobs cost at least. It is small: of all starts outside of
the block each job has the cheapest one.

A schedule costs the bound of the prices, plus the excess of each job's start, plus what idle capacity and cliques that
are not full would have been paid. If it costs less than the best schedule, no job has a larger excess than the gap. Let
S_b be the jobs that may then run in the block, and let a clique be in the block if all its starts run there. The
program knows what the jobs of S_b, and slots and cliques in the block, add to the bound at least: that is the rise of
the block. So the rises of several blocks may be added, if they have no slot and no clique in common, and no job may
run in two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.mosp.formulation.program import Placements
from carbonopt.problems.mosp.methods.price.bound_parameters import BlockParameters
from carbonopt.problems.mosp.methods.price.choices import Choices
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.kinds import Kinds
from carbonopt.problems.mosp.methods.price.place_program import program_over

FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision."""
ASKED = 0.01
"""Of the gap, what the tree of a block may leave open."""


@dataclass(frozen=True, eq=False)
class Block:
    """A block of slots, and what it adds to the bound.

    Parameters
    ----------
    begin, end
        First slot, and the one after the last.
    meets
        Whether jobs of each kind may run in it, shape (K,).
    rise
        What it adds to the bound.
    is_solved
        Whether its program was solved; if not, longer ones are not tried.
    """

    begin: int
    end: int
    meets: BoolArray
    rise: float = 0.0
    is_solved: bool = True


class Blocks:
    """Blocks of one instance, at the prices of its best bound.

    Parameters
    ----------
    cliques
        Places, prices and cliques.
    best
        Place of each job in the best schedule, cluster x T + start, -1 for none, shape (N,).
    goal
        What that costs.
    params
        Of blocks.

    Attributes
    ----------
    blocks
        Those that add to the bound; they are apart from each other.
    solved
        Of each of them, all that were solved, from the shortest one, with the rise of each.
    """

    def __init__(self, cliques: CliqueBound, best: IntArray, goal: float, params: BlockParameters) -> None:
        self.cliques = cliques
        self.params = params
        self.goal = goal
        self.best = best
        self.blocks: list[Block] = []
        self.solved: list[list[Block]] = []
        self.proof = proof = cliques.proof
        self.price = proof.prices
        self.clique_price = np.zeros(len(cliques.cliques))
        self.clique_price[proof.numbers] = proof.clique_prices
        cost = cliques.priced(self.price, self.clique_price)
        self.lowest = cliques.choices.rejection_cost.copy()
        np.minimum.at(self.lowest, cliques.places.job, cost)
        paid = float((self.price * cliques.samples.clusters.limit).sum()) + float(self.clique_price @ cliques.most)
        size = float(cliques.kinds.count @ np.abs(self.lowest)) + paid + abs(goal)
        self.error = 2 * (cliques.rounding + FLOAT_ERROR * size)
        gap = goal - proof.bound
        self.start_of = np.flatnonzero(cost - self.lowest[cliques.places.job] <= gap + self.error)
        self.cost = cost[self.start_of]
        self.kind = cliques.places.job[self.start_of]
        self.cluster = cliques.places.cluster[self.start_of]
        self.start = cliques.places.start[self.start_of]
        self.end = self.start + cliques.samples.jobs.duration[self.kind]
        self.loss = self._loss(cost)

    @property
    def bound(self) -> float:
        """What all blocks prove together: no more than `goal`, since schedules that cost more were left out."""
        return min(self.proof.bound + sum(block.rise for block in self.blocks), self.goal)

    def _loss(self, cost: FloatArray) -> FloatArray:
        """Return what idle capacity and excesses of jobs that run make of the gap, by slot, shape (T,)."""
        cliques = self.cliques
        jobs = cliques.samples.jobs
        _, resources, slots = self.price.shape
        kind = cliques.kinds.of[self.best >= 0]
        place = self.best[self.best >= 0]
        length = jobs.duration[kind]
        of = np.repeat(np.arange(len(kind)), length)
        slot = np.arange(len(of)) - np.repeat(np.cumsum(length) - length - place % slots, length)
        idle = np.array(cliques.samples.clusters.limit)
        for r in range(resources):
            np.subtract.at(idle[:, r], (place[of] // slots, slot), jobs.demand[kind[of], r])
        loss = (self.price * np.maximum(idle, 0.0)).sum(axis=(0, 1))
        excess = (cost[self._rows_of_best()] - self.lowest[kind]) / length
        return np.asarray(loss + np.bincount(slot, weights=excess[of], minlength=slots))

    # Which blocks

    def raise_bound(self, options: Options) -> Iterator[float]:
        """Solve a block at each end of the horizon, then longer ones; yield the bound after each.

        The first of them is the last one of the horizon. Both are apart, or there is only that.
        """
        slots = len(self.loss)
        width = min(self.params.first_slots, slots)
        for begin in (slots - width, 0):
            block = self._at(begin, begin + width)
            if options.remaining > 0 and self._is_apart(block, self.blocks):
                self.blocks.append(self._solved(block, options))
                self.solved.append(self.blocks[-1:])
                yield self.bound
        for _ in range(len(self.blocks), self.params.most_programs):
            if options.remaining == 0:
                return
            longer = self._longer()
            if longer is None:
                return
            k, block = longer
            solved = self._solved(block, options)
            self.solved[k].append(solved)
            self.blocks[k] = replace(solved, rise=max(solved.rise, self.blocks[k].rise))  # it has all of the other one
            yield self.bound

    def _at(self, begin: int, end: int) -> Block:
        """Return a block that is not solved yet."""
        meets = np.zeros(len(self.lowest), dtype=np.bool_)
        meets[self.kind[(self.start < end) & (self.end > begin)]] = True
        return Block(begin, end, meets)

    def _is_apart(self, block: Block, others: list[Block]) -> bool:
        """Return whether a block and some others have no slot in common, and no job that may run in two of them."""
        return not any(
            (block.begin < other.end and other.begin < block.end) or (block.meets & other.meets).any()
            for other in others
        )

    def _longer(self) -> tuple[int, Block] | None:
        """Return which block should become longer, and how: where the best schedule loses most beside it."""
        best: tuple[int, Block] | None = None
        most = -np.inf
        more = self.params.more_slots
        for k, block in enumerate(self.blocks):
            if not block.is_solved:
                continue
            for begin, end in ((block.begin - more, block.end), (block.begin, block.end + more)):
                if begin <= -more or end >= len(self.loss) + more:  # it ends with the horizon already
                    continue
                longer = self._at(max(0, begin), min(len(self.loss), end))
                added = float(self.loss[longer.begin : longer.end].sum() - self.loss[block.begin : block.end].sum())
                if added > most and self._is_apart(longer, [*self.blocks[:k], *self.blocks[k + 1 :]]):
                    best, most = (k, longer), added
        return best

    # One block

    def _solved(self, block: Block, options: Options) -> Block:
        """Return a block with its rise, as far as the tree of its program gets."""
        inside, least = self.inside(block)
        if not block.meets.any():  # all of its capacity is idle
            return replace(block, rise=max(0.0, -least - self.error))
        asked = replace(
            options.part(self.params.program_time_share),
            callback=None,
            mip_rel_gap=0.0,
            mip_abs_gap=ASKED * max(0.0, self.goal - self.proof.bound),
            solver_options={"mip_max_nodes": self.params.most_nodes} | dict(options.solver_options),
        )
        choices = self.choices(block, inside)
        typical = float(np.abs(self.lowest[block.meets]).mean()) or 1.0
        count = float(choices.kinds.count.sum())
        result = highs.solve(
            self._program(choices, FLOAT_ERROR * typical),
            asked,
            start=self._known(block, choices),
            typical_cost=typical,
            bound_error=(round(count), self.error),
        )
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        rise = 0.0 if result.bound is None else max(0.0, result.bound - least - self.error)
        return replace(block, rise=rise, is_solved=result.status is Status.OPTIMAL)

    def inside(self, block: Block) -> tuple[IntArray, float]:
        """Return the cliques of a block, and what jobs, slots and cliques there cost by prices.

        All starts of such a clique run in the block. They have no price for it in the program, which knows the
        capacities that it comes from. One of them at least may be in a better schedule, so no clique is in two blocks
        that are apart.
        """
        cliques = self.cliques
        runs = np.zeros(len(cliques.cost), dtype=np.bool_)
        at = cliques.places
        runs[(at.start < block.end) & (at.start + cliques.samples.jobs.duration[at.job] > block.begin)] = True
        priced = np.flatnonzero(self.clique_price > 0)
        use = cliques.use[:, priced]
        may = np.zeros(len(cliques.cost))
        may[self.start_of] = 1.0
        inside = priced[(use.T @ (~runs).astype(np.float64) == 0) & (use.T @ may > 0)]
        capacity = cliques.samples.clusters.limit[:, :, block.begin : block.end]
        paid = float((self.price[:, :, block.begin : block.end] * capacity).sum())
        paid += float(self.clique_price[inside] @ cliques.most[inside])
        return inside, float(cliques.kinds.count[block.meets] @ self.lowest[block.meets]) - paid

    def choices(self, block: Block, inside: IntArray) -> Choices:
        """Return the choices of the jobs of a block, at prices outside of it.

        A job that does not run in the block is rejected there, at what its cheapest other start costs.
        """
        cliques = self.cliques
        price = self.price.copy()
        price[:, :, block.begin : block.end] = 0.0
        clique_price = self.clique_price.copy()
        clique_price[inside] = 0.0
        runs = self._runs(block)
        elsewhere = cliques.choices.rejection_cost.copy()
        np.minimum.at(elsewhere, self.kind[~runs], self.cost[~runs])
        kinds = np.flatnonzero(block.meets)
        number = np.full(len(self.lowest), len(kinds), dtype=np.int64)
        number[kinds] = np.arange(len(kinds))
        every = cliques.kinds
        return Choices(
            cliques.instance,
            cliques.choices.value,
            Kinds(number[every.of], every.first[kinds], every.count[kinds]),
            replace(cliques.samples, jobs=cliques.samples.jobs.part(kinds)),
            Placements(number[self.kind[runs]], self.cluster[runs], self.start[runs]),
            cliques.priced(price, clique_price)[self.start_of[runs]],
            elsewhere[kinds],
            (block.begin, block.end),
        )

    def _runs(self, block: Block) -> BoolArray:
        """Return which of the starts that a better schedule may have run in a block."""
        return np.asarray((self.start < block.end) & (self.end > block.begin))

    def _program(self, choices: Choices, least: float = 0.0) -> Program:
        """Return the program of a block, in which costs below `least` in size are 0: they are rounding alone."""
        cost, rejection_cost = (
            np.where(np.abs(part) < least, 0.0, part) for part in (choices.cost, choices.rejection_cost)
        )
        return program_over(
            choices.samples,
            choices.places,
            cost,
            np.ones(len(cost), dtype=np.bool_),
            rejection_cost,
            choices.kinds.count,
            slots=choices.slots,
            whole=True,
        )

    def _known(self, block: Block, choices: Choices) -> FloatArray:
        """Return the columns of a block's program that stand for the best schedule."""
        cliques = self.cliques
        columns = len(choices.cost)
        column = np.full(len(cliques.cost), -1, dtype=np.int64)
        column[self.start_of[self._runs(block)]] = np.arange(columns)
        at = column[self._rows_of_best()]
        known = np.bincount(at[at >= 0], minlength=columns).astype(np.float64)
        count = choices.kinds.count
        left = count - np.bincount(choices.places.job, weights=known, minlength=len(count))
        return np.concatenate([known, left])

    def _rows_of_best(self) -> IntArray:
        """Return which of the possible placements the best schedule has."""
        slots = self.price.shape[2]
        placed = np.flatnonzero(self.best >= 0)
        place = self.best[placed]
        return np.asarray(self.cliques.row[self.cliques.kinds.of[placed], place // slots, place % slots])
