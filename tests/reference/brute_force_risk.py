"""Tiny mosp instances under several signals: the least risk over every schedule, one after the other.

Plain Python on the instance file's own dictionary, beside the enumeration of brute_force.py.
"""

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

from conftest import load_module

single = load_module(Path(__file__).with_name("brute_force.py"))

Placed = tuple[tuple[int, int, int] | None, ...]


def schedules(data: dict[str, Any]) -> Iterator[Placed]:
    """Every schedule that keeps the capacities: for each job a placement (job, cluster, start), or None."""
    count = len(data["jobs"]["name"])
    price = data["objective"]["rejection_price"]
    choices = [
        [(i, j, t) for _, j, t in single._placements(data, i, None)] + ([] if price is None else [None])
        for i in range(count)
    ]
    for chosen in product(*choices):
        free = single._capacity(data)
        if all(_placed(data, free, place) for place in chosen):
            yield chosen


def _placed(data: dict[str, Any], free: dict[str, list[list[float]]], place: tuple[int, int, int] | None) -> bool:
    if place is None:
        return True
    if not single._fits(data, free, *place):
        return False
    single._take(data, free, *place, +1)
    return True


def cost(data: dict[str, Any], chosen: Placed, signal: list[list[float]]) -> float:
    """Objective of a schedule under a signal, zone x slot [g/kWh]."""
    under = {**data, "carbon": {**data["carbon"], "g_per_kwh": signal}}
    price = data["objective"]["rejection_price"]
    return sum(price if place is None else single._cost(under, *place) for place in chosen)


def tail(values: list[float], level: float) -> float:
    """Mean of the worst 1 - level of equally likely values."""
    left = 1 - level
    total = 0.0
    for value in sorted(values, reverse=True):
        share = min(left, 1 / len(values))
        total += share * value
        left -= share
    return total / (1 - level)


def least_tail(data: dict[str, Any], signals: list[list[list[float]]], level: float) -> float | None:
    """Least CVaR; None if there is no schedule."""
    return _least(data, lambda chosen: tail([cost(data, chosen, signal) for signal in signals], level))


def least_budget(data: dict[str, Any], signals: list[list[list[float]]], pairs: int) -> float | None:
    """Least worst case where at most `pairs` (zone, slot) rise from the mean to the largest signal."""
    zones, slots = len(signals[0]), len(signals[0][0])
    mean = [[sum(s[z][t] for s in signals) / len(signals) for t in range(slots)] for z in range(zones)]
    high = [[max(s[z][t] for s in signals) for t in range(slots)] for z in range(zones)]

    def worst(chosen: Placed) -> float:
        base = cost(data, chosen, mean)
        rises = []
        for z in range(zones):
            for t in range(slots):
                risen = [list(row) for row in mean]
                risen[z][t] = high[z][t]
                rises.append(cost(data, chosen, risen) - base)
        return base + sum(sorted(rises, reverse=True)[:pairs])

    return _least(data, worst)


def least_with_review(
    data: dict[str, Any], signals: list[list[list[float]]], review: int, level: float
) -> float | None:
    """Least CVaR where starts before slot `review` are the same in all scenarios, and later ones chosen in each."""
    best: dict[Placed, list[float]] = {}
    for chosen in schedules(data):
        now = tuple(place for place in chosen if place is not None and place[2] < review)
        costs = [cost(data, chosen, signal) for signal in signals]
        best[now] = [min(pair) for pair in zip(costs, best.get(now, costs), strict=True)]
    return min((tail(costs, level) for costs in best.values()), default=None)


def _least(data: dict[str, Any], value: Callable[[Placed], float]) -> float | None:
    return min((value(chosen) for chosen in schedules(data)), default=None)
