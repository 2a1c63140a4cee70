"""Loops of the smoothed dual: one pass over jobs, their slots and the steps of the ladder each.

At break price m a job takes of a step of cost per work r the part

    y = (m - r) / spread + 1/2    between 0 and 1,

so steps within half a spread of the break price are taken in part, all others wholly or not at all.
"""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import BoolArray, FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder


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
def taken(price: float, spread: float, near: FloatArray, gain: FloatArray, n: int) -> tuple[float, float]:
    """Return the work that is taken of n steps at a break price, and by how much it grows with the price."""
    work = 0.0
    slope = 0.0
    scale = 1.0 / spread
    for i in range(n):
        part = (price - near[i]) * scale + 0.5
        work += gain[i] * min(max(part, 0.0), 1.0)
        slope += gain[i] if 0.0 < part < 1.0 else 0.0
    return work, slope * scale


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
    """Return the break price at which the work `need` is taken, from a guess; at most `largest`.

    A bracket around the guess moves until the root is inside; then Newton's method on the steps that
    matter there, halving the bracket where it would leave it.
    """
    width = spread + 0.01 * price
    low = price - width
    high = min(price + width, largest)
    while True:
        below, n = collect(p, first, last, low - spread / 2, high + spread / 2, ladder, near, gain)
        width *= 4.0
        if below + taken(low, spread, near, gain, n)[0] > need:
            low, high = low - width, low
        elif below + taken(high, spread, near, gain, n)[0] >= need:
            break
        elif high >= largest:
            return largest
        else:
            low = high
            high = min(high + width, largest)
    price = min(max(price, low), high)
    for i in range(200):
        work, slope = taken(price, spread, near, gain, n)
        excess = below + work - need
        if abs(excess) <= 1e-14 * need:
            break
        if excess < 0.0:
            low = price
        else:
            high = price
        better = price - excess / slope if slope > 0.0 else low
        if not low < better < high or i % 6 == 5:
            better = 0.5 * (low + high)
        if better == price:
            break
        price = better
    return price


@kernel
def cover(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
    length: FloatArray,
    largest: float,
    spread: float,
    ladder: Ladder,
    mu: FloatArray,
    load: FloatArray,
    near: FloatArray,
    gains: FloatArray,
) -> tuple[float, float]:
    """Set the break prices `mu` from the last ones, and `load`; return smoothed value and cost of what is taken."""
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
                cost += part * g * ratio[p, t, k]
            load[t] += drawn
        value += own
    return value, cost


@kernel
def curvature(
    arrival: IntArray,
    end: IntArray,
    profile: IntArray,
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
                    hessian[t, 0] += w * w / g / spread
            if draws > 0.0:
                slots[n], drawn[n] = t, draws
                n += 1
        if mu[j] < largest:
            for q in range(n):
                factor = drawn[q] / (work * spread)
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
