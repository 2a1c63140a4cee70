"""Long horizons block by block: each is solved with a look ahead, and only its beginning is kept.

A block holds the jobs that arrive before its end and some slots beyond, with the work that they have
left, up to the end of their windows. What it decides for its own slots is fixed; the rest is decided
again by the next block. The slot prices of the blocks, put together, bound the whole program.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.problems.elastic.fluid.ascent import ascend
from carbonopt.problems.elastic.fluid.band import Allocation, FluidProgram
from carbonopt.problems.elastic.fluid.optimum import Optimum, optimum
from carbonopt.problems.elastic.fluid.pricing import Pricer

STEP, AHEAD = 336, 168
"""Slots that a block decides, and slots beyond whose arrivals it knows."""
LEAST_BLOCKS, LEAST_UNITS = 4, 5e7
"""Programs of fewer blocks or units than this are solved as a whole: that is faster while it fits into memory."""
BLOCK_SHARE = 0.1
"""Of the relative gap that is asked for, what a block may use."""
LITTLE = 1e-3
"""Work left over, over the length of its job, up to which a job is decided to its end at once."""
POLISH = 100
"""Pricings that improve the bound of the stitched prices, where it does not close the gap."""


def is_long(program: FluidProgram) -> bool:
    """Return whether a program is worth to be cut into blocks."""
    units = float(program.width @ program.units.count[program.profile])
    is_large = len(program.capacity) >= LEAST_BLOCKS * STEP and units >= LEAST_UNITS
    return is_large and int(program.width.max(initial=1)) <= AHEAD


def roll(program: FluidProgram, options: Options) -> Optimum | None:
    """Solve block by block; None if a block cannot do its work or the time is out."""
    slots, left, used = len(program.capacity), program.length.copy(), np.zeros(len(program.capacity))
    prices, parts, rounds = np.zeros(slots), [], 0
    for first in range(0, slots, STEP):
        until = first + STEP
        known = (program.arrival < until + AHEAD) & (program.end > first) & (left > 0)
        jobs = np.flatnonzero(known)
        if not len(jobs):
            continue
        last = int(program.end[jobs].max())
        block = program.block(jobs, left[jobs], used, first, last)
        found = optimum(block, options, prices[first:last].copy(), exact_gap=BLOCK_SHARE * options.mip_rel_gap)
        if found.allocation is None or options.remaining <= 0:
            return None
        rounds += 1
        prices[first:last] = found.prices
        plan = Allocation(
            jobs[found.allocation.job], found.allocation.slot + first, found.allocation.level, found.allocation.share
        )
        profile = program.profile[plan.job]
        work = program.levels.work[profile, plan.level] * plan.share
        decided = plan.slot < until
        after = left - np.bincount(plan.job[decided], work[decided], len(left))
        decided |= (after <= LITTLE * program.length)[plan.job]
        servers = program.levels.servers[profile, plan.level] * plan.share
        used += np.bincount(plan.slot[decided], servers[decided], slots)
        left = np.where(after <= LITTLE * program.length, 0.0, after)
        parts.append(Allocation(plan.job[decided], plan.slot[decided], plan.level[decided], plan.share[decided]))
    allocation = mended(program, Allocation(*map(np.concatenate, zip(*parts, strict=True))))
    return None if allocation is None else _whole(program, allocation, prices, rounds, options)


def mended(program: FluidProgram, allocation: Allocation) -> Allocation | None:
    """Do the rest of jobs that rounding left short, at the least scale in the cleanest slots with room.

    None if a job finds no room.
    """
    profile = program.profile[allocation.job]
    work = program.levels.work[profile, allocation.level] * allocation.share
    load = program.levels.servers[profile, allocation.level] * allocation.share
    left = program.length - np.bincount(allocation.job, work, len(program.length))
    free = program.capacity - np.bincount(allocation.slot, load, len(program.capacity))
    rows: list[tuple[int, int, float]] = []
    for j in np.flatnonzero(left > (program.length - program.required) / 2):
        p, own = program.profile[j], allocation.job == j
        slots = np.arange(program.arrival[j], program.end[j])
        filled = np.bincount(allocation.slot[own] - slots[0], allocation.share[own], len(slots))
        for t in slots[np.argsort(program.carbon[p, slots, 0], kind="stable")]:
            room = min(1.0 - filled[t - slots[0]], free[t] / program.units.servers[p, 0], left[j])
            if room > 0 and left[j] > 0:
                rows.append((int(j), int(t), float(room)))
                free[t] -= room * program.units.servers[p, 0]
                left[j] -= room
        if left[j] > (program.length - program.required)[j] / 2:
            return None
    job, slot, share = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0, int),) * 3
    added = (job, slot, np.zeros(len(rows), dtype=np.int64), share)
    return Allocation(*(np.concatenate([old, new]) for old, new in zip(allocation, added, strict=True)))


def _whole(program: FluidProgram, allocation: Allocation, prices: FloatArray, blocks: int, options: Options) -> Optimum:
    """Return the blocks' decisions with the bound of their prices, improved where it is not enough."""
    pricer = Pricer(program)
    prices = np.maximum(prices, pricer.closed_slot_prices())
    bound, _ = pricer(prices)
    profile = program.profile[allocation.job]
    carbon = float((program.levels.carbon[profile, allocation.slot, allocation.level] * allocation.share).sum())
    best = Optimum(prices, pricer.mu.copy(), bound, carbon, allocation)
    if best.gap > options.mip_rel_gap:
        prices = ascend(pricer, POLISH, options, prices, best.gap / 2)
        bound, _ = pricer(prices)
        if bound > best.bound:
            best.bound, best.prices, best.mu = bound, prices, pricer.mu.copy()
    best.closed = best.gap <= options.mip_rel_gap
    best.info = {"blocks": blocks}
    return best
