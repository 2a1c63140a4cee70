"""Compiled pricing of jobs that may be interrupted: the cheapest L hours of each job's window.

Waiting counts by the completion. Cells are taken one after the other, and the cheapest hours so far, L of them, are
kept by their rates. A completion inside a cell is worth while as long as its hours, with the price of waiting, cost
less than the dearest hours that they replace.
"""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.methods.price.grid import Jobs, Tariff, Terms

ENOUGH = 1e-9
"""Part of a job's length that may lack for rounding."""
NEWTON = 30
"""Steps to the threshold of a soft choice, at most; it took 5 on average."""


class Kept(NamedTuple):
    """Scratch of one job: the hours kept by increasing rate, and hours and rate of each cell of its window."""

    rate: FloatArray
    hours: FloatArray
    cell: IntArray
    window_rate: FloatArray
    window_hours: FloatArray
    chosen: FloatArray


class PieceLoads(NamedTuple):
    """What the pricing fills: CPU-hours in each cell, priced and all, (G,); how far jobs do else, and wait, (N,)."""

    load: FloatArray
    load_all: FloatArray
    other: FloatArray
    waited: FloatArray


@kernel
def fill_window(j: int, hours: float, jobs: Jobs, kept: Kept, cells: int) -> tuple[int, int]:
    """Fill the hours of each cell of the window of job `j`; return its first cell and the number of cells."""
    begin = jobs.arrival[j]
    end = begin + jobs.wait[j] + jobs.length[j]
    first = min(int(begin / hours), cells - 1)
    last = min(max(int(end / hours), first), cells - 1)
    for c in range(first, last + 1):
        kept.window_hours[c - first] = max(0.0, min(end, (c + 1) * hours) - max(begin, c * hours))
    return first, last - first + 1


@kernel
def keep(rate: float, hours: float, cell: int, size: int, total: float, length: float, kept: Kept) -> tuple[int, float]:
    """Take in hours, and drop the dearest above `length`; return the number of entries and the hours kept."""
    if hours <= 0.0 or (total >= length and rate >= kept.rate[size - 1]):
        return size, total
    at = size
    while at > 0 and kept.rate[at - 1] > rate:
        kept.rate[at], kept.hours[at], kept.cell[at] = kept.rate[at - 1], kept.hours[at - 1], kept.cell[at - 1]
        at -= 1
    kept.rate[at] = rate
    kept.hours[at] = hours
    kept.cell[at] = cell
    size += 1
    total = total + hours
    while total - kept.hours[size - 1] >= length:
        size -= 1
        total -= kept.hours[size]
    if total > length:
        kept.hours[size - 1] -= total - length
        total = length
    return size, total


@kernel
def complete_within(
    rate: float, hours: float, wait: float, size: int, total: float, length: float, kept: Kept
) -> tuple[float, float]:
    """Return the change of cost if the completion is in a cell of this rate, best chosen, and the hours in it.

    The wait is counted from the beginning of the cell.
    """
    fee = rate + wait
    used = max(0.0, length - total)
    change = used * fee
    at = size - 1
    while at >= 0 and used < hours and kept.rate[at] > fee:
        moved = min(kept.hours[at], hours - used)
        change += moved * (fee - kept.rate[at])
        used += moved
        at -= 1
    return change, used


@kernel
def best_completion(
    j: int, first: int, count: int, hours: float, wait: float, jobs: Jobs, kept: Kept
) -> tuple[float, int, float]:
    """Return the least cost of job `j`, the cell of its completion, and the hours in that."""
    length = jobs.length[j]
    arrival = jobs.arrival[j]
    size = 0
    total = 0.0
    cost = 0.0
    least = 1e300
    cell = count - 1
    inside = 0.0
    for c in range(count):
        rate = kept.window_rate[c]
        here = kept.window_hours[c]
        if total + here >= length * (1 - ENOUGH) and here > 0.0 and (c == count - 1 or wait > 0.0):
            change, used = complete_within(rate, here, wait, size, total, length, kept)
            waited = max(arrival, (first + c) * hours) - arrival - length
            value = cost + change + wait * waited
            if used > 0.0 and value < least:
                least = value
                cell = c
                inside = used
        size, total = keep(rate, here, c, size, total, length, kept)
        cost = 0.0
        for e in range(size):
            cost += kept.rate[e] * kept.hours[e]
    if wait == 0.0:
        least = cost
        cell = count - 1
        inside = kept.window_hours[count - 1]
    return least, cell, inside


