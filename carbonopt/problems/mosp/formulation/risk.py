"""Programs of mosp for uncertain carbon: the tail mean, and a budget of uncertainty.

c_ijt^s is the carbon of a placement in scenario s, times its weight. Both programs add to that of
`formulation/program.py`, and keep its cost of time and of rejections.

CVaR_alpha (Rockafellar and Uryasev, Journal of Risk 2, 2000)

    min   ... + eta + 1/(1 - alpha) sum_s p_s excess_s
    tail        sum_ijt c_ijt^s x_ijt - eta <= excess_s        each s

Budget of Gamma pairs (z, t) (Bertsimas and Sim, Operations Research 52, 2004). d_zt is how far the carbon of a kWh
may rise, times its weight, and E_zt(x) the energy of zone z in slot t:

    min   ... + sum_ijt mean_s c_ijt^s x_ijt + Gamma theta + sum_zt protection_zt
    surplus     d_zt E_zt(x) - theta <= protection_zt          each z, t

The last two sums are the dual of the largest rise, max {sum d_zt E_zt u_zt : sum u_zt <= Gamma, 0 <= u_zt <= 1}.

The rows are those of `carbonopt/milp/risk.py`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.milp import risk
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import MospProgram, build


def build_certain(instance: MospInstance, integer: bool = True) -> MospProgram:
    """Return the program whose cost is that of time and rejections alone; with `integer` False its relaxation."""
    value = placement_value(instance)
    return build(instance, replace(value, unit_prefix=np.zeros_like(value.unit_prefix)), integer)


def carbon_cost(form: MospProgram, instance: MospInstance) -> FloatArray:
    """Return the weighted carbon of each column x_ijt under the instance's signal, shape (columns,)."""
    value = replace(placement_value(instance), tardiness=0.0, completion=0.0)
    places = form.placements
    return value.of(places.job, places.cluster, places.start)


def add_tail(form: MospProgram, costs: FloatArray, probability: FloatArray, level: float) -> float:
    """Add CVaR of the carbon, and return what the added columns add up to at most in an optimum.

    Parameters
    ----------
    form
        From `build_certain`, of N jobs.
    costs
        Weighted carbon of each column in each scenario, shape (S, columns).
    probability
        Of each scenario, shape (S,).
    level
        alpha.

    Returns
    -------
    float
        A job has at most 1 unit in each scenario. So eta, a quantile, is at most N, and so is each excess.
    """
    risk.add_tail(form.program, form.x.index, costs, probability, level)
    return float(form.placement.size * (1 + len(costs)))


def add_budget(form: MospProgram, instance: MospInstance, rise: FloatArray, pairs: float) -> float:
    """Add the largest rise of `pairs` pairs of a zone and a slot, and return what the added columns add up to at most.

    Parameters
    ----------
    form
        The program of the instance, whose signal is the expected one.
    instance
        N jobs, under the carbon objective.
    rise
        How far the intensity may rise [g/kWh], shape (Z, T).
    pairs
        Gamma.

    Returns
    -------
    float
        A job has at most 1 unit in each slot that it runs in. So protection adds up to the hours of all jobs, and
        theta, the rise of one pair, is at most N.
    """
    places = form.placements
    duration = instance.jobs.duration[places.job]
    column = np.repeat(np.arange(len(places)), duration)
    slot = np.arange(len(column)) - np.repeat(np.cumsum(duration) - duration - places.start, duration)
    zone = instance.zone_of_cluster[places.cluster[column]]
    cost = kg_per_g(instance)[places.job[column], places.cluster[column]] * rise[zone, slot]
    pair = zone * rise.shape[1] + slot
    risk.add_budget(form.program, form.x.start + column, pair, cost, rise.shape, pairs)
    return float(instance.jobs.duration.sum() + len(instance.jobs))


def kg_per_g(instance: MospInstance) -> FloatArray:
    """Return the weighted carbon of each job in a slot on each cluster, for each g/kWh of intensity, shape (N, M)."""
    assert isinstance(instance.objective, CarbonObjective)
    kwh_per_unit = instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours
    return np.asarray(instance.objective.carbon_kg / 1000 * (instance.jobs.demand @ kwh_per_unit.T))
