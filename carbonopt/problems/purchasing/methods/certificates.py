"""Certificates from the prices of `price` or the duals of a program, and what the checker proves of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.errors import InputError
from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.milp.elastic import add_shortage
from carbonopt.milp.program import Program
from carbonopt.problems.purchasing.data.instance import PurchasingInstance, Weights
from carbonopt.problems.purchasing.formulation.form import form_of
from carbonopt.problems.purchasing.formulation.limits import limit_scales
from carbonopt.problems.purchasing.verify.certificate import proven_bound

FACTORS = 10.0 ** np.arange(0, 28, 3)
"""By which prices of an excess are tried to be enlarged, until they bound the objective by more than its ceiling."""


def certificate_of(instance: PurchasingInstance, program: Program, row_dual: FloatArray) -> dict[str, Any]:
    """Return the prices and multipliers that any duals of the program's rows stand for.

    Duals with the wrong sign are set to 0, and prices of reserved CPUs to at most what on-demand CPUs cost.

    Parameters
    ----------
    instance, program
        The instance, and its program or that one's relaxation.
    row_dual
        Change of the optimum per unit of each row's right-hand side.
    """
    prices_of_rows = np.maximum(-row_dual, 0.0)
    multipliers: dict[str, float] = {}
    if instance.limits:
        given = prices_of_rows[program.block("limit").slice]
        scales = limit_scales(instance)
        multipliers = {name: float(mu / scale) for mu, (name, scale) in zip(given, scales.items(), strict=True)}
    prices = np.zeros(instance.time.slots)
    if "load" in program.constraints:
        cost = instance.weights.cost_usd + multipliers.get("cost_usd", 0.0)
        if instance.model == "no-split":
            cap = np.inf
        else:
            cap = cost * instance.prices.on_demand_usd_per_cpu_hour
        prices = np.minimum(prices_of_rows[program.block("load").slice], cap)
    return {"kind": "lagrangian", "grid_slots": 1, "prices": prices, "multipliers": multipliers or None}


def stated(instance: PurchasingInstance, certificate: dict[str, Any]) -> tuple[float | None, dict[str, Any] | None]:
    """Return the bound that a certificate proves, and the certificate with it.

    None and None where that is not a number: where prices are larger than a certificate may hold.
    """
    try:
        proven, _ = proven_bound(instance, certificate, {})
    except InputError:
        return None, None
    if proven is None or np.isinf(proven):
        return None, None
    return proven, {**certificate, "bound": proven}


def infeasible(instance: PurchasingInstance, options: Options, info: dict[str, Any]) -> Outcome:
    """Return that the limits cannot be kept, as HiGHS says, with a certificate where the LP relaxation proves it.

    The relaxation whose limits may be exceeded has the least excess as its optimum. Its duals are prices and
    multipliers that bound this excess from below. All of them times a large number bound the objective by more than
    any schedule costs.
    """
    excess = instance.with_objective(Weights(0.0, 0.0, 0.0), instance.limits)
    program = form_of(excess, integer=False).program
    add_shortage(program, program.block("limit"))
    result = highs.solve(program, replace(options, callback=None))
    if result.row_dual is not None:
        certificate = proof_of_infeasibility(instance, certificate_of(excess, program, result.row_dual))
        if certificate is not None:
            return Outcome(Status.INFEASIBLE, certificate=certificate, info=info)
    return Outcome(Status.INFEASIBLE, info=info)


def proof_of_infeasibility(instance: PurchasingInstance, certificate: dict[str, Any]) -> dict[str, Any] | None:
    """Return a certificate with all prices and multipliers so large that they prove that the limits cannot be kept.

    None where no factor does.
    """
    prices = certificate["prices"]
    multipliers = certificate["multipliers"] or {}
    rounded = certificate.get("rounded") or []
    all_prices = [prices, *(entry["prices"] for entry in rounded)]
    largest = max([*(float(part.max(initial=0.0)) for part in all_prices), *multipliers.values()])
    if not 0 < largest < np.inf:
        return None
    for factor in np.minimum(FACTORS, 0.99 * LARGEST_PRICE / largest):
        enlarged = {name: float(factor * value) for name, value in multipliers.items()}
        tried = {**certificate, "prices": factor * prices, "multipliers": enlarged or None, "bound": None}
        if rounded:
            tried["rounded"] = [{**entry, "prices": factor * entry["prices"]} for entry in rounded]
        if proven_bound(instance, tried, {})[0] == np.inf:
            return tried
    return None
