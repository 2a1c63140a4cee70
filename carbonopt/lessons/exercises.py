"""What is asked in lessons 1 to 3, and what is right: capacity, relaxation and prices."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.errors import InputError, shown
from carbonopt.core.registry import problem_of
from carbonopt.lessons.instances import crowd, one_job
from carbonopt.lessons.lesson import Exercise, Lesson, grade_kg, grade_number, grade_starts, number_of
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.solve import solve

NEAR = 0.98
"""Share of the best bound from prices that a certificate of one's own must reach."""


def places_kg(instance: MospInstance, job: int) -> FloatArray:
    """Return the carbon of each start of a job that ends in time [kg], by slot from its arrival on."""
    kg = instance.carbon.g_per_kwh[0] / 1000 * instance.jobs.demand[job, 0]
    sums = np.concatenate([[0.0], np.cumsum(kg)])
    duration = int(instance.jobs.duration[job])
    every = sums[duration:] - sums[:-duration]
    return np.asarray(every[int(instance.jobs.arrival[job]) :])


def alone_kg(instance: MospInstance) -> float:
    """Return the sum of what each job emits at the least if it has the cluster for itself [kg]."""
    return sum(float(places_kg(instance, job).min()) for job in range(len(instance.jobs)))


@cache
def best_kg(instance: MospInstance) -> float:
    """Return the least carbon of all schedules [kg]."""
    objective = solve(instance, "milp", mip_rel_gap=0.0).objective
    assert objective is not None
    return objective


@cache
def relaxed_kg(instance: MospInstance) -> float:
    """Return the optimum of the linear relaxation [kg]."""
    bound = solve(instance, "lp").bound
    assert bound is not None
    return bound


def _start(instance: MospInstance, answer: Any) -> str:
    return grade_starts(instance, {instance.jobs.name[0]: answer}, alone_kg(instance))


def _least(instance: MospInstance, answer: Any) -> str:
    best = alone_kg(instance)
    hints = {best / 2: "the job draws 2 kW, not 1"}
    return grade_kg(answer, best, hints)


def _with_pauses(instance: MospInstance, answer: Any) -> str:
    first = int(instance.jobs.arrival[0])
    hours = np.sort(instance.carbon.g_per_kwh[0, first:])[: int(instance.jobs.duration[0])]
    best = float(hours.sum()) / 1000 * float(instance.jobs.demand[0, 0])
    return grade_kg(answer, best, {alone_kg(instance): "that is without pauses: the hours need not touch"})


def _alone(instance: MospInstance, answer: Any) -> str:
    hints = {best_kg(instance): "that is what they emit together: here each job has the cluster for itself"}
    return grade_kg(answer, alone_kg(instance), hints)


def _schedule(instance: MospInstance, answer: Any) -> str:
    return grade_starts(instance, answer, best_kg(instance))


def _relaxed(instance: MospInstance, answer: Any) -> str:
    hints = {
        best_kg(instance): "that is the optimum of whole jobs: a relaxation may run parts of a job at several starts",
        alone_kg(instance): "that leaves capacity out: the relaxation keeps it",
    }
    return grade_kg(answer, relaxed_kg(instance), hints)


def _free_prices(instance: MospInstance, answer: Any) -> str:
    hints = {
        0.0: "capacity costs nothing, the jobs still emit",
        best_kg(instance): "that is the optimum, not the bound",
    }
    return grade_kg(answer, alone_kg(instance), hints)


def proven_kg(instance: MospInstance, answer: Any) -> float | str:
    """Return the bound that one price a slot proves [kg]; why it proves none where the answer is no certificate."""
    slots = instance.time.slots
    if not isinstance(answer, list) or len(answer) != slots:
        return f"must be a list of {slots} numbers, one a slot"
    for slot, given in enumerate(answer):
        price = number_of(given)
        if price is None or not 0 <= price <= LARGEST_PRICE:
            return f"the price of slot {slot} is {shown(given)}: must be a number, at least 0 (a GPU is never paid for)"
    certificate = {"kind": "lagrangian", "prices": [[[float(price) for price in answer]]]}
    try:
        bound, _ = problem_of("mosp").role("proven_bound")(instance, certificate, {})
    except InputError as error:
        return error.lines()[0]
    return "proves nothing" if bound is None else float(bound)


