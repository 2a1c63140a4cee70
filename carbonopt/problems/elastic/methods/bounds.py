"""The fluid bound at given slot prices, and the certificates: of a bound, and that no schedule exists."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.algorithms.kernel import loops
from carbonopt.core.arrays import FloatArray
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.formulation.objective import all_units
from carbonopt.problems.elastic.methods.price.fluid.band import FluidProgram
from carbonopt.problems.elastic.methods.price.fluid.pricing import Pricer

STEPS_PER_UNIT = 10.0
"""Rough number of loop steps for each unit in each slot of a window."""


def certified_bound(instance: ElasticInstance, prices: FloatArray) -> tuple[float, dict[str, Any]]:
    """Return the Lagrangian bound at slot prices [g per server and slot], shape (T,), and its certificate.

    It is the bound of the fluid model, and so of the integer one.
    """
    program = FluidProgram.of(instance)
    pricer = Pricer(program)
    with loops(STEPS_PER_UNIT * program.size):
        bound, _ = pricer(prices)
    return bound, lagrangian(prices, pricer.mu, bound)


def lagrangian(prices: FloatArray, mu: FloatArray, bound: float) -> dict[str, Any]:
    """Return the certificate of a Lagrangian bound: a dual solution of the LP.

    Parameters
    ----------
    prices
        Of the slots [g per server and slot], shape (T,).
    mu
        Of the jobs' work [g per slot of work], shape (N,).
    bound
        What they prove [g].
    """
    return {"kind": "lagrangian", "prices": prices, "work_prices": mu, "bound": bound}


def shortage(prices: FloatArray, mu: FloatArray, least: float) -> dict[str, Any]:
    """Return the certificate that at least `least` slots of work cannot be done: no schedule exists."""
    return {"kind": "shortage", "prices": prices, "work_prices": np.minimum(mu, 1.0), "shortage_slots": least}


def shortage_of_plans(prices: FloatArray, least: float) -> dict[str, Any]:
    """Return the certificate that whole plans cost at least `least` more than all servers do: no schedule exists."""
    return {"kind": "shortage-plans", "prices": prices, "shortage": least}


def unit_rounding(instance: ElasticInstance) -> float:
    """Return by how much the costs of any point of the program may be wrong for rounding [g]."""
    job, slot, unit = all_units(instance)
    cost = instance.intensity[slot] * instance.units.kwh[instance.profile_of_job[job], unit]
    return float(4 * np.finfo(float).eps * cost.sum())
