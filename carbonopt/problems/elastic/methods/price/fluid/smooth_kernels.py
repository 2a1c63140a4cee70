"""Loops of the smoothed dual: one pass over jobs, their slots and the steps of the ladder each.

At break price m a job takes of a step of cost per work r the part

    y = (m - r) / spread + 1/2    between 0 and 1,

so steps within half a spread of the break price are taken in part, all others wholly or not at all.
"""

from __future__ import annotations

from carbonopt.algorithms.fractional_knapsack import NEGLIGIBLE, move_bracket
from carbonopt.algorithms.kernel import kernel
from carbonopt.algorithms.smoothed_knapsack import find_break_price, work_taken
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder

WORK_ERROR = 1e-14
"""Of the work that is taken at a break price, relative."""


@kernel
def collect(
    p: int, first: int, last: int, low: float, high: float, ladder: Ladder, near: FloatArray, gain: FloatArray
) -> tuple[float, int]:
    """Return the work of steps below `low`; list those up to `high` in `near` and `gain`, and return how many."""
    below, n = 0.0, 0
    for t in range(first, last):
        for k in range(ladder.steps[p, t]):
            ratio = ladder.ratio[p, t, k]
            if ratio >= high:
                break
            if ratio <= low:
                below += ladder.gain[p, t, k]
            else:
                near[n] = ratio
                gain[n] = ladder.gain[p, t, k]
                n += 1
    return below, n


@kernel
def find_break(
    p: int,
    first: int,
    last: int,
    need: float,
    price: float,
    largest: float,
    spread: float,
    ladder: Ladder,
    near: FloatArray,
    gain: FloatArray,
) -> float:
    """Return the break price at which the work `need` is taken, from a guess; at most `largest`."""
    width = spread + 0.01 * price
    low = price - width
    high = min(price + width, largest)
    while True:
        below, n = collect(p, first, last, low - spread / 2, high + spread / 2, ladder, near, gain)
        at_low = below + work_taken(low, spread, near, gain, n)[0]
        at_high = below + work_taken(high, spread, near, gain, n)[0]
        width *= 4.0
        next_low, next_high = move_bracket(low, high, width, at_low, at_high - at_low, need, -spread, largest)
        if next_low == low:
            break
        low, high = next_low, next_high
    if at_high < (1 - NEGLIGIBLE) * need:
        return largest
    return find_break_price(price, low, high, need - below, spread, near, gain, n, WORK_ERROR * need)


@kernel
def cover(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    length: FloatArray,
    weight: FloatArray,
    largest: float,
    spread: float,
    ladder: Ladder,
    mu: FloatArray,
    load: FloatArray,
    near: FloatArray,
    gains: FloatArray,
) -> tuple[float, float]:
    """Set the break prices `mu` from the last ones, and `load`; return smoothed value and cost of what is taken.

    Each job stands for `weight` jobs like it.
    """
    ratio = ladder.ratio
    gain = ladder.gain
    servers = ladder.servers
    steps = ladder.steps
    value = 0.0
    cost = 0.0
    scale = 1.0 / spread
    load[:] = 0.0
    for j in range(len(arrival)):
        p = profile[j]
        price = find_break(p, arrival[j], end[j], length[j], mu[j], largest, spread, ladder, near, gains)
        mu[j] = price
        own = price * length[j]
        paid = 0.0
        for t in range(arrival[j], end[j]):
            drawn = 0.0
            for k in range(steps[p, t]):
                part = (price - ratio[p, t, k]) * scale + 0.5
                if part <= 0.0:
                    break
                g = gain[p, t, k]
                if part >= 1.0:
                    own -= g * (price - ratio[p, t, k])
                    part = 1.0
                else:
                    own -= g * 0.5 * spread * part * part
                drawn += part * servers[p, t, k]
                paid += part * g * ratio[p, t, k]
            load[t] += weight[j] * drawn
        value += weight[j] * own
        cost += weight[j] * paid
    return value, cost


@kernel
def curvature(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    weight: FloatArray,
    largest: float,
    spread: float,
    ladder: Ladder,
    mu: FloatArray,
    hessian: FloatArray,
    slots: IntArray,
    drawn: FloatArray,
) -> None:
    """Set the negative Hessian over slots (T, width): (t, d) couples slots t and t + d."""
    ratio = ladder.ratio
    gain = ladder.gain
    servers = ladder.servers
    steps = ladder.steps
    hessian[:] = 0.0
    for j in range(len(arrival)):
        p = profile[j]
        work = 0.0
        n = 0
        for t in range(arrival[j], end[j]):
            draws = 0.0
            for k in range(steps[p, t]):
                part = (mu[j] - ratio[p, t, k]) / spread + 0.5
                if part <= 0.0:
                    break
                if part < 1.0:
                    g = gain[p, t, k]
                    w = servers[p, t, k]
                    work += g
                    draws += w
                    hessian[t, 0] += weight[j] * w * w / g / spread
            if draws > 0.0:
                slots[n], drawn[n] = t, draws
                n += 1
        if mu[j] < largest:
            for q in range(n):
                factor = weight[j] * drawn[q] / (work * spread)
                t = slots[q]
                for r in range(q, n):
                    hessian[t, slots[r] - t] -= factor * drawn[r]


@kernel
def damp(hessian: FloatArray, fixed: BoolArray, damping: FloatArray) -> None:
    """Add `damping` to the diagonal, and take the slots that are fixed out of the system."""
    slots, width = hessian.shape
    for t in range(slots):
        for d in range(min(width, slots - t)):
            if fixed[t] or fixed[t + d]:
                hessian[t, d] = 0.0
        hessian[t, 0] = 1.0 if fixed[t] else hessian[t, 0] * (1 + 1e-10) + damping[t]


@kernel
def list_shares(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    spread: float,
    least: float,
    ladder: Ladder,
    mu: FloatArray,
    job: IntArray,
    slot: IntArray,
    level: IntArray,
    share: FloatArray,
) -> int:
    """Count the shares of levels above `least`, and fill the arrays where they are not empty."""
    n = 0
    for j in range(len(arrival)):
        p = profile[j]
        for t in range(arrival[j], end[j]):
            part = min((mu[j] - ladder.ratio[p, t, 0]) / spread + 0.5, 1.0)
            for k in range(ladder.steps[p, t]):
                if part <= 0.0:
                    break
                further = 0.0
                if k + 1 < ladder.steps[p, t]:
                    further = min(max((mu[j] - ladder.ratio[p, t, k + 1]) / spread + 0.5, 0.0), 1.0)
                if part - further > least:
                    if len(job) > 0:
                        job[n] = j
                        slot[n] = t
                        level[n] = ladder.level[p, t, k]
                        share[n] = part - further
                    n += 1
                part = further
    return n
