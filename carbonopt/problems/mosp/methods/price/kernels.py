"""Compiled parts of the dual function: least priced costs over clusters, then over starts, and the loads they make."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.table import Table

FAR = 36.0
"""Temperatures above the least at which a term of a soft minimum is below rounding."""


@kernel
def least_over_clusters(prefix: FloatArray, tab: Table, least: FloatArray, best: IntArray) -> None:
    """Fill the least cost of a unit of each group by start, and its cluster: shapes (G, T); infinite and -1 for none.

    `prefix` holds prefix sums of the priced cost of a unit, shape (M, R, T + 1).
    """
    clusters, resources, slots = prefix.shape[0], prefix.shape[1], prefix.shape[2] - 1
    for g in range(len(tab.length)):
        length, allowed = tab.length[g], tab.allowed[tab.mask[g]]
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
                    least[g, t], best[g, t] = cost, j


@kernel
def soft_over_clusters(prefix: FloatArray, tau: float, tab: Table, least: FloatArray, soft: FloatArray) -> None:
    """Fill the soft minimum over clusters of what `least_over_clusters` takes the minimum of, shape (G, T)."""
    clusters, resources, slots = prefix.shape[0], prefix.shape[1], prefix.shape[2] - 1
    soft[:] = 0.0
    for g in range(len(tab.length)):
        length, allowed = tab.length[g], tab.allowed[tab.mask[g]]
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
            soft[g, t] = least[g, t] - tau * np.log(soft[g, t]) if soft[g, t] > 0.0 else np.inf


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
    clusters, resources, slots = prefix.shape[0], prefix.shape[1], prefix.shape[2] - 1
    for g in range(len(tab.length)):
        length, allowed = tab.length[g], tab.allowed[tab.mask[g]]
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


@kernel
def hard_classes(
    unit_cost: FloatArray, absence: FloatArray, tab: Table, units: FloatArray, absent: FloatArray, least: FloatArray
) -> None:
    """Fill the least cost of each member, shape (members,), and add the units it starts, shape (G, T).

    Absence costs the jobs of a shape `absence`, shape (H,); fills how many of them it is best for, `absent`.

    Past its last start on time, a member's tardiness grows by one a slot, so one suffix minimum serves all members
    of a shape; not so for caspian's inverse, where each looks at all starts.
    """
    slots = unit_cost.shape[1]
    cost, after, at = np.zeros(slots), np.zeros(slots + 1), np.zeros(slots + 1, dtype=np.int64)
    for h in range(len(tab.group)):
        g, scale = tab.group[h], tab.scale[h]
        length = tab.length[g]
        end = slots - length + 1
        if end < 0:
            end = 0
        absent[h], after[end], at[end] = 0.0, np.inf, -1
        for t in range(end - 1, -1, -1):
            cost[t] = scale * unit_cost[g, t] + tab.on_time[t + length] if unit_cost[g, t] < np.inf else np.inf
            after[t], at[t] = after[t + 1], at[t + 1]
            if cost[t] + tab.late * (t + length) < after[t]:
                after[t], at[t] = cost[t] + tab.late * (t + length), t
        for c in range(tab.class_first[h], tab.class_first[h + 1]):
            begin = min(tab.first[c], end)
            middle = min(max(begin, tab.last[c] + 1), end)
            head, head_at = np.inf, -1
            for t in range(begin, middle):
                if cost[t] < head:
                    head, head_at = cost[t], t
            for m in range(tab.member_first[c], tab.member_first[c + 1]):
                best, best_at = head, head_at
                if not tab.inverse:
                    if after[middle] - tab.late * tab.deadline[m] < best:
                        best, best_at = after[middle] - tab.late * tab.deadline[m], at[middle]
                else:
                    for t in range(middle, end):
                        tardiness = t + length - tab.deadline[m]
                        here = cost[t] + tab.late * tardiness / (1.0 + tardiness)
                        if here < best:
                            best, best_at = here, t
                if best >= absence[h]:
                    best, best_at = absence[h], -1
                    absent[h] += tab.jobs[m]
                least[m] = best
                if best_at >= 0:
                    units[g, best_at] += tab.jobs[m] * scale


@kernel
def soft_classes(
    unit_cost: FloatArray, absence: FloatArray, tau: float, tab: Table, units: FloatArray, absent: FloatArray
) -> float:
    """Return the sum of soft minima over starts, and add the units that they start; see `hard_classes`."""
    slots = unit_cost.shape[1]
    cost, after, owed, here = np.zeros(slots), np.zeros(slots + 1), np.zeros(slots + 1), np.zeros(slots)
    weight = np.zeros(slots)
    total = 0.0
    for h in range(len(tab.group)):
        g, scale = tab.group[h], tab.scale[h]
        length = tab.length[g]
        end = slots - length + 1
        if end < 0:
            end = 0
        absent[h], after[end] = 0.0, np.inf
        for t in range(end - 1, -1, -1):
            cost[t] = scale * unit_cost[g, t] + tab.on_time[t + length] if unit_cost[g, t] < np.inf else np.inf
            x, y = cost[t] + tab.late * (t + length), after[t + 1]
            low, high = min(x, y), max(x, y)
            after[t] = (
                low - tau * np.log1p(np.exp((low - high) / tau)) if high < np.inf and high <= low + FAR * tau else low
            )
            here[t], owed[t] = 0.0, 0.0
        owed[end] = 0.0
        for c in range(tab.class_first[h], tab.class_first[h + 1]):
            begin = min(tab.first[c], end)
            middle = min(max(begin, tab.last[c] + 1), end)
            low, summed = np.inf, 0.0
            for t in range(begin, middle):
                low = min(low, cost[t])
            for t in range(begin, middle):
                weight[t] = np.exp((low - cost[t]) / tau) if cost[t] < np.inf and cost[t] <= low + FAR * tau else 0.0
                summed += weight[t]
            head = low - tau * np.log(summed) if summed > 0.0 else np.inf
            on_time, late = 0.0, 0.0
            for m in range(tab.member_first[c], tab.member_first[c + 1]):
                least = min(head, absence[h])
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
                        weight[t] = (
                            np.exp((least - weight[t]) / tau)
                            if weight[t] < np.inf and weight[t] <= least + FAR * tau
                            else 0.0
                        )
                        tail += weight[t]
                    tail = least - tau * np.log(tail) if tail > 0.0 else np.inf
                if not least < np.inf:
                    continue
                p = np.exp((least - head) / tau) if head < np.inf and head <= least + FAR * tau else 0.0
                q = np.exp((least - tail) / tau) if tail < np.inf and tail <= least + FAR * tau else 0.0
                z = (
                    np.exp((least - absence[h]) / tau)
                    if absence[h] < np.inf and absence[h] <= least + FAR * tau
                    else 0.0
                )
                norm = p + q + z
                total += tab.jobs[m] * (least - tau * np.log(norm))
                absent[h] += tab.jobs[m] * z / norm
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
