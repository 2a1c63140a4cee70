"""The dynamic program: slot after slot, cluster after cluster, all sets of jobs that may start.

A state is what runs where. States that lead to the same profiles with the same jobs started are one; those whose bound
shows that nothing better than what is known can come of them are dropped, and of too many the least promising. As long
as none of the latter is dropped, the result is exact; and at any time the least bound of all that was dropped is a
bound on the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.methods.price.beam.expansion import expand
from carbonopt.problems.mosp.methods.price.beam.parameters import BeamParameters
from carbonopt.problems.mosp.methods.price.beam.part import Part
from carbonopt.problems.mosp.methods.price.beam.records import States
from carbonopt.problems.mosp.methods.price.beam.relaxation import evaluate, find_stages, make_paths
from carbonopt.problems.mosp.methods.price.beam.states import (
    keep_below,
    keep_best,
    keep_undominated,
    make_states,
    to_next_slot,
    value_states,
    wait_anywhere,
)

FLOAT_ERROR = 1e-11
"""Relative allowance for the rounding of sums in double precision."""
PATH_STEPS = 0.45
"""Loop steps for each type and open profile when paths are found."""
STAGE_STEPS = 0.25
"""Loop steps for each type and open profile when the values within a slot are found."""
STATE_STEPS = 3.0
"""Loop steps for each job of a state before it is expanded, and after; and of a sampled state in an ascent.

