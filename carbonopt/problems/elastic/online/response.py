"""What jobs do at given slot prices, smoothed so that the answer moves gently with the prices.

With prices lambda_t on the servers of each slot a job takes the steps of its window in the order of
cost per work, rho = (CI e + lambda w) / p, until its work is done: a unit is either on or off, but for
the last. A small quadratic term makes it y = min(1, max(0, (mu - rho) / delta)), with mu such that the
work is done: the share of the slot in which the unit is wanted.
"""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.fluid.ladder import Ladder

ROUNDS = 60
"""Newton steps for a job's mu, at most; the bracket halves where one would leave it."""


@kernel
def respond(
    start: IntArray, end: IntArray, need: FloatArray, profile: IntArray, weight: FloatArray,
    ladder: Ladder, delta: float, ceiling: float, mu: FloatArray, load: FloatArray, curvature: FloatArray,
) -> float:  # fmt: skip
    """Let every job do its work at least smoothed cost; return the cost, set `mu`, add to `load` (T,).

    `curvature` (T, T), unless it is empty, takes minus the derivative of the load by the prices. Work that
    costs more than `ceiling`, or does not fit into its window, is left undone at that price: so there are
    prices at which any demand fits.
    """
    ratio = ladder.ratio
    gain = ladder.gain
    servers = ladder.servers
    steps = ladder.steps
    slots = len(load)
    value = 0.0
    base = [0.0] * slots
    place = [0] * slots
    for j in range(len(start)):
        p = profile[j]
        wanted = need[j]
        most, high = 0.0, 0.0
        for t in range(start[j], end[j]):
            for k in range(steps[p, t]):
                most += gain[p, t, k]
            high = max(high, ratio[p, t, steps[p, t] - 1] + delta)
        capped = most <= wanted
        if not capped and high > ceiling:
            high, most = ceiling, 0.0
            for t in range(start[j], end[j]):
                for k in range(steps[p, t]):
                    most += gain[p, t, k] * min(1.0, max(0.0, (ceiling - ratio[p, t, k]) / delta))
            capped = most <= wanted
        if capped:
            mu[j] = ceiling
        else:
            low = 0.0
            at = min(max(mu[j], low), high)
            for _ in range(ROUNDS):
                done = 0.0
                slope = 0.0
                following = high
                before = low
                for t in range(start[j], end[j]):
                    for k in range(steps[p, t]):
                        x = (at - ratio[p, t, k]) / delta
                        if x <= 0.0:
                            following = min(following, ratio[p, t, k])
                            break
                        if x >= 1.0:
                            done += gain[p, t, k]
                            before = max(before, ratio[p, t, k] + delta)
                        else:
                            done += gain[p, t, k] * x
                            slope += gain[p, t, k] / delta
                gap = wanted - done
                if abs(gap) <= 1e-9 * wanted:
                    break
                if gap > 0:
                    low = at
                    at = at + gap / slope if slope > 0.0 else following + 1e-3 * delta
                else:
                    high = at
                    at = at + gap / slope if slope > 0.0 else before - 1e-3 * delta
                if at <= low or at >= high:
                    at = (low + high) / 2
            mu[j] = at
        total = 0.0
        left = wanted
        n = 0
        for t in range(start[j], end[j]):
            some, square = 0.0, 0.0
            for k in range(steps[p, t]):
                x = (mu[j] - ratio[p, t, k]) / delta
                if x <= 0.0:
                    break
                y = min(x, 1.0)
                value += weight[j] * gain[p, t, k] * y * (ratio[p, t, k] + delta / 2 * y)
                left -= gain[p, t, k] * y
                load[t] += weight[j] * servers[p, t, k] * y
                if x < 1.0:
                    total += gain[p, t, k]
                    some += servers[p, t, k]
                    square += servers[p, t, k] * servers[p, t, k] / gain[p, t, k]
            if some > 0.0 and len(curvature):
                base[n], place[n] = some, t
                curvature[t, t] += weight[j] * square / delta
                n += 1
        if capped:  # mu does not answer
            value += weight[j] * ceiling * max(0.0, left)
            continue
        for a in range(n):
            share = weight[j] * base[a] / (total * delta)
            for b in range(n):
                curvature[place[a], place[b]] -= share * base[b]
    return value
