"""Best starts of runs on spot CPUs, and what these emit in expectation.

On spot CPUs with hazard h, carbon c(t) and q = e^-hL, a run from s emits in expectation, a CPU,

    C(s, s + L) + int_0^L (e^-hu - q) c(s + L + u) du

Its slope in s is -c(s) + (1 - ...) terms of the tails E(t) = int_t^T e^-h(u - t) c(u) du, whose own slope is
h E(t) - c(t). Between breakpoints, where s, s + L or s + 2L passes an edge of a slot, the whole is linear plus a
multiple of e^hs: its least is at a breakpoint or where the slope is 0, in closed form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.purchasing.methods.price.grid import Rates


class Tail(NamedTuple):
    """Carbon of a CPU: rates and integrals, the hazard, and E at each edge, shape (G + 1,)."""

    hours: float
    kg: Rates
    hazard: float
    tail: FloatArray


class SpotJobs(NamedTuple):
    """Weight of a CPU's carbon [per kg], earliest and latest start and length of each job [h], (N,)."""

    weight: FloatArray
    arrival: FloatArray
    latest: FloatArray
    length: FloatArray


@kernel
def tail_at(t: float, signal: Tail) -> tuple[float, float]:
    """Return E(t) and c(t)."""
    final = len(signal.tail) - 1
    i = min(int(t / signal.hours), final)
    rest = max(0.0, (i + 1) * signal.hours - t)
    rate = signal.kg.rate[i]
    after = signal.tail[min(i + 1, final)]
    if signal.hazard == 0.0:
        return rate * rest + after, rate
    kept = np.exp(-signal.hazard * rest)
    return -rate * np.expm1(-signal.hazard * rest) / signal.hazard + kept * after, rate


@kernel
def carbon_until(t: float, signal: Tail) -> float:
    """Return what a CPU emits from the beginning until t [kg]."""
    i = min(int(t / signal.hours), len(signal.tail) - 1)
    return float(signal.kg.until[i] + (t - i * signal.hours) * signal.kg.rate[i])


@kernel
def expected_carbon(s: float, length: float, signal: Tail) -> float:
    """Return what a CPU on spot emits in expectation from start s [kg]."""
    end = s + length
    once = carbon_until(end, signal) - carbon_until(s, signal)
    if signal.hazard == 0.0:
        return float(once)
    survives = np.exp(-signal.hazard * length)
    first, _ = tail_at(end, signal)
    second, _ = tail_at(end + length, signal)
    again = carbon_until(end + length, signal) - carbon_until(end, signal)
    return float(once + first - survives * (second + again))


@kernel
def flat_point(s: float, width: float, length: float, weight: float, wait: float, signal: Tail) -> float:
    """Return where between breakpoints s and s + width the slope rises through 0; s if nowhere."""
    h = signal.hazard
    middle = s + 0.5 * width
    survives = np.exp(-h * length)
    _, now = tail_at(middle, signal)
    _, end = tail_at(middle + length, signal)
    _, twice = tail_at(middle + 2 * length, signal)
    first, _ = tail_at(s + length, signal)
    second, _ = tail_at(s + 2 * length, signal)
    steady = weight * (end - now - survives * (twice - end)) + wait
    growing = weight * ((h * first - end) - survives * (h * second - twice))
    if growing <= 0.0 or steady >= 0.0 or growing + steady >= 0.0:
        return s
    return float(s + min(width, np.log(-steady / growing) / h))


@kernel
def next_edge(s: float, hours: float) -> float:
    """Return the first edge that is more than rounding after s."""
    edge = (int(s / hours) + 1) * hours
    return edge if edge > s + 1e-12 * hours else edge + hours


@kernel
def best_spot_starts(jobs: SpotJobs, wait: float, signal: Tail, start: FloatArray, value: FloatArray) -> None:
    """Fill the start of least weighted expected carbon and wait of each job, and the value there."""
    weight, arrival, latest, length = jobs
    for j in range(len(arrival)):
        a = arrival[j]
        hours = signal.hours
        s, best = a, 1e300
        while True:
            candidate = weight[j] * expected_carbon(s, length[j], signal) + wait * (s - a)
            if candidate < best:
                best, start[j] = candidate, s
            if s >= latest[j]:
                break
            ahead = min(next_edge(s, hours), next_edge(s + length[j], hours) - length[j], latest[j])
            ahead = max(s, min(ahead, next_edge(s + 2 * length[j], hours) - 2 * length[j]))
            if signal.hazard > 0.0:
                inside = flat_point(s, ahead - s, length[j], weight[j], wait, signal)
                candidate = weight[j] * expected_carbon(inside, length[j], signal) + wait * (inside - a)
                if candidate < best:
                    best, start[j] = candidate, inside
            s = ahead if ahead > s else latest[j]
        value[j] = best


@managed_kernel
def emissions(start: FloatArray, length: FloatArray, signal: Tail) -> FloatArray:
    """Return what a CPU emits in expectation in each run [kg]."""
    found = np.empty(len(start))
    for j in range(len(start)):
        found[j] = expected_carbon(start[j], length[j], signal)
    return found
