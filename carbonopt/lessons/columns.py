"""What is asked in lesson 6, and what is right: column generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from carbonopt.core.arrays import FloatArray
from carbonopt.lessons.exercises import alone_kg, best_kg, places_kg, proven_kg, relaxed_kg
from carbonopt.lessons.instances import crowd
from carbonopt.lessons.lesson import SAME, Exercise, Lesson, grade_kg
from carbonopt.problems.mosp.data.instance import MospInstance

Column = tuple[int, int]
"""A job, by its position, and the slot of its start."""
PRICES = (0.0, 0.3, 0.0, 0.0, 0.1, 0.2, 0.2, 0.0)
"""Prices of the exercises [kg per GPU-hour], by slot."""
VALUE_OF_B = 1.2
"""Dual value of the row of job b in the exercises [kg]."""
MOST_COLUMNS = 9
"""Columns that an answer may have."""


@dataclass(frozen=True)
class Restricted:
    """An optimum of the linear program that has only some of the columns.

    Parameters
    ----------
    kg
        Its value [kg].
    shares
        Of each column, between 0 and 1.
    values
        Dual value of each job's row [kg].
    prices
        Price of each slot [kg per GPU-hour].
    """

    kg: float
    shares: FloatArray
    values: FloatArray
    prices: FloatArray


def column_kg(instance: MospInstance, column: Column) -> float:
    """Return the carbon of a column [kg]."""
    job, start = column
    return float(places_kg(instance, job)[start - int(instance.jobs.arrival[job])])


def column_load(instance: MospInstance, column: Column) -> FloatArray:
    """Return the GPUs of a column in each slot, shape (T,)."""
    job, start = column
    load = np.zeros(instance.time.slots)
    load[start : start + int(instance.jobs.duration[job])] = instance.jobs.demand[job, 0]
    return load


def all_columns(instance: MospInstance) -> list[Column]:
    """Return every start of every job that ends in time."""
    return [
        (job, int(instance.jobs.arrival[job]) + start)
        for job in range(len(instance.jobs))
        for start in range(len(places_kg(instance, job)))
    ]


def restricted(instance: MospInstance, columns: Sequence[Column]) -> Restricted | None:
    """Solve the linear program of some columns; None where they hold no schedule, not even one of shares."""
    jobs = len(instance.jobs)
    once = np.array([[float(job == row) for job, _ in columns] for row in range(jobs)])
    load = np.column_stack([column_load(instance, column) for column in columns])
    gpus = np.broadcast_to(instance.clusters.capacity[0, 0], (instance.time.slots,))
    kg = [column_kg(instance, column) for column in columns]
    found = linprog(kg, A_ub=load, b_ub=gpus, A_eq=once, b_eq=np.ones(jobs), method="highs")
    if found.fun is None or found.x is None:
        return None
    return Restricted(float(found.fun), found.x, found.eqlin.marginals, -found.ineqlin.marginals)


def reduced_kg(instance: MospInstance, column: Column, values: Sequence[float], prices: Sequence[float]) -> float:
    """Return the reduced cost of a column [kg]: its carbon and what it pays for GPUs, less its job's value."""
    return column_kg(instance, column) + float(column_load(instance, column) @ np.asarray(prices)) - values[column[0]]


def _reduced(instance: MospInstance, answer: Any) -> str:
    column = (1, 1)
    right = reduced_kg(instance, column, (0.0, VALUE_OF_B, 0.0, 0.0), PRICES)
    without = right + VALUE_OF_B
    hints = {
        without: "take the value of job b away",
        column_kg(instance, column) - VALUE_OF_B: "the job pays for its GPUs too",
        -right: "the sign: carbon and prices, less the value",
    }
    return grade_kg(answer, right, hints)


def _bound(instance: MospInstance, answer: Any) -> str:
    right = float(proven_kg(instance, list(PRICES)))
    hints = {
        alone_kg(instance): "that is the bound at prices of zero",
        right + 2 * sum(PRICES): "give back what two GPUs would earn in all hours",
    }
    return grade_kg(answer, right, hints)


def _columns(instance: MospInstance, answer: Any) -> str:
    names = list(instance.jobs.name)
    known = {(names[job], start): (job, start) for job, start in all_columns(instance)}
    if not isinstance(answer, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in answer):
        return 'must be a list of pairs, such as [["a", 3], ["b", 4]]'
    chosen = []
    for name, start in answer:
        if not isinstance(name, str) or not isinstance(start, int) or (name, start) not in known:
            return f"has [{name!r}, {start!r}], which is no job with a start that ends in time"
        chosen.append(known[name, start])
    if len(chosen) > MOST_COLUMNS:
        return f"has {len(chosen)} columns, may have {MOST_COLUMNS}: leave out those with a share of zero"
    found = restricted(instance, chosen) if chosen else None
    if found is None:
        return "holds no schedule, not even one of shares: begin with the columns of a schedule"
    goal = relaxed_kg(instance)
    if found.kg > goal * (1 + SAME):
        return f"has a value of {found.kg:.4g} kg, must have {goal:.4g} kg: add a column with a negative reduced cost"
    assert goal <= best_kg(instance)
    return ""


LESSON = Lesson(
    6,
    "Column generation",
    crowd,
    (
        Exercise("reduced_cost_kg", "Reduced cost of job b started in slot 1, at the page's prices [kg].", _reduced),
        Exercise("bound_kg", "What the page's prices prove [kg].", _bound),
        Exercise("columns", "At most 9 columns, as [job, slot], with the value of the whole program.", _columns),
    ),
)
