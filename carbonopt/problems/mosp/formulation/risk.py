"""Programs of mosp for uncertain carbon: the tail mean, and a budget of uncertainty.

Both add columns and rows to the program of `formulation/program.py`, whose cost keeps what is certain: time and
rejections. c_ijt^s is the carbon of a placement in scenario s, times its weight.

CVaR_alpha (Rockafellar and Uryasev, Journal of Risk 2, 2000)

    min   ... + eta + 1/(1 - alpha) sum_s p_s excess_s
    tail        sum_ijt c_ijt^s x_ijt - eta <= excess_s        each s

Budget of Gamma pairs (z, t) (Bertsimas and Sim, Operations Research 52, 2004). d_zt is how far the carbon of a kWh
may rise, times its weight, and E_zt(x) the energy of zone z in slot t:

    min   ... + sum_ijt mean_s c_ijt^s x_ijt + Gamma theta + sum_zt protection_zt
    protection  d_zt E_zt(x) <= theta + protection_zt          each z, t

The last two sums are the dual of the largest rise, max {sum d_zt E_zt u_zt : sum u_zt <= Gamma, 0 <= u_zt <= 1}.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import MospProgram, build


def build_certain(instance: MospInstance) -> MospProgram:
    """Return the program whose cost is that of time and rejections alone."""
    value = placement_value(instance)
    return build(instance, replace(value, unit_prefix=np.zeros_like(value.unit_prefix)))


def carbon_cost(form: MospProgram, instance: MospInstance) -> FloatArray:
    """Return the weighted carbon of each column x_ijt under the instance's signal, shape (columns,)."""
    value = placement_value(instance)
    places = form.placements
    both = value.of(places.job, places.cluster, places.start)
    return np.asarray(both - value.of_time(places.job, places.start))


def add_tail(form: MospProgram, costs: FloatArray, probability: FloatArray, level: float) -> None:
    """Add CVaR of the carbon.

    Parameters
    ----------
    form
        From `build_certain`.
    costs
        Weighted carbon of each column in each scenario, shape (S, columns).
    probability
        Of each scenario, shape (S,).
    level
        alpha.
    """
    program = form.program
    eta = program.add_variables("eta", 1, lower=-np.inf, cost=1.0)
    excess = program.add_variables("excess", len(costs), cost=probability / (1 - level), axes=("scenario",))
    tail = program.add_rows("tail", len(costs), upper=0.0, axes=("scenario",))
    scenario, column = np.nonzero(costs)
    program.add_entries(tail.start + scenario, form.x.start + column, costs[scenario, column])
    program.add_entries(tail.index, eta.start, -1.0)
    program.add_entries(tail.index, excess.index, -1.0)


def add_mean(form: MospProgram, cost: FloatArray) -> None:
    """Add the expected carbon of each column, shape (columns,), by a column that is equal to it."""
    program = form.program
    mean = program.add_variables("mean_carbon", 1, lower=-np.inf, cost=1.0)
    row = program.add_rows("mean_carbon_row", 1, upper=0.0)
    used = np.flatnonzero(cost)
    program.add_entries(row.start, form.x.start + used, cost[used])
    program.add_entries(row.index, mean.index, -1.0)


def add_budget(form: MospProgram, instance: MospInstance, rise: FloatArray, pairs: float) -> None:
    """Add the largest rise of `pairs` pairs of a zone and a slot.

    Parameters
    ----------
    form
        From `build_certain`, with the expected carbon added.
    instance
        Its weight of carbon counts.
    rise
        How far the intensity may rise [g/kWh], shape (Z, T).
    pairs
        Gamma.
    """
    program = form.program
    theta = program.add_variables("theta", 1, cost=pairs)
    protection = program.add_variables("protection", rise.shape, cost=1.0, axes=("zone", "slot"))
    rows = program.add_rows("protection_row", rise.shape, upper=0.0, axes=("zone", "slot"))
    places = form.placements
    zone = instance.zone_of_cluster[places.cluster]
    duration = instance.jobs.duration[places.job]
    column = np.repeat(np.arange(len(places)), duration)
    slot = np.arange(len(column)) - np.repeat(np.cumsum(duration) - duration - places.start, duration)
    kwh = kwh_per_slot(instance)[places.job, places.cluster][column]
    weight = getattr(instance.objective, "carbon_kg", 1.0)
    cost = weight * rise[zone[column], slot] / 1000 * kwh
    program.add_entries(rows.start + zone[column] * rise.shape[1] + slot, form.x.start + column, cost)
    program.add_entries(rows.index, theta.start, -1.0)
    program.add_entries(rows.index, protection.index, -1.0)


def kwh_per_slot(instance: MospInstance) -> FloatArray:
    """Return the energy that each job takes in a slot on each cluster [kWh], shape (N, M)."""
    kwh_per_unit = instance.clusters.watts_per_unit / 1000 * instance.time.slot_hours
    return np.asarray(instance.jobs.demand @ kwh_per_unit.T)