These, and those of a part in `improve`, are fitted to the CPU times of 370 parts of four instances: `bench` with 200
jobs (seeds 21, 22) and 1,000 jobs on 10 clusters (seed 31), and `supercomputer` with 756 jobs on 8 clusters (seed 1).
"""


@dataclass(frozen=True, eq=False)
class BeamResult:
    """What a beam found.

    Parameters
    ----------
    start
        Cluster x T + slot of each job of the part, -1 for rejected, shape (n,); None if nothing was found.
    bound
        On the cost of every schedule of the part that is cheaper than the limit of the beam; at least the limit, where
        there is none such.
    """

    start: IntArray | None
    bound: float


class Beam:
    """A beam search over the slots of a part: it keeps the states of least bound.

    Parameters
    ----------
    part
        The part.
    most
        Only schedules that cost less are looked for.
    params
        Of the beam.
    options
        Time and seed.
    """

    def __init__(self, part: Part, most: float, params: BeamParameters, options: Options) -> None:
        self.part = part
        self.most = most
        self.params = params
        self.options = options
        self.rng = np.random.default_rng(options.seed)
        self.program = part.program
        self.paths = make_paths(part.program)
        self.price = part.price
        self.states: States = make_states(1, self.program)
        self.opened = len(self.program.step) * self.program.open.sum(axis=2)  # by cluster and slot

    def raise_prices(self, t: int, passed: int, count: int, rounds: int) -> None:
        """Raise the mean bound of a sample of the states by better prices of jobs; leave the paths at these."""
        sample = np.arange(count)
        if count > self.params.sample:
            sample = self.rng.choice(count, self.params.sample, replace=False)
        latest = self.price
        steps = PATH_STEPS * float(self.opened[:, t:].sum()) + STATE_STEPS * len(self.price) * len(sample)

        def mean_bound(price: FloatArray) -> tuple[float, FloatArray]:
            nonlocal latest
            slope = np.zeros(len(price))
            latest = price
            value = evaluate(t, passed, price, sample, self.program, self.paths, self.states, slope)
            return float(value), slope

        ascent = Ascent(
            mean_bound,
            None,
            self.price,
            lower=-np.inf,
            upper=self.program.rejection_cost,
            remaining=lambda: self.options.remaining,
            spend=lambda: self.options.spend(steps),
            goal=self.most,
        )
        if rounds:
            ascent.step(rounds, self.params.first_step * (self.most - ascent.value) / (abs(ascent.value) or 1.0))
        self.price = ascent.prices
        if not np.array_equal(latest, self.price):
            mean_bound(self.price)

    def root(self, rounds: int) -> float:
        """Raise the prices before anything has started; return the bound."""
        self.states = make_states(1, self.program)
        self.raise_prices(0, 0, 1, rounds)
        value_states(0, 0, 1, self.price, self.program, self.paths, self.states)
        return float(self.states.least[0]) - self._error()

    def _error(self) -> float:
        finite = 0.0
        if np.isfinite(self.program.rejection_cost):
            finite = self.program.rejection_cost
        return FLOAT_ERROR * float(np.abs(self.price).sum() + abs(self.most) + len(self.price) * abs(finite))

    def go(self, width: int, rounds: int = 0, batch: int | None = None) -> BeamResult:
        """Search from the prices that `root` left.

        Parameters
        ----------
        width
            Number of states that are kept, at most.
        rounds
            Of the ascent of prices, for each batch, on each cluster in each slot; none where prices stay.
        batch
            Number of states that have prices of their own, at most; all together if None.
        """
        program = self.program
        root = self.price
        self.error = self._error()
        clusters, slots, jobs = program.cost.shape
        self.states = make_states(self.params.batch_growth * batch if batch else self.params.growth * width, program)
        width = min(width, self.params.most_bytes // (2 * self.params.growth * (2 * jobs + 8 * (clusters + 5))))
        now, then = (make_states(self.params.growth * width, program) for _ in range(2))
        now.least[0] = -np.inf
        self.marks = np.asarray(self.rng.integers(0, 1 << 62, jobs))
        count = 1
        least = np.inf
        for t in range(slots):
            for j in range(clusters):
                filled = 0
                for rows in _batches(now.start[:count] < 0, batch or width):
                    if self.options.remaining == 0:
                        least = min(least, float(now.least[rows].min()))
                        continue
                    size, dropped = self._expand(t, j, now, rows, rounds)
                    least = min(least, dropped)
                    if filled + size > self.params.growth * width:
                        filled, lost = keep_best(filled, width, then)
                        size, worst = keep_best(size, width, self.states)
                        least = min(least, lost, worst)
                    _copy(self.states, slice(size), then, slice(filled, filled + size))
                    filled += size
                order = np.lexsort((then.cost[:filled], then.tag[:filled]))
                filled = keep_undominated(order, self.params.most_compared, program, then)
                count, dropped = keep_best(filled, width, then)
                least, now, then = min(least, dropped), then, now
            count = to_next_slot(t, count, program, now)
        start: IntArray | None = None
        if count:
            value_states(slots, 0, count, self.price, program, self.paths, now)
            best = int(np.argmin(now.least[:count]))
            least = min(least, float(now.least[best]))
            if now.least[best] < self.most:
                start = now.start[best].astype(np.int64)
        self.price = root
        return BeamResult(start, least - self.error)

    def _expand(self, t: int, j: int, now: States, rows: IntArray, rounds: int) -> tuple[int, float]:
        """Fill the states that come of a batch on a cluster; return how many, and the least bound of those dropped."""
        given = (self.program, self.paths, self.states)
        count = len(rows)
        least = np.inf
        _copy(now, rows, self.states, slice(count))
        if rounds:
            wait_anywhere(count, self.paths.waits, self.states)
            self.raise_prices(t, j, count, rounds)
            self.error = max(self.error, self._error())
        if rounds or j == 0:
            value_states(t, j, count, self.price, *given)
            count, least = keep_below(count, self.most, self.states)
        find_stages(j, t, self.price, self.program, self.paths)
        self.options.spend(STAGE_STEPS * float(self.opened[j, t]) + STATE_STEPS * count * len(self.price))
        count, dropped = expand(j, t, count, self.most, self.price, self.program, self.paths, self.marks, self.states)
        self.options.spend(STATE_STEPS * count * len(self.price))
        return int(count), min(float(least), float(dropped))


def _batches(waits: BoolArray, most: int) -> Iterator[IntArray]:
    """Yield the rows of a table in batches of at most `most` that are alike: halved where a column does it best."""
    parts = [np.arange(len(waits))] if len(waits) else []
    while parts:
        rows = parts.pop()
        share = waits[rows].mean(axis=0) if len(rows) > most else np.zeros(1)
        column = int(np.argmin(np.abs(share - 0.5)))
        if not 0 < share[column] < 1:
            yield from np.array_split(rows, -(-len(rows) // most))
            continue
        side = waits[rows, column]
        parts += [rows[side], rows[~side]]


def _copy(source: States, rows: IntArray | slice, target: States, to: slice) -> None:
    given: Any
    taken: Any
    for given, taken in zip(source, target, strict=True):
        taken[to] = given[rows]
