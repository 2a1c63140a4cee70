"""Compiled parts of pricing one job's plan: costs of its choices, break price, and penalties of choices."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.elastic.methods.price.plans.table import Scratch, Table

LEAST_PRICE = 1e-20
"""Prices and costs below this count as none [g]."""


@managed_kernel
def fill_values(j: int, price: FloatArray, theta: float, tab: Table, scr: Scratch) -> float:
    """Fill the costs of the job's choices at CI_t kWh + theta price_t servers; return all work they allow.

    Of a regular profile: for each unit the sorted costs over the slots with room for it. Else: for each slot
    the cost of each level, as ``value[level, slot]``.
    """
    first = tab.first[j]
    n = tab.width[j]
    p = tab.profile[j]
    total = 0.0
    if tab.regular[p] == 0:
        for i in range(n):
            t = first + i
            for k in range(scr.room[i] + 1):
                scr.value[k, i] = tab.intensity[t] * tab.energy[p, k] + theta * price[t] * tab.servers[p, k]
            total += tab.reach[p, scr.room[i]]
        return total
    for u in range(tab.units[p]):
        m = 0
        if u > 0 and tab.regular[p] == 2:  # the order of the unit before
            for k in range(scr.size[u - 1]):
                i = scr.place[u - 1, k]
                if scr.room[i] > u:
                    scr.place[u, m], scr.value[u, m] = i, scr.value[u - 1, k]
                    m += 1
        else:
            for i in range(n):
                if scr.room[i] > u:
                    t = first + i
                    scr.value[u, m] = tab.intensity[t] * tab.kwh[p, u] + theta * price[t]
                    scr.place[u, m] = i
                    m += 1
            order = np.argsort(scr.value[u, :m], kind="mergesort")  # stable: ties go to the earlier slot
            scr.value[u, :m] = scr.value[u, :m][order]
            scr.place[u, :m] = scr.place[u, :m][order]
        scr.size[u] = m
        total += m * tab.gain[p, u]
    return total


@managed_kernel
def set_base(mu: float, classes: int, p: int, tab: Table, scr: Scratch) -> float:
    """Set the best choice of each class at the price `mu` of work; return the work done."""
    done = 0.0
    if tab.regular[p] > 0:
        for u in range(classes):
            scr.base[u] = np.searchsorted(scr.value[u, : scr.size[u]], mu * tab.gain[p, u])
            done += scr.base[u] * tab.gain[p, u]
        return done
    for i in range(classes):
        best, at = 0.0, 0
        for k in range(1, scr.room[i] + 1):
            loss = scr.value[k, i] - mu * tab.reach[p, k]
            if loss < best:
                best, at = loss, k
        scr.base[i] = at
        done += tab.reach[p, at]
    return done


@kernel
def break_price(guess: float, classes: int, p: int, work: float, tab: Table, scr: Scratch) -> float:
    """Return a price of work, at or just above the break price, at which the base does all the work."""
    high = guess if guess > 0 else 1.0
    low, done_low = 0.0, 0.0
    done = set_base(high, classes, p, tab, scr)
    while done >= work and high > 1e-9:
        below = set_base(high / 1.25, classes, p, tab, scr)
        if below < work:
            low = high / 1.25
            done_low = below
            break
        high = high / 1.25
        done = below
    growth = 1.25
    while done < work:
        low, done_low = high, done
        high *= growth
        growth = min(2 * growth, 16.0)
        done = set_base(high, classes, p, tab, scr)
    while done - done_low > 1.0 and high - low > 1e-13 * high + LEAST_PRICE:
        mid = 0.5 * (low + high)
        between = set_base(mid, classes, p, tab, scr)
        if between >= work:
            high, done = mid, between
        else:
            low, done_low = mid, between
    return high


@kernel
def add_choice(m: int, c: int, tag: int, gain: float, penalty: float, scr: Scratch) -> int:
    """Add the choice `tag` of class `c` as number `m`; return the next number."""
    scr.choice_class[m], scr.choice_tag[m] = c, tag
    scr.choice_gain[m] = gain
    scr.choice_penalty[m] = max(penalty, 0.0)
    return m + 1


@kernel
def fill_choices(mu: float, upper: float, classes: int, p: int, tab: Table, scr: Scratch) -> int:
    """Fill the choices other than the base whose penalty is below `upper`, class by class; return how many."""
    m = 0
    for c in range(classes):
        scr.choice_first[c] = m
        if tab.regular[p] > 0:
            worth = mu * tab.gain[p, c]
            n = scr.base[c]
            penalty = 0.0
            for k in range(n, scr.size[c]):
                penalty += scr.value[c, k] - worth
                if penalty >= upper:
                    break
                m = add_choice(m, c, k + 1, (k + 1 - n) * tab.gain[p, c], penalty, scr)
            penalty = 0.0
            for k in range(n - 1, -1, -1):
                penalty += worth - scr.value[c, k]
                if penalty >= upper:
                    break
                m = add_choice(m, c, k, (k - n) * tab.gain[p, c], penalty, scr)
        else:
            at = scr.base[c]
            least = scr.value[at, c] - mu * tab.reach[p, at]
            for k in range(scr.room[c] + 1):
                penalty = scr.value[k, c] - mu * tab.reach[p, k] - least
                if k != at and penalty < upper:
                    m = add_choice(m, c, k, tab.reach[p, k] - tab.reach[p, at], penalty, scr)
    scr.choice_first[classes] = m
    return m
