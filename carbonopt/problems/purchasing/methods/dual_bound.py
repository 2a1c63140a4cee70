"""Bounds from the duals of a program, recomputed so that they hold whatever the solver's tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_array

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import InputError
from carbonopt.milp.program import Program
from carbonopt.problems.purchasing.data.instance import ROUNDING, PurchasingInstance
from carbonopt.problems.purchasing.formulation.limits import limit_scales, limit_values
from carbonopt.problems.purchasing.verify.certificate import proven_bound


def dual_bound(instance: PurchasingInstance, program: Program, row_dual: FloatArray) -> tuple[float, dict[str, Any]]:
    """Return a lower bound on every schedule from any duals of the program's rows, and its certificate.

    Duals with the wrong sign are set to 0, and prices of the reserved CPUs to at most what on-demand CPUs cost; those
    of the jobs' rows are raised as far as no run becomes worth more than its cost. What is then left of negative
    reduced costs is paid at the columns' upper bounds.

    Parameters
    ----------
    instance, program
        The instance, and its program or that one's relaxation.
    row_dual
        Change of the optimum per unit of each row's right-hand side.
    """
    duals = np.minimum(row_dual, 0.0)
    mu = _multipliers(instance, program, duals)
    if "load" in program.constraints:
        rows = program.block("load").slice
        cap = (instance.weights.cost_usd + mu.get("cost_usd", 0.0)) * instance.prices.on_demand_usd_per_cpu_hour
        duals[rows] = np.maximum(duals[rows], -np.inf if instance.model == "no-split" else -cap)
    assign = program.block("assign").slice
    duals[assign] = row_dual[assign]
    arrays = program.arrays()
    shape = (program.rows, program.columns)
    matrix = csc_array((arrays.values, arrays.rows, arrays.starts), shape=shape)
    if instance.model != "suspend-resume":
        duals[assign] = 0.0
        duals[assign] = _least(program, matrix, arrays.cost - matrix.T @ duals)
    reduced = arrays.cost - matrix.T @ duals
    negative = np.where(reduced < -1e-13 * np.abs(arrays.cost), reduced, 0.0)
    sides = np.where(duals > 0, arrays.row_lower, arrays.row_upper)
    finite = np.isfinite(arrays.upper)
    value = float(duals[duals != 0] @ sides[duals != 0]) + float(negative[finite] @ arrays.upper[finite])
    value -= sum(mu[name] * ROUNDING * _size(instance, name) for name in mu)
    value = max(0.0, value)  # no schedule costs less than nothing
    prices = np.zeros(instance.time.slots)
    if "load" in program.constraints:
        prices = -duals[program.block("load").slice]
    certificate = {"kind": "lagrangian", "grid_slots": 1, "prices": prices, "multipliers": mu or None, "bound": value}
    return value, certificate


def stated(
    instance: PurchasingInstance, value: float, certificate: dict[str, Any]
) -> tuple[float | None, dict[str, Any] | None]:
    """Return what may be claimed: the bound that the certificate proves in safe arithmetic, if that is less.

    None and None where prices are larger than a certificate may hold.
    """
    try:
        proven, _ = proven_bound(instance, certificate, {})
    except InputError:
        return None, None
    claimed = value if proven is None else min(value, proven)
    return claimed, {**certificate, "bound": claimed}


def _multipliers(instance: PurchasingInstance, program: Program, duals: FloatArray) -> dict[str, float]:
    """Return the multipliers of the limits in their own units."""
    if not instance.limits:
        return {}
    given = -duals[program.block("limit").slice]
    scales = limit_scales(instance)
    return {name: float(dual / scale) for dual, (name, scale) in zip(given, scales.items(), strict=True)}


def _size(instance: PurchasingInstance, name: str) -> float:
    """Return what the checker's allowance of a limit is relative to."""
    value = limit_values(instance)[name]
    if name == "mean_wait_hours":
        return value + len(instance.jobs)
    return value + (instance.prepaid_usd(instance.reserved_cpus or 0) if name == "cost_usd" else 0.0)


def _least(program: Program, matrix: csc_array, reduced: FloatArray) -> FloatArray:
    """Return the least reduced cost among each job's choices."""
    x = program.block("x")
    assign = program.block("assign")
    least = np.full(assign.size, np.inf)
    columns = matrix[:, x.slice].tocoo()
    mine = (columns.row >= assign.start) & (columns.row < assign.start + assign.size)
    np.minimum.at(least, columns.row[mine] - assign.start, reduced[x.start + columns.col[mine]])
    return least