@kernel
def choose_hours(j: int, cell: int, inside: float, jobs: Jobs, kept: Kept) -> None:
    """Fill `chosen` with the cheapest hours of job `j` up to `inside` hours of `cell`."""
    size = 0
    total = 0.0
    length = jobs.length[j]
    for c in range(cell + 1):
        kept.chosen[c] = 0.0
        here = inside if c == cell else kept.window_hours[c]
        size, total = keep(kept.window_rate[c], here, c, size, total, length, kept)
    for e in range(size):
        kept.chosen[kept.cell[e]] += kept.hours[e]


@kernel
def soften(j: int, cell: int, inside: float, heat: float, jobs: Jobs, kept: Kept) -> float:
    """Fill `chosen` with a soft choice of the hours of job `j`, and return its cost less than the hard one's.

    A share u of each cell's hours h_c costs h_c (rate u + heat (u^2 - u)) in place of h_c rate u: at most a quarter of
    `heat` less. Then u = clip(1/2 + (nu - rate) / (2 heat), 0, 1) for the threshold nu at which the hours add up to L.
    """
    length = jobs.length[j]
    low = 1e300
    high = -1e300
    for c in range(cell + 1):
        low = min(low, kept.window_rate[c])
        high = max(high, kept.window_rate[c])
    low = low - heat
    high = high + heat
    nu = 0.5 * (low + high)
    for _ in range(NEWTON):
        total, slope = 0.0, 0.0
        for c in range(cell + 1):
            here = inside if c == cell else kept.window_hours[c]
            share = 0.5 + (nu - kept.window_rate[c]) / (2 * heat)
            if share >= 1.0:
                total += here
            elif share > 0.0:
                total = total + here * share
                slope = slope + here / (2 * heat)
        if abs(total - length) <= 1e-12 * length:
            break
        if total > length:
            high = nu
        else:
            low = nu
        nu = nu + (length - total) / slope if slope > 0.0 else 0.5 * (low + high)
        if not low < nu < high:
            nu = 0.5 * (low + high)
    cost = 0.0
    for c in range(cell + 1):
        here = inside if c == cell else kept.window_hours[c]
        share = min(1.0, max(0.0, 0.5 + (nu - kept.window_rate[c]) / (2 * heat)))
        kept.chosen[c] = here * share
        cost += here * (kept.window_rate[c] * share + heat * (share * share - share))
    return cost


@kernel
def price_pieces(tariff: Tariff, terms: Terms, jobs: Jobs, kept: Kept, found: PieceLoads) -> float:
    """Return the sum of the jobs' least costs, and add up the hours of CPUs in each cell; see `price_runs`.

    With a heat above 0 the choice of hours is soft, that of the completion is not.
    """
    hours, carbon, price, wait = tariff
    extra, other, heat = terms
    load, load_all, did_other, waited = found
    total = 0.0
    cells = len(load)
    for j in range(len(jobs.arrival)):
        first, count = fill_window(j, hours, jobs, kept, cells)
        for c in range(count):
            kept.window_rate[c] = jobs.cpus[j] * carbon.rate[first + c] + jobs.shared[j] * price.rate[0, first + c]
        least, cell, inside = best_completion(j, first, count, hours, wait, jobs, kept)
        waited[j], did_other[j] = 0.0, 1.0
        if extra[j] + least > other[j]:
            total += other[j]
            continue
        did_other[j] = 0.0
        end = max(jobs.arrival[j], (first + cell) * hours) + inside
        waited[j] = max(0.0, end - jobs.arrival[j] - jobs.length[j])
        if heat[j] > 0.0:
            least = soften(j, cell, inside, heat[j], jobs, kept) + wait * waited[j]
        else:
            choose_hours(j, cell, inside, jobs, kept)
        total += extra[j] + least
        for c in range(cell + 1):
            load[first + c] += jobs.shared[j] * kept.chosen[c]
            load_all[first + c] += jobs.cpus[j] * kept.chosen[c]
    return total
