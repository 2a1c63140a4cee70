"""Compiled parts of the dual function: least priced costs over clusters, then over starts, and the loads they make."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.table import Table

FAR = 36.0
"""Temperatures above the least at which a term of a soft minimum is below rounding."""


@kernel
def soft_term(least: float, cost: float, tau: float) -> float:
    """Return the weight of a cost in a soft minimum, beside that of the least one; 0 where it is below rounding."""
    if cost < np.inf and cost <= least + FAR * tau:
        return float(np.exp((least - cost) / tau))
    return 0.0


@kernel
def soft_least(least: float, summed: float, tau: float) -> float:
    """Return the soft minimum of costs whose weights, see `soft_term`, add up to `summed`."""
    if summed > 0.0:
        return float(least - tau * np.log(summed))
    return np.inf


@kernel
def start_cost(g: int, t: int, scale: float, unit_cost: FloatArray, tab: Table) -> float:
    """Return what a start of `scale` units of a group costs, on time; infinite where there is none."""
    if unit_cost[g, t] < np.inf:
        return float(scale * unit_cost[g, t] + tab.on_time[t + tab.length[g]])
    return np.inf


@kernel
def least_over_clusters(prefix: FloatArray, tab: Table, least: FloatArray, best: IntArray) -> None:
    """Fill the least cost of a unit of each group by start, and its cluster: shapes (G, T); infinite and -1 for none.

    `prefix` holds prefix sums of the priced cost of a unit, shape (M, R, T + 1).
    """
    clusters = prefix.shape[0]
    resources = prefix.shape[1]
    slots = prefix.shape[2] - 1
    for g in range(len(tab.length)):
        length = tab.length[g]
        allowed = tab.allowed[tab.mask[g]]
        least[g, :] = np.inf
        best[g, :] = -1
        for j in range(clusters):
            for t in range(slots - length + 1):
                if not allowed[j, t]:
                    continue
                cost = 0.0
                for r in range(resources):
                    cost += tab.mix[g, r] * (prefix[j, r, t + length] - prefix[j, r, t])
                if cost < least[g, t]:
                    least[g, t] = cost
                    best[g, t] = j


@kernel
def soft_over_clusters(prefix: FloatArray, tau: float, tab: Table, least: FloatArray, soft: FloatArray) -> None:
    """Fill the soft minimum over clusters of what `least_over_clusters` takes the minimum of, shape (G, T)."""
    clusters = prefix.shape[0]
    resources = prefix.shape[1]
    slots = prefix.shape[2] - 1
    soft[:] = 0.0
    for g in range(len(tab.length)):
        length = tab.length[g]
        allowed = tab.allowed[tab.mask[g]]
        for j in range(clusters):
            for t in range(slots - length + 1):
                if not allowed[j, t]:
                    continue
                cost = 0.0
                for r in range(resources):
                    cost += tab.mix[g, r] * (prefix[j, r, t + length] - prefix[j, r, t])
                if cost <= least[g, t] + FAR * tau:
                    soft[g, t] += np.exp((least[g, t] - cost) / tau)
        for t in range(slots):
            soft[g, t] = soft_least(least[g, t], soft[g, t], tau)


@kernel
def hard_loads(units: FloatArray, best: IntArray, tab: Table, load: FloatArray) -> None:
    """Add to `load`, shape (M, R, T + 1), the differences that `units` started by group and slot make."""
    slots = units.shape[1]
    for g in range(len(tab.length)):
        for t in range(slots - tab.length[g] + 1):
            if units[g, t] > 0.0:
                j = best[g, t]
                for r in range(tab.mix.shape[1]):
                    load[j, r, t] += units[g, t] * tab.mix[g, r]
                    load[j, r, t + tab.length[g]] -= units[g, t] * tab.mix[g, r]


@kernel
def soft_loads(
    units: FloatArray, prefix: FloatArray, tau: float, soft: FloatArray, tab: Table, load: FloatArray
) -> None:
    """Do the same for a soft minimum, which spreads `units` over the clusters."""
    clusters = prefix.shape[0]
    resources = prefix.shape[1]
    slots = prefix.shape[2] - 1
    for g in range(len(tab.length)):
        length = tab.length[g]
        allowed = tab.allowed[tab.mask[g]]
        for j in range(clusters):
            for t in range(slots - length + 1):
                if units[g, t] <= 0.0 or not allowed[j, t]:
                    continue
                cost = 0.0
                for r in range(resources):
                    cost += tab.mix[g, r] * (prefix[j, r, t + length] - prefix[j, r, t])
                if cost <= soft[g, t] + FAR * tau:
                    here = units[g, t] * np.exp((soft[g, t] - cost) / tau)
                    for r in range(resources):
                        load[j, r, t] += here * tab.mix[g, r]
                        load[j, r, t + length] -= here * tab.mix[g, r]


@managed_kernel
def hard_classes(
    unit_cost: FloatArray,
    rejection_cost: FloatArray,
    tab: Table,
    units: FloatArray,
    rejected: FloatArray,
    least: FloatArray,
) -> None:
    """Fill the least cost of each member, shape (members,), and add the units it starts, shape (G, T).

    A rejected job of a shape costs `rejection_cost`, shape (H,); fills how many it is best to reject, `rejected`.

    Past its last start on time, a member's tardiness grows by one a slot, so one suffix minimum serves all members
    of a shape; not so for caspian's inverse, where each looks at all starts.
    """
    slots = unit_cost.shape[1]
    cost = np.zeros(slots)
    after = np.zeros(slots + 1)
    at = np.zeros(slots + 1, dtype=np.int64)
    for h in range(len(tab.group)):
        g = tab.group[h]
        scale = tab.scale[h]
        length = tab.length[g]
        end = slots - length + 1
        if end < 0:
            end = 0
        rejected[h] = 0.0
        after[end] = np.inf
        at[end] = -1
        for t in range(end - 1, -1, -1):
            cost[t] = start_cost(g, t, scale, unit_cost, tab)
            after[t] = after[t + 1]
            at[t] = at[t + 1]
            if cost[t] + tab.late * (t + length) < after[t]:
                after[t] = cost[t] + tab.late * (t + length)
                at[t] = t
        for c in range(tab.class_first[h], tab.class_first[h + 1]):
            begin = min(tab.first[c], end)
            middle = min(max(begin, tab.last[c] + 1), end)
            head = np.inf
            head_at = -1
            for t in range(begin, middle):
                if cost[t] < head:
                    head = cost[t]
                    head_at = t
            for m in range(tab.member_first[c], tab.member_first[c + 1]):
                best = head
                best_at = head_at
                if not tab.inverse:
                    if after[middle] - tab.late * tab.deadline[m] < best:
                        best = after[middle] - tab.late * tab.deadline[m]
                        best_at = at[middle]
                else:
                    for t in range(middle, end):
                        tardiness = t + length - tab.deadline[m]
                        here = cost[t] + tab.late * tardiness / (1.0 + tardiness)
                        if here < best:
                            best = here
                            best_at = t
                if best >= rejection_cost[h]:
                    best = rejection_cost[h]
                    best_at = -1
                    rejected[h] += tab.jobs[m]
                least[m] = best
                if best_at >= 0:
                    units[g, best_at] += tab.jobs[m] * scale


@managed_kernel
def soft_classes(
    unit_cost: FloatArray, rejection_cost: FloatArray, tau: float, tab: Table, units: FloatArray, rejected: FloatArray
) -> float:
    """Return the sum of soft minima over starts, and add the units that they start; see `hard_classes`."""
    slots = unit_cost.shape[1]
    cost = np.zeros(slots)
    after = np.zeros(slots + 1)
    owed = np.zeros(slots + 1)
    here = np.zeros(slots)
    weight = np.zeros(slots)
    total = 0.0
    for h in range(len(tab.group)):
        g = tab.group[h]
        scale = tab.scale[h]
        length = tab.length[g]
        end = slots - length + 1
        if end < 0:
            end = 0
        rejected[h] = 0.0
        after[end] = np.inf
        for t in range(end - 1, -1, -1):
            cost[t] = start_cost(g, t, scale, unit_cost, tab)
            x = cost[t] + tab.late * (t + length)
            y = after[t + 1]
            low = min(x, y)
            high = max(x, y)
            after[t] = low
            if high < np.inf and high <= low + FAR * tau:
                after[t] = low - tau * np.log1p(np.exp((low - high) / tau))
            here[t] = 0.0
            owed[t] = 0.0
        owed[end] = 0.0
        for c in range(tab.class_first[h], tab.class_first[h + 1]):
            begin = min(tab.first[c], end)
            middle = min(max(begin, tab.last[c] + 1), end)
            low = np.inf
            summed = 0.0
            for t in range(begin, middle):
                low = min(low, cost[t])
            for t in range(begin, middle):
                weight[t] = soft_term(low, cost[t], tau)
                summed += weight[t]
            head = soft_least(low, summed, tau)
            on_time = 0.0
            late = 0.0
            for m in range(tab.member_first[c], tab.member_first[c + 1]):
                least = min(head, rejection_cost[h])
                if not tab.inverse:
                    tail = after[middle] - tab.late * tab.deadline[m]
                    least = min(least, tail)
                else:
                    for t in range(middle, end):
                        tardiness = t + length - tab.deadline[m]
                        weight[t] = cost[t] + tab.late * tardiness / (1.0 + tardiness)
                        least = min(least, weight[t])
                    tail = 0.0
                    for t in range(middle, end):
                        weight[t] = soft_term(least, weight[t], tau)
                        tail += weight[t]
                    tail = soft_least(least, tail, tau)
                if not least < np.inf:
                    continue
                p = soft_term(least, head, tau)
                q = soft_term(least, tail, tau)
                z = soft_term(least, rejection_cost[h], tau)
                norm = p + q + z
                total += tab.jobs[m] * (least - tau * np.log(norm))
                rejected[h] += tab.jobs[m] * z / norm
                on_time += tab.jobs[m] * p / norm
                q *= tab.jobs[m] / norm
                late += q
                if tab.inverse and q > 0.0:
                    for t in range(middle, end):
                        here[t] += q * weight[t] * np.exp((tail - least) / tau)
            if on_time > 0.0:
                for t in range(begin, middle):
                    here[t] += on_time * weight[t] / summed
            if not tab.inverse:
                owed[middle] += late
        left = 0.0
        for t in range(end):
            left += owed[t]
            if left > 0.0 and cost[t] < np.inf:
                share = np.exp(min(0.0, after[t] - (cost[t] + tab.late * (t + length))) / tau)  # rounding may exceed 0
                here[t] += left * share
                left *= 1.0 - share
            units[g, t] += scale * here[t]
    return total
