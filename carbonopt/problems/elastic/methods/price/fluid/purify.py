"""From an interior optimum to one with few fractions: the simplex method on what is still open.

Where many jobs are indifferent between slots, the interior point leaves thousandths of a slot
everywhere. Shares that are all but 0 or 1 are set; the open ones are solved again as a linear program,
chunk by chunk of slots, whose vertices have about one fraction a job. A chunk that does not work out
stays as it was, so the result is never worse.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.errors import CarbonoptError
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.problems.elastic.methods.price.fluid.band import Band, FluidProgram
from carbonopt.problems.elastic.methods.price.parameters import PriceParameters

SET = 1e-8
"""A share this close to 0 or 1 is set to it."""
SHORTAGE_FACTOR = 1e6
"""Price of undone work over the largest price of work, at least 1."""


class Purifier:
    """The shares of a band, and what they leave of work, slots and capacity."""

    def __init__(self, program: FluidProgram, band: Band, share: FloatArray, mu: FloatArray) -> None:
        self.program, self.share = program, np.clip(share, 0.0, 1.0)
        self.pair = np.repeat(np.arange(len(band.slot)), np.diff(band.first_column))
        self.job = program.job_of_pair(band)[self.pair]
        self.slot = band.slot[self.pair]
        profile = program.profile[self.job]
        levels = program.levels
        self.carbon = levels.carbon[profile, self.slot, band.level]
        self.work = levels.work[profile, band.level]
        self.servers = levels.servers[profile, band.level]
        self.pairs = len(band.slot)
        self.shortage_price = SHORTAGE_FACTOR * float(mu.max(initial=1.0))

    def run(self, options: Options) -> FloatArray:
        """Return shares of the same band with few fractions, shape (C,)."""
        before = self.share.copy()
        self._set_whole()
        near_zero_shares = self.share < SET
        can_do_without = np.bincount(self.job, self.is_open, len(self.program.arrival)) > 0
        self.share = np.where(near_zero_shares & can_do_without[self.job], 0.0, self.share)
        for chunk in self._chunks(options.parameters(PriceParameters).band.chunk):
            if options.remaining <= 0:
                return before
            self._solve(chunk, options)
        self._give_back(np.where(near_zero_shares, before, 0.0))
        return self.share if self._sound() else before

    def _set_whole(self) -> None:
        """Raise shares that are all but 1 to what their pair has room for; where the slot has none, open them."""
        whole = self.share > 1 - SET
        others = np.bincount(self.pair, self.share, self.pairs)[self.pair] - self.share
        raised = np.where(whole, np.maximum(self.share, 1.0 - others), self.share)
        load = np.bincount(self.slot, raised * self.servers, len(self.program.capacity))
        full = (load > self.program.capacity)[self.slot]
        self.is_open = (self.share >= SET) & (~whole | full)
        self.share = np.where(full, self.share, raised)

    def _done(self) -> FloatArray:
        """Return the work of each job, shape (N,)."""
        return np.asarray(np.bincount(self.job, self.share * self.work, len(self.program.arrival)), dtype=np.float64)

    def _give_back(self, near_zero_shares: FloatArray) -> None:
        """Give jobs that end a little short their near-zero shares back, as far as their pairs have room."""
        short = (self._done() < self.program.required)[self.job]
        idle = 1.0 - np.bincount(self.pair, self.share, self.pairs)
        wanted = np.where(short & (self.share == 0), near_zero_shares, 0.0)
        fits = np.bincount(self.pair, wanted, self.pairs) <= idle
        self.share = self.share + np.where(fits[self.pair], wanted, 0.0)

    def _chunks(self, size: int) -> Iterator[IntArray]:
        """Yield the open shares slot by slot, in portions of about `size`; all of a slot together."""
        is_open = np.flatnonzero(self.is_open)
        by_slot = is_open[np.argsort(self.slot[is_open], kind="stable")]
        edges = np.flatnonzero(np.diff(self.slot[by_slot])) + 1
        start = 0
        for edge in [*edges.tolist(), len(by_slot)]:
            if edge - start >= size or edge == len(by_slot):
                if edge > start:
                    yield by_slot[start:edge]
                start = edge

    def _solve(self, chunk: IntArray, options: Options) -> None:
        """Replace the shares of `chunk` by a vertex that does the same work at no more carbon."""
        jobs, job = np.unique(self.job[chunk], return_inverse=True)
        slots, slot = np.unique(self.slot[chunk], return_inverse=True)
        pairs, pair = np.unique(self.pair[chunk], return_inverse=True)
        old = self.share[chunk]
        self.share[chunk] = 0.0
        work = self.program.length - self._done()
        load = np.bincount(self.slot, self.share * self.servers, len(self.program.capacity))
        idle = 1.0 - np.bincount(self.pair, self.share, self.pairs)
        room = self.program.capacity - load
        needed = np.bincount(job, old * self.work[chunk], len(jobs))
        last = self._last_chunk(chunk, jobs)
        target = np.where(last, work[jobs], np.minimum(work[jobs], needed))
        program = Program("chunk")
        z = program.add_variables("z", len(chunk), upper=1.0, cost=self.carbon[chunk])
        short = program.add_variables("short", len(jobs), cost=self.shortage_price)
        rows = program.add_rows("work", len(jobs), lower=target)
        program.add_entries(rows.start + job, z.index, self.work[chunk])
        program.add_entries(rows.index, short.index, 1.0)
        rows = program.add_rows("capacity", len(slots), upper=np.maximum(room[slots], 0.0))
        program.add_entries(rows.start + slot, z.index, self.servers[chunk])
        rows = program.add_rows("one", len(pairs), upper=np.maximum(idle[pairs], 0.0))
        program.add_entries(rows.start + pair, z.index, 1.0)
        with warnings.catch_warnings():  # what is left of a slot may be next to nothing
            warnings.simplefilter("ignore", UserWarning)
            try:
                result = highs.solve(program, options)
            except CarbonoptError:  # refused for its numbers: the chunk stays as it was
                self.share[chunk] = old
                return
        self.share[chunk] = old
        if result.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is Status.OPTIMAL and result.values is not None:
            self.share[chunk] = np.clip(result.values[z.slice], 0.0, 1.0)

    def _last_chunk(self, chunk: IntArray, jobs: IntArray) -> FloatArray:
        """Return for each job whether no share of it is open after this chunk: it must make up for all."""
        later = self.is_open & (self.slot > self.slot[chunk].max())
        return np.asarray(np.bincount(self.job, later, len(self.program.arrival))[jobs] == 0)

    def _sound(self) -> bool:
        """Return whether work, capacity and convexity hold to the checker's allowances."""
        done = np.bincount(self.job, self.share * self.work, len(self.program.arrival))
        load = np.bincount(self.slot, self.share * self.servers, len(self.program.capacity))
        filled = np.bincount(self.pair, self.share, self.pairs)
        sound = (done >= self.program.required).all() and (load <= self.program.limit).all()
        return bool(sound and (filled <= 1 + 1e-9).all())
