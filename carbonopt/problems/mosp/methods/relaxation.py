"""The LP relaxation, and the bound that its duals prove."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, placement_value, with_priced_limits
from carbonopt.problems.mosp.formulation.program import (
    MospProgram,
    build,
)
from carbonopt.problems.mosp.methods.bounds import FLOAT_ERROR, free_bound, lagrangian_bound, tighter, typical_cost

INTERIOR_POINT_COLUMNS = 100_000
"""LPs above this size go to the interior point: at 343,000 columns it takes a third of simplex's time."""


def relaxation(
    instance: MospInstance, value: PlacementValue, options: Options
) -> tuple[Outcome, MospProgram, FloatArray | None]:
    """Solve the LP; its bound is recomputed from the duals, so that it stands without the solver."""
    form = build(instance, value, integer=False)
    solver = "choose"
    if form.program.columns > INTERIOR_POINT_COLUMNS:
        solver = "ipm"
    cost = typical_cost(instance, value)
    result = highs.solve(form.program, options, lp_solver=solver, typical_cost=cost)
    if result.status is Status.INFEASIBLE:
        return infeasible(form, options, result.info), form, None
    bound = free_bound(instance, value)
    prices: dict[str, Any] = {"prices": np.zeros_like(instance.clusters.capacity)}
    if result.row_dual is not None:
        duals = _duals(form, -value.sign, result.row_dual)
        priced = _priced(instance, value, duals, limits_priced(form, result.row_dual))
        if tighter(value.sense, bound, priced) == priced:
            bound = priced
            prices = duals | limits_priced(form, result.row_dual)
    certificate: dict[str, Any] | None = None
    if bound is not None:
        listed = {
            name: numbers.tolist() if isinstance(numbers, np.ndarray) else numbers for name, numbers in prices.items()
        }
        certificate = {"kind": "lagrangian", **listed, "bound": bound}
    info = {**result.info, "lp_objective": result.objective}
    x = result.values if result.status is Status.OPTIMAL else None
    schedule = None
    if x is not None and bool((np.abs(x - np.round(x)) < 1e-9).all()):
        schedule = form.schedule(x, instance)
    return Outcome(result.status, schedule, bound, certificate, info), form, x


def limits_priced(form: MospProgram, row_dual: FloatArray) -> dict[str, dict[str, float]]:
    """Return ``limit_prices`` by quantity, nothing where none is limited; limits are of minimisations alone."""
    rows = {name: block for name, block in form.program.constraints.items() if name.startswith("limit_")}
    prices = {name.removeprefix("limit_"): max(0.0, -float(row_dual[block.start])) for name, block in rows.items()}
    return {"limit_prices": prices} if prices else {}


def _priced(
    instance: MospInstance, value: PlacementValue, duals: dict[str, FloatArray], limits: dict[str, dict[str, float]]
) -> float | None:
    if not limits:
        return lagrangian_bound(instance, value, **duals)
    free, paid = with_priced_limits(instance, limits["limit_prices"])
    bound = lagrangian_bound(free, placement_value(free), **duals)
    return None if bound is None else bound - paid - FLOAT_ERROR * (abs(bound) + abs(paid))


def infeasible(form: MospProgram, options: Options, info: dict[str, Any]) -> Outcome:
    """Return that HiGHS found no schedule, with prices that prove it where the relaxation does."""
    multipliers = highs.farkas_multipliers(form.program, options)
    if multipliers is None:
        return Outcome(Status.INFEASIBLE, info=info)
    if limits_priced(form, multipliers):  # the proof is of capacity and starts alone
        return Outcome(Status.INFEASIBLE, info=info)
    return Outcome(Status.INFEASIBLE, certificate={"kind": "farkas", **_duals(form, -1.0, multipliers)}, info=info)


def _duals(form: MospProgram, sign: float, row_dual: FloatArray) -> dict[str, FloatArray]:
    """Return prices of capacity, shape (M, R, T), and where starts are limited, of these, shape (M, T)."""
    rows = {"prices": form.capacity}
    if "starts" in form.program.constraints:
        rows["start_prices"] = form.program.constraints["starts"]
    return {name: np.maximum(0.0, sign * row_dual[block.slice]).reshape(block.shape) for name, block in rows.items()}
