"""Compiled loops of the bound: starts and patterns at prices, hard or smoothed, and the cuts that they violate."""

from __future__ import annotations

from math import exp, log

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.tables import Tables

NEGLIGIBLE = -40.0
"""Exponents below this count as no weight."""


@kernel
def priced_starts(
    tables: Tables,
    prices: FloatArray,
    charges: FloatArray,
    temperature: float,
    weight: FloatArray,
    paid: FloatArray,
    used: FloatArray,
    presence: FloatArray,
) -> float:
    """Return the sum of what jobs cost at shared prices, and write where they run and the units they use.

    At temperature 0 a job takes its cheapest start. Above it, each start has the weight of the soft minimum.

    Parameters
    ----------
    prices
        Of a unit in a slot, shape (R, T).
    charges
        What a job pays beside, by slot in which it runs, shape (N, T), or (0, 0) where there are none.
    weight, paid
        Work space, shapes (T,) and (T + 1,).
    used
        Differences of used units by slot, shape (R, T + 1): sums along the slots are the units.
    presence
        Share of a job that runs in a slot, shape (N, T), or (0, 0) where it is not asked for. Outside its window
        nothing is written.
    """
    total = 0.0
    resources = len(prices)
    used[:] = 0.0
    for j in range(len(tables.kwh)):
        length = tables.duration[j]
        begin = tables.arrival[j]
        last = tables.last_start[j]
        kwh = tables.kwh[j]
        for t in range(begin, last + length):
            cost = kwh * (tables.value[t + 1] - tables.value[t])
            for r in range(resources):
                cost += tables.use[j, r] * prices[r, t]
            if len(charges) > 0:
                cost += charges[j, t]
            paid[t + 1] = cost
        paid[begin] = 0.0
        for t in range(begin, last + length):
            paid[t + 1] += paid[t]
        best = np.inf
        start = begin
        for s in range(begin, last + 1):
            cost = paid[s + length] - paid[s]
            weight[s] = cost
            if cost < best:
                best = cost
                start = s
        mass = 1.0
        if temperature > 0:
            mass = 0.0
            for s in range(begin, last + 1):
                exponent = (best - weight[s]) / temperature
                weight[s] = exp(exponent) if exponent > NEGLIGIBLE else 0.0
                mass += weight[s]
        if len(presence) > 0:
            presence[j, begin : last + length] = 0.0
        first = begin if temperature > 0 else start
        final = last if temperature > 0 else start
        for s in range(first, final + 1):
            share = weight[s] / mass if temperature > 0 else 1.0
            if share > 0:
                for r in range(resources):
                    used[r, s] += tables.use[j, r] * share
                    used[r, s + length] -= tables.use[j, r] * share
                if len(presence) > 0:
                    presence[j, s] += share
                    if s < last:
                        presence[j, s + length] -= share
        if len(presence) > 0:
            for t in range(begin + 1, last + length):
                presence[j, t] += presence[j, t - 1]
        total += best
        if temperature > 0:
            total -= temperature * log(mass)
    return total


@kernel
def soft_patterns(
    cost: FloatArray, up: FloatArray, down: FloatArray, temperature: float, came: FloatArray, on: FloatArray
) -> float:
    """Return the sum of the soft minima over on/off patterns of all machines, and write the share of each slot.

    Parameters
    ----------
    cost
        Of being on, infinite where a machine is not available, shape (M, T).
    came
        Work space, shape (T, 2): the share that was on before, of what is now off and on.
    on
        Share of patterns that are on, shape (M, T).
    """
    total = 0.0
    slots = cost.shape[1]
    for m in range(len(cost)):
        off_value = 0.0
        on_value = np.inf
        for t in range(slots + 1):
            stayed = on_value
            started = off_value + up[m]
            stopped = on_value + down[m]
            least = min(stopped, off_value)
            from_on = exp((least - stopped) / temperature)
            mass = from_on + exp((least - off_value) / temperature)
            off_value = least - temperature * log(mass)
            if t == slots:
                total += off_value
                on[m, t - 1] = from_on / mass
                continue
            came[t, 0] = from_on / mass
            least = min(stayed, started)
            from_on = exp((least - stayed) / temperature)
            mass = from_on + exp((least - started) / temperature)
            came[t, 1] = from_on / mass
            on_value = least - temperature * log(mass) + cost[m, t]
        for t in range(slots - 1, 0, -1):
            on[m, t - 1] = on[m, t] * came[t, 1] + (1 - on[m, t]) * came[t, 0]
    return total


@kernel
def deepest_cut(use: IntArray, presence: FloatArray, order: IntArray, capacity: int, on: float) -> tuple[float, int]:
    """Return by how much the most violated cut of a slot and a resource is violated, and how many jobs it has.

    Parameters
    ----------
    use
        Units of the resource by job, shape (N,).
    presence
        Share of each job that runs in the slot, shape (N,).
    order
        Jobs by that share, falling; the cut has the first ones.
    capacity
        Of the largest machine.
    on
        Machines that are on in the slot.
    """
    most = 0.0
    count = 0
    units = 0
    missing = 0.0  # what the cut loses at least, since no slope is less than units over capacity
    for i in range(len(order)):
        units += use[order[i]]
        missing += min(1.0, use[order[i]] / capacity) * (1.0 - presence[order[i]])
        machines = -(-units // capacity)
        if use[order[i]] == 0 or machines - on - missing <= most:
            continue
        rest = units - (machines - 1) * capacity
        violation = machines - on
        for k in range(i + 1):
            j = order[k]
            violation -= min(1.0, use[j] / rest) * (1.0 - presence[j])
            if violation <= most:
                break
        if violation > most:
            most = violation
            count = i + 1
    return most, count
