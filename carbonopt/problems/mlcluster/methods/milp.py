"""Method `lp` of mlcluster, with HiGHS, the programs that are exported, and which method `auto` stands for."""

from __future__ import annotations

import warnings

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.program import Program
from carbonopt.milp.reading import Reading
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.grid import build_grid
from carbonopt.problems.mlcluster.formulation.objective import CellCoefficients
from carbonopt.problems.mlcluster.formulation.program import build, estimate_size
from carbonopt.problems.mlcluster.methods.price.bound import Proof, cells_of
from carbonopt.problems.mlcluster.methods.price.dual import Dual
from carbonopt.problems.mlcluster.methods.price.incumbent import Incumbent
from carbonopt.problems.mlcluster.methods.price.method import (
    COMPILE_SECONDS,
    PRICE_KERNELS,
    price,
    price_steps,
    search_schedule,
)
from carbonopt.problems.mlcluster.methods.price.parameters import PriceParameters

MOST_COLUMNS = 1_000_000
"""A program of more columns has cells as long as slots: 791 jobs at 4 cells a slot, 2 million columns, had no result
after 240 s."""


def choose(instance: MlClusterInstance) -> str:  # noqa: ARG001
    """Return the method that `auto` stands for: time is continuous, and no program is exact."""
    return "price"


def formulate(instance: MlClusterInstance, form: str) -> Program:
    """Return the program that `lp` solves, or on a grid of whole slots, `milp`."""
    if form not in ("milp", "lp"):
        raise UnsupportedError(f"unknown form {form!r}: must be 'milp' or 'lp'")
    if form == "lp":
        relaxed = build(instance)
        relaxed.program.reading = Reading(constant=relaxed.constant)
        return relaxed.program
    grid = build_grid(instance)
    grid.program.reading = Reading(
        lambda values: (grid.schedule(values, instance), {}), constant=grid.constant, bounds_instance=False
    )
    return grid.program


def lp(instance: MlClusterInstance, options: Options) -> Outcome:
    """Solve the whole LP with HiGHS; its duals are prices, which prove the bound and lead to schedules."""
    params = options.parameters(PriceParameters).bound
    with loops(price_steps(instance, params), PRICE_KERNELS, COMPILE_SECONDS):
        return _lp(instance, options)


def _lp(instance: MlClusterInstance, options: Options) -> Outcome:
    if not len(instance.jobs):
        return price(instance, options)
    cells = cells_of(instance, options.parameters(PriceParameters).bound)
    if estimate_size(instance, cells)[0] > MOST_COLUMNS:
        cells = 1
    form = build(instance, cells, whole_work=True)
    incumbent = Incumbent.early(instance, options)
    with warnings.catch_warnings():  # of late shares of short jobs: no unit helps, and prices are proven without HiGHS
        warnings.filterwarnings("ignore", message=".*coefficients span")
        result = highs.solve(form.program, options)
    if result.status is Status.INFEASIBLE:
        status = Status.UNKNOWN if incumbent.schedule is None else Status.FEASIBLE
        return Outcome(status, incumbent.schedule, info=result.info)
    if result.row_dual is None or result.status is not Status.OPTIMAL:  # duals on the way may be anything
        return Outcome(result.status, incumbent.schedule, info=result.info)
    program = CellCoefficients(instance, cells)
    dual = Dual(program)
    prices = np.maximum(0.0, -result.row_dual[form.capacity.slice]) / program.minutes
    budget_price = 0.0
    if form.budget is not None:
        budget_price = max(0.0, -float(result.row_dual[form.budget.slice][0]))
    bound = max(0.0, dual.hard(dual.joined(prices, budget_price))[0])
    options.report(bound=bound)
    optimum = None if result.objective is None else result.objective + form.constant
    info = {**result.info, "lp_optimum": optimum, "cells": cells}
    proof = Proof(program, prices, budget_price, dual.mu.copy(), bound, info)
    if result.values is not None:
        incumbent.offer(form.schedule(result.values, instance, cells))
    return search_schedule(instance, options, proof, incumbent)
