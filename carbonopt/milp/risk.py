"""Measures of risk as linear rows of any program whose columns have a cost in each scenario.

CVaR_alpha (Rockafellar and Uryasev, Journal of Risk 2, 2000):

    min   ... + eta + sum_s min(1, p_s / (1 - alpha)) excess_s
    tail        c^s x - eta <= excess_s                each s

Budget of Gamma pairs of a zone and a slot (Bertsimas and Sim, Operations Research 52, 2004), the dual of
max {sum_zt r_zt x u_zt : sum u_zt <= Gamma, 0 <= u_zt <= 1}:

    min   ... + Gamma theta + sum_zt protection_zt
    surplus     r_zt x - theta <= protection_zt        each z, t

eta, excess, theta and protection are counted in units of the largest entry of their rows, so that a solver's absolute
tolerances mean as much for a gram as for a ton. No plan has a cost below 0.
"""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.program import Program

AXES = ("zone", "slot")


def add_tail(program: Program, column: IntArray, costs: FloatArray, probability: FloatArray, level: float) -> None:
    """Add CVaR.

    Parameters
    ----------
    program
        To be minimised.
    column
        Positions, shape (columns,), or (S, columns) where they differ from scenario to scenario.
    costs
        Of each column in each scenario, shape (S, columns).
    probability
        Of each scenario, shape (S,).
    level
        alpha.
    """
    unit = _unit(costs)
    eta = program.add_variables("eta", 1, cost=unit)
    # the dual's weights add up to 1: a share above 1 allows no more than 1, and is a coefficient without use
    share = np.minimum(1.0, probability / (1 - level))
    excess = program.add_variables("excess", len(costs), cost=unit * share, axes=("scenario",))
    tail = program.add_rows("tail", len(costs), upper=0.0, axes=("scenario",))
    scenario, place = np.nonzero(costs)
    program.add_entries(
        tail.start + scenario, np.broadcast_to(column, costs.shape)[scenario, place], costs[scenario, place] / unit
    )
    program.add_entries(tail.index, eta.start, -1.0)
    program.add_entries(tail.index, excess.index, -1.0)


def add_budget(
    program: Program, column: IntArray, pair: IntArray, cost: FloatArray, shape: tuple[int, ...], pairs: float
) -> None:
    """Add the largest rise of `pairs` pairs of a zone and a slot.

    Parameters
    ----------
    program
        To be minimised.
    column, pair, cost
        What a column adds at a pair, which is counted slot by slot and zone by zone; one entry each.
    shape
        Zones and slots.
    pairs
        Gamma.
    """
    unit = _unit(cost)
    most = min(pairs, float(np.prod(shape)))  # no more pairs can rise than there are
    theta = program.add_variables("theta", 1, cost=most * unit)
    protection = program.add_variables("protection", shape, cost=unit, axes=AXES)
    surplus = program.add_rows("surplus", shape, upper=0.0, axes=AXES)
    program.add_entries(surplus.start + pair, column, cost / unit)
    program.add_entries(surplus.index, theta.start, -1.0)
    program.add_entries(surplus.index, protection.index, -1.0)


def _unit(costs: FloatArray) -> float:
    """Return a power of 2 of at least the largest cost: a division by it loses no digit."""
    largest = float(np.abs(costs).max(initial=0.0))
    return 2.0 ** float(np.ceil(np.log2(largest))) if largest > 0 else 1.0