def wanted_gpus(instance: MospInstance, prices: list[float]) -> FloatArray:
    """Return how many GPUs jobs want in each slot if each takes its cheapest start at these prices, shape (T,)."""
    wanted = np.zeros(instance.time.slots)
    sums = np.concatenate([[0.0], np.cumsum(prices)])
    for job in range(len(instance.jobs)):
        first, length = int(instance.jobs.arrival[job]), int(instance.jobs.duration[job])
        gpus = float(instance.jobs.demand[job, 0])
        costs = places_kg(instance, job) + gpus * (sums[length:] - sums[:-length])[first:]
        start = first + int(np.argmin(np.round(costs, 9)))
        wanted[start : start + length] += gpus
    return wanted


def _advice(instance: MospInstance, prices: list[float], proven: float) -> str:
    """Return where prices are too high, and where too low, in this order: what is too high is given back in full."""
    wanted, room = wanted_gpus(instance, prices), instance.clusters.capacity[0, 0].tolist()
    unused = [str(slot) for slot, gpus in enumerate(wanted) if gpus < room[slot] and prices[slot] > 0]
    crowded = [str(slot) for slot, gpus in enumerate(wanted) if gpus > room[slot]]
    advice = []
    if unused:
        advice.append(f"prices are too high where nobody needs the room (slots {', '.join(unused)})")
    if crowded and (not unused or proven >= alone_kg(instance)):
        advice.append(f"raise prices where jobs crowd (slots {', '.join(crowded)})")
    return "; ".join(advice) or "try smaller steps"


def _certificate(instance: MospInstance, answer: Any) -> str:
    proven = proven_kg(instance, answer)
    if isinstance(proven, str):
        return proven
    goal = NEAR * relaxed_kg(instance)
    if proven >= goal:
        return ""
    prices = [float(price) for price in answer]
    in_kg = proven_kg(instance, [price / 1000 for price in prices])
    if not isinstance(in_kg, str) and in_kg >= goal:
        return "prices are in kg per GPU-hour, not in g"
    return f"proves {proven:.4g} kg, must prove {goal:.4g} kg: {_advice(instance, prices, proven)}"


def _gap(instance: MospInstance, answer: Any, prices: Any) -> str:
    best, bound = best_kg(instance), relaxed_kg(instance)
    right = 100 * (best - bound) / best
    hints = {
        right / 100: "the answer is in per cent",
        100 * (best - bound) / bound: "the gap is relative to the schedule, not to the bound",
    }
    own = proven_kg(instance, prices)
    if not isinstance(own, str):
        told = 'the best bound is that of the relaxation, `co.solve(instance, "lp").bound`'
        hints.setdefault(100 * (best - own) / best, f"that is the gap of your own prices: {told}")
    return grade_number(answer, right, hints)


FIRST = (
    Lesson(
        1,
        "One job alone is a minimum",
        one_job,
        (
            Exercise("start", "Slot in which the job should start.", _start),
            Exercise("kg", "Carbon of that run [kg].", _least),
            Exercise("kg_with_pauses", "Least carbon if the job may pause between its hours [kg].", _with_pauses),
        ),
    ),
    Lesson(
        2,
        "Capacity couples jobs",
        crowd,
        (
            Exercise("alone_kg", "Sum of the least carbon of each job alone [kg].", _alone),
            Exercise("starts", "A schedule of least carbon, as slots by job.", _schedule),
            Exercise("relaxed_kg", "Optimum of the linear relaxation [kg].", _relaxed),
        ),
    ),
    Lesson(
        3,
        "Prices, weak duality, and a certificate of your own",
        crowd,
        (
            Exercise("bound_at_zero_kg", "What is proven if every slot is free [kg].", _free_prices),
            Exercise("prices", "One price a slot [kg per GPU-hour] that proves 98 % of the relaxation.", _certificate),
            Exercise(
                "gap_percent",
                "Gap between the best schedule and the best bound that any prices prove [%].",
                _gap,
                beside=("prices",),
            ),
        ),
    ),
)
"""Lessons 1 to 3."""
