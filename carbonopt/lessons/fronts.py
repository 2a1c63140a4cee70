"""What is asked in lesson 9, and what is right: Pareto fronts, and the price of waiting in carbon."""

from __future__ import annotations

from itertools import product
from typing import Any

from carbonopt.check import check
from carbonopt.lessons.instances import two_waits
from carbonopt.lessons.lesson import Exercise, Lesson, grade_kg, number_of
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

Point = tuple[float, float]
"""Hours that the jobs wait together, and carbon [kg]."""


def all_points(instance: PurchasingInstance) -> dict[tuple[int, ...], Point]:
    """Return waiting and carbon of every schedule that starts at whole hours, by the starts of the jobs."""
    jobs = instance.jobs
    hours = [int(length) for length in jobs.length_hours]
    arrivals = [int(arrival) for arrival in jobs.arrival_hours]
    waits = int(instance.queues[0].max_wait_hours)
    starts = [
        range(first, min(first + waits, instance.time.slots - length) + 1)
        for first, length in zip(arrivals, hours, strict=True)
    ]
    kg = instance.kg_per_cpu_hour
    return {
        chosen: (
            float(sum(chosen) - sum(arrivals)),
            float(sum(kg[start : start + length].sum() for start, length in zip(chosen, hours, strict=True))),
        )
        for chosen in product(*starts)
    }


def front(points: dict[tuple[int, ...], Point]) -> dict[tuple[int, ...], Point]:
    """Return the points that no other one is as good as in both quantities, by increasing waiting."""
    best = float("inf")
    kept = {}
    for starts, (wait, kg) in sorted(points.items(), key=lambda item: item[1]):
        if kg < best - 1e-9:
            best = kg
            kept[starts] = (wait, kg)
    return kept


def supported(points: dict[tuple[int, ...], Point]) -> set[tuple[int, ...]]:
    """Return those points of the front that are the cheapest for some price of waiting."""
    corners = front(points)
    found = set()
    for starts, (wait, kg) in corners.items():
        sooner = [(other_kg - kg) / (wait - other) for other, other_kg in corners.values() if other < wait]
        later = [(kg - other_kg) / (other - wait) for other, other_kg in corners.values() if other > wait]
        if min(sooner, default=float("inf")) >= max(later, default=0.0):
            found.add(starts)
    return found


def _within(instance: PurchasingInstance, answer: Any) -> str:
    corners = front(all_points(instance)).values()
    right = min(kg for wait, kg in corners if wait <= 1)
    hints = {
        min(kg for _, kg in corners): "that takes more than an hour of waiting",
        max(kg for _, kg in corners): "that is without waiting",
    }
    return grade_kg(answer, right, hints)


def _price(instance: PurchasingInstance, answer: Any) -> str:
    corners = list(front(all_points(instance)).values())
    at_once = corners[0][1]
    right = max((at_once - kg) / wait for wait, kg in corners[1:])
    hints = {
        corners[0][1] - corners[1][1]: "that is the saving of the first hour: another schedule saves more an hour",
        (at_once - corners[-1][1])
        / corners[-1][0]: "that is the mean over all hours of waiting: take the best quotient",
    }
    return grade_kg(answer, right, hints)


def _unsupported(instance: PurchasingInstance, answer: Any) -> str:
    names = instance.jobs.name
    if not isinstance(answer, dict) or sorted(answer) != sorted(names):
        return f"must name each of the jobs {', '.join(names)} once, with the hour of its start"
    starts = [number_of(answer[name]) for name in names]
    if any(start is None or start != int(start) for start in starts):
        return "starts must be whole numbers: hours are counted from 0"
    chosen = tuple(int(start or 0) for start in starts)
    ends = [start + length for start, length in zip(chosen, instance.jobs.length_hours, strict=True)]
    table = {"job": list(names), "start_hours": list(chosen), "end_hours": ends, "option": ["shared"] * len(names)}
    report = check(instance, table)
    if report.violations:
        return str(report.violations[0])
    points = all_points(instance)
    if chosen not in front(points):
        return "is a schedule, but another one is as good in both quantities and better in one"
    if chosen in supported(points):
        return "is on the front, but some price of waiting finds it"
    return ""


LESSON = Lesson(
    9,
    "Pareto fronts and shadow prices",
    two_waits,
    (
        Exercise("kg_within_an_hour", "Least carbon if the jobs wait one hour together [kg].", _within),
        Exercise("price_kg_per_hour", "Price of waiting above which nobody waits [kg per hour].", _price),
        Exercise("unsupported", "Starts by job of a schedule on the front that no price finds.", _unsupported),
    ),
)
