"""Certificates of blocks of slots: a tree of windows over the jobs that may run in each.

HiGHS tells fast what whole jobs in a block add to the bound, but not why. Here a tree of windows proves the same, or a
part of it: each of its leaves has prices of capacity in the block, and of cliques. It ends where it proves as much as
HiGHS has found. Jobs of a block are of like size, so any of them is branched on: first those that the program splits
most, by the units that are at stake.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.blocks import Block, Blocks
from carbonopt.problems.mosp.methods.price.bound_parameters import BlockParameters, CliqueParameters, WindowParameters
from carbonopt.problems.mosp.methods.price.clique_cuts import Clique
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound, with_parts
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.window_splits import Split
from carbonopt.problems.mosp.methods.price.window_tree import LEAF_SECONDS, WindowTree

TRIED = 10
ITERATIONS = 15
ROUNDS = 3
"""Ways to split a branch that are tried, iterations for each part, and programs of a branch: blocks are small."""
LEAST_PART = 1e-6
"""Share of a job in a place, above which the program splits it."""
LEAST_MORE = 1.05
"""How many times the rise of a shorter block a longer one must have to be worth a tree."""
JOB_SECONDS = 3e-4
"""What it takes to recheck which starts of a job are open, about, on a slow machine [s]."""
ELSEWHERE = 0.9
"""What a split by cluster or start counts, over one between the block and elsewhere."""


class BlockTree(WindowTree):
    """The tree of one block."""

    @property
    def check_seconds(self) -> float:
        """What it takes to recheck the tree, about [s]: leaves are small."""
        return LEAF_SECONDS * len(self.branches) / 2

    def _splits(self, _windows: IntArray, starts: FloatArray) -> list[Split]:
        """Return ways to split a branch: where most units are at stake; none if no job is split."""
        field = self.field
        shares = self._shares(starts)
        units = field.demand[field.job].sum(axis=1)
        of_cluster = shares.sum(axis=2)
        by_start = shares[:, :-1].sum(axis=1)
        found = []
        for k, j in np.argwhere((of_cluster > LEAST_PART) & (of_cluster < 1 - LEAST_PART)).tolist():
            weight = units[k] * (1.0 if j == of_cluster.shape[1] - 1 else ELSEWHERE)
            found.append((weight * min(of_cluster[k, j], 1 - of_cluster[k, j]), Split(k, j, -1)))
        for k, t in np.argwhere(by_start > LEAST_PART).tolist():
            until, after = float(by_start[k, : t + 1].sum()), float(by_start[k, t + 1 :].sum())
            if after > LEAST_PART:
                found.append((ELSEWHERE * units[k] * min(until, after), Split(k, -1, t)))
        found.sort(key=lambda entry: -entry[0])
        return [split for _, split in found[: self.params.tried]]


@dataclass(frozen=True, eq=False)
class Proven:
    """A block, and the tree that proves what it adds to the bound.

    Parameters
    ----------
    block
        The block.
    inside
        Numbers of the cliques inside.
    rise
        What the tree proves that it adds.
    tree
        The tree; None where no job may run in the block.
    """

    block: Block
    inside: IntArray
    rise: float
    tree: BlockTree | None


class BlockTrees:
    """Trees of the blocks of one instance.

    Parameters
    ----------
    blocks
        Solved.
    params
        Of blocks.

    Attributes
    ----------
    proven
        Of each block, what is proven: of a shorter one, or of the whole.
    """

    def __init__(self, blocks: Blocks, params: BlockParameters) -> None:
        self.blocks = blocks
        self.params = params
        self.proven: list[Proven | None] = [None for _ in blocks.blocks]

    @property
    def bound(self) -> float:
        """What all trees prove together."""
        blocks = self.blocks
        return min(blocks.proof.bound + sum(proven.rise for proven in self.proven if proven), blocks.goal)

    @property
    def check_seconds(self) -> float:
        """What it takes to recheck what is proven, about [s]."""
        trees = [proven.tree.check_seconds for proven in self.proven if proven is not None and proven.tree is not None]
        return sum(trees) + JOB_SECONDS * len(self.blocks.cliques.instance.jobs)

    def grow(self, options: Options) -> Iterator[float]:
        """Grow the trees of short blocks, then of longer ones that add more; yield the bound now and then."""
        for k, block in self._worth():
            known = self.proven[k]
            if options.remaining == 0:
                return
            if known is not None and known.rise >= block.rise:
                continue
            for proven in self._proofs(block, options.part(self.params.program_time_share)):
                if proven.rise > (0.0 if known is None else known.rise):
                    self.proven[k] = known = proven
                yield self.bound

    def _worth(self) -> list[tuple[int, Block]]:
        """Return the blocks that are worth a tree, with the numbers of the longest ones: first the shortest of each."""
        least = self.params.least_rise * (self.blocks.goal - self.blocks.proof.bound)
        found = []
        for k, solved in enumerate(self.blocks.solved):
            most, count = 0.0, 0
            for block in solved:
                if block.rise > max(least, LEAST_MORE * most):
                    found.append((count, -block.rise, k, block))
                    most, count = block.rise, count + 1
        found.sort(key=lambda entry: entry[:3])
        return [(k, block) for _, _, k, block in found]

    def _proofs(self, block: Block, options: Options) -> Iterator[Proven]:
        """Yield what the tree of a block proves as it grows."""
        blocks = self.blocks
        inside, least = blocks.inside(block)
        if not block.meets.any():
            yield Proven(block, inside, block.rise, None)
            return
        cliques = self._cliques(block, inside)
        goal = least + block.rise + blocks.error
        program = GrowingProgram(cliques, goal, options, np.ones(len(cliques.cost), dtype=np.bool_))
        program.add_cliques(np.flatnonzero(program.row_of < 0), options)
        for _ in raise_by_cliques(program, goal, cliques.params, options):
            pass
        params = WindowParameters(
            most_jobs=len(cliques.samples.jobs), rounds=ROUNDS, tried=TRIED, iterations=ITERATIONS
        )
        tree = BlockTree(program, goal, params, options)
        for _ in chain([None], tree.grow(options)):  # the root alone, then after each split
            yield Proven(block, inside, max(0.0, min(tree.bound, goal) - least - blocks.error), tree)

    def _cliques(self, block: Block, inside: IntArray) -> CliqueBound:
        """Return the cliques of the block's own jobs, with those inside of the whole, at the prices of the whole."""
        whole = self.blocks.cliques
        choices = self.blocks.choices(block, inside)
        price = np.zeros(self.blocks.price.shape)
        slots = np.s_[:, :, block.begin : block.end]
        price[slots] = self.blocks.price[slots]
        cliques = CliqueBound(choices, price, CliqueParameters())
        number = np.full(len(block.meets), -1, dtype=np.int64)
        number[block.meets] = np.arange(len(choices.samples.jobs))
        for clique in (whole.cliques[q] for q in inside.tolist()):
            if isinstance(clique, Clique):
                jobs = number[clique.jobs]
                there = jobs >= 0
                weights = None if clique.weights is None else clique.weights[there]
                first, last = clique.first[there], clique.last[there]
                cliques.add([replace(clique, jobs=jobs[there], first=first, last=last, weights=weights)])
        return cliques

    # Certificate

    def certificate(self, sign: float) -> dict[str, Any]:
        """Return what proves the bound; `sign` makes costs objectives."""
        proof = self.blocks.proof
        numbers = with_parts(proof.every, proof.numbers)
        blocks = [self._block(proven, numbers) for proven in self.proven if proven is not None]
        return proof.certificate() | {"kind": "blocks", "better_than": sign * self.blocks.goal, "blocks": blocks}

    def _block(self, proven: Proven, numbers: IntArray) -> dict[str, Any]:
        """Return what a certificate with cliques of some numbers holds of a block."""
        block = proven.block
        kinds = self.blocks.cliques.kinds
        members = np.sort(kinds.jobs(np.flatnonzero(block.meets)))
        made: dict[str, Any] = {
            "slots": [block.begin, block.end],
            "members": members.tolist(),
            "inside": np.searchsorted(numbers, proven.inside).tolist(),
        }
        if proven.tree is None:
            return made
        return made | _among(proven.tree.certificate(), {int(i): row for row, i in enumerate(members)})


def _among(tree: dict[str, Any], row: dict[int, int]) -> dict[str, Any]:
    """Return the certificate of a tree, with each job's row among the members of its block."""
    nodes = [node | {"job": row[node["job"]]} if "job" in node else node for node in tree["nodes"]]
    cliques = [clique | {"jobs": [row[i] for i in clique["jobs"]]} for clique in tree.get("cliques", [])]
    return {"jobs": [row[i] for i in tree["jobs"]], "nodes": nodes} | ({"cliques": cliques} if cliques else {})
