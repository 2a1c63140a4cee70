"""Compiled pricing of one job's plan: labels over classes of choices. See `table.py` for the method."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.methods.price.plans.choices import (
    LEAST_PRICE,
    break_price,
    fill_choices,
    fill_values,
    set_base,
)
from carbonopt.problems.elastic.methods.price.plans.table import Scratch, Table

PAIRS = 96
"""Up to this number of choices, all pairs of them are tried for a first good plan. A good one leaves the
labels, which are exact, less to do."""
CLOSE = 1e-9
"""An excess below this share of z(mu) counts as none."""
WORK_ERROR = 1e-14
"""Of a sum of gains, relative; a thousandth of the allowance that the required work contains."""


@kernel
def fill_ratios(mu: float, classes: int, scr: Scratch) -> None:
    """Fill the least penalty per work gained, and given back, over the classes from each one on."""
    scr.ratio_up[classes], scr.ratio_down[classes] = np.inf, mu
    for c in range(classes - 1, -1, -1):
        up = scr.ratio_up[c + 1]
        down = scr.ratio_down[c + 1]
        for m in range(scr.choice_first[c], scr.choice_first[c + 1]):
            gain = scr.choice_gain[m]
            penalty = scr.choice_penalty[m]
            if gain > 0:
                up = min(up, penalty / gain)
            elif gain < 0:
                down = min(down, -penalty / gain)
        scr.ratio_up[c], scr.ratio_down[c] = up, down


@kernel
def least_excess(slack: float, penalty: float, c: int, scr: Scratch) -> float:
    """Return a bound on the excess of a label that may still use the classes from `c` on."""
    if slack >= 0:
        return float(penalty + scr.ratio_down[c] * slack)
    if scr.ratio_up[c] == np.inf:
        return float(np.inf)
    return float(penalty - scr.ratio_up[c] * slack)


@kernel
def best_pair(mu: float, slack: float, choices: int, scr: Scratch) -> tuple[float, int, int]:
    """Return the least excess of at most two choices, and these (-1: none)."""
    best = mu * slack
    one = -1
    two = -1
    for a in range(choices):
        left = slack + scr.choice_gain[a]
        penalty = scr.choice_penalty[a]
        if left >= 0 and penalty + mu * left < best:
            best = penalty + mu * left
            one = a
            two = -1
    if choices > PAIRS:
        return best, one, two
    for a in range(choices):
        left = slack + scr.choice_gain[a]
        penalty = scr.choice_penalty[a]
        if penalty >= best:
            continue
        for b in range(scr.choice_first[scr.choice_class[a] + 1], choices):
            rest = left + scr.choice_gain[b]
            if rest >= 0:
                excess = penalty + scr.choice_penalty[b] + mu * rest
                if excess < best:
                    best = excess
                    one = a
                    two = b
    return best, one, two


@kernel
def merge_shifted(
    mu: float, upper: float, lists: tuple[int, int, int], size: int, count: int, m: int, pool: int, scr: Scratch
) -> tuple[int, int, float]:
    """Merge list `into` with list `source` after choice `m`, into list `out`, without dominated labels.

    `lists` are source, into and out. They run from much slack to little, so a label stays if its
    penalty + mu x slack is below that of all before it. Returns the length of `out`, the used part of
    the pool, and the least excess possible of what was dropped for lack of space.
    """
    source, into, out = lists
    gain = scr.choice_gain[m]
    penalty = scr.choice_penalty[m]
    c = scr.choice_class[m]
    a = b = used = 0
    lowest, dropped = np.inf, np.inf
    while a < count or b < size:
        shifted = a >= count or (b < size and scr.slack[source, b] + gain > scr.slack[into, a])
        if shifted:
            s = scr.slack[source, b] + gain
            q = scr.penalty[source, b] + penalty
            label = scr.label[source, b]
            b += 1
        else:
            s = scr.slack[into, a]
            q = scr.penalty[into, a]
            label = scr.label[into, a]
            a += 1
        if q + mu * s >= lowest:
            continue
        least = least_excess(s, q, c + 1, scr)
        if least >= upper:
            continue
        if used >= scr.slack.shape[1] or (shifted and pool >= len(scr.parent)):
            dropped = min(dropped, least)
            continue
        if shifted:
            scr.parent[pool], scr.step[pool] = label, m
            label = pool
            pool += 1
        lowest = q + mu * s
        scr.slack[out, used] = s
        scr.penalty[out, used] = q
        scr.label[out, used] = label
        used += 1
    return used, pool, dropped


@kernel
def run_labels(mu: float, slack: float, upper: float, classes: int, scr: Scratch) -> tuple[float, int, float]:
    """Return the least excess below `upper` found by labels, its label (-1: none), and the least dropped."""
    source = 0
    into = 1
    out = 2
    scr.slack[source, 0] = slack
    scr.penalty[source, 0] = 0.0
    scr.label[source, 0] = -1
    size = 1
    pool = 0
    found = -1
    dropped = np.inf
    for c in range(classes):
        count = 0
        for k in range(size):
            if least_excess(scr.slack[source, k], scr.penalty[source, k], c + 1, scr) < upper:
                scr.slack[into, count] = scr.slack[source, k]
                scr.penalty[into, count] = scr.penalty[source, k]
                scr.label[into, count] = scr.label[source, k]
                count += 1
        for m in range(scr.choice_first[c], scr.choice_first[c + 1]):
            if scr.choice_penalty[m] < upper:
                count, pool, lost = merge_shifted(mu, upper, (source, into, out), size, count, m, pool, scr)
                dropped = min(dropped, lost)
                into, out = out, into
        for k in range(count):
            excess = scr.penalty[into, k] + mu * scr.slack[into, k]
            if scr.slack[into, k] >= 0 and excess < upper:
                upper = excess
                found = scr.label[into, k]
        source, into, size = into, source, count
    return upper, found, dropped


@kernel
def write_plan(j: int, classes: int, out: IntArray, tab: Table, scr: Scratch) -> None:
    """Write the levels that the base stands for."""
    n = tab.width[j]
    p = tab.profile[j]
    if tab.regular[p] == 0:
        for i in range(n):
            out[i] = scr.base[i]
        return
    for i in range(n):
        out[i] = 0
    for u in range(classes):
        for k in range(scr.base[u]):
            out[scr.place[u, k]] += 1


@kernel
def price_job(
    j: int, price: FloatArray, theta: float, room: IntArray, guess: float, out: IntArray, tab: Table, scr: Scratch
) -> tuple[float, float, float]:
    """Find the cheapest plan of job `j` at CI_t kWh + theta price_t servers, within `room` servers a slot.

    Writes its levels to `out`, one a slot of the window. Returns its cost, a lower bound on the cost of
    any plan (the same unless labels were dropped), and the break price, which is a good `guess` next time.
    Where no plan fits, the first two are infinite.
    """
    first = tab.first[j]
    n = tab.width[j]
    p = tab.profile[j]
    block = tab.servers[p, 1]
    regular = tab.regular[p] > 0
    for i in range(n):
        free = room[first + i]
        scr.room[i] = min(tab.units[p], free - block + 1) if free >= block else 0
    classes = tab.units[p] if regular else n
    total = fill_values(j, price, theta, tab, scr)
    work = tab.work[j] * (1 - WORK_ERROR)
    if total < work:
        return np.inf, np.inf, guess
    work = min(work, total * (1 - WORK_ERROR))  # sums in another order must reach it too
    mu = break_price(guess, classes, p, work, tab, scr)
    slack = set_base(mu, classes, p, tab, scr) - work
    value = mu * work
    for c in range(classes):
        if regular:
            for k in range(scr.base[c]):
                value += scr.value[c, k] - mu * tab.gain[p, c]
        else:
            value += scr.value[scr.base[c], c] - mu * tab.reach[p, scr.base[c]]
    best = mu * slack
    close = CLOSE * abs(value) + LEAST_PRICE
    dropped = np.inf
    if best > close:
        choices = fill_choices(mu, best, classes, p, tab, scr)
        best, one, two = best_pair(mu, slack, choices, scr)
        label = -1
        if best > close:
            fill_ratios(mu, classes, scr)
            best, label, dropped = run_labels(mu, slack, best, classes, scr)
        if label < 0:
            for m in (one, two):
                if m >= 0:
                    scr.base[scr.choice_class[m]] = scr.choice_tag[m]
        while label >= 0:
            m = scr.step[label]
            scr.base[scr.choice_class[m]] = scr.choice_tag[m]
            label = scr.parent[label]
    lower = value if best <= close else value + min(best, dropped)
    write_plan(j, classes, out, tab, scr)
    cost = 0.0
    for i in range(n):
        if out[i] > 0:
            t = first + i
            cost += tab.intensity[t] * tab.energy[p, out[i]] + theta * price[t] * tab.servers[p, out[i]]
    return cost, min(lower, cost), mu


@kernel
def price_jobs(
    begin: int,
    end: int,
    price: FloatArray,
    room: IntArray,
    guess: FloatArray,
    level: IntArray,
    cost: FloatArray,
    lower: FloatArray,
    tab: Table,
    scr: Scratch,
) -> None:
    """Price the jobs from `begin` to `end` each by itself; fill their levels, costs and lower bounds."""
    for j in range(begin, end):
        at = tab.offset[j]
        out = level[at : at + tab.width[j]]
        cost[j], lower[j], guess[j] = price_job(j, price, 1.0, room, guess[j], out, tab, scr)
