"""Programs of elastic for uncertain carbon: the tail mean, and a budget of uncertainty.

Both add the rows of `carbonopt/milp/risk.py` to the program of `formulation/program.py`. Unit y_jtu costs G^s_t e_u in
scenario s, and rises by d_t e_u, in the cluster's zone. Levels that change cost the same in all scenarios.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.milp.risk import add_budget, add_tail
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.elastic.formulation.program import ElasticProgram, add_precedence, build, implied


def with_tail(
    instance: ElasticInstance, signals: FloatArray, probability: FloatArray, level: float, integer: bool = True
) -> ElasticProgram:
    """Return the program of the least CVaR over signals [g/kWh], shape (S, Z, T)."""
    carbon = instance.carbon
    still = replace(instance, carbon=CarbonSignal(carbon.zones, np.zeros_like(carbon.g_per_kwh), carbon.time))
    form = _build(still, integer)
    intensity = signals[:, carbon.index(instance.cluster.zone)]
    costs = intensity[:, form.slot] * _kwh(form, instance)
    add_tail(form.program, form.y.index, costs, probability, level)
    return form


def with_budget(instance: ElasticInstance, rise: FloatArray, pairs: float, integer: bool = True) -> ElasticProgram:
    """Return the program with the largest rise of `pairs` pairs, by at most `rise` [g/kWh], shape (Z, T)."""
    form = _build(instance, integer)
    zone = instance.carbon.index(instance.cluster.zone)
    cost = rise[zone, form.slot] * _kwh(form, instance)
    add_budget(form.program, form.y.index, zone * rise.shape[1] + form.slot, cost, rise.shape, pairs)
    return form


def _build(instance: ElasticInstance, integer: bool) -> ElasticProgram:
    """Return the program with all rows of precedence: no carbon orders the units of a slot here."""
    form = build(instance, None if integer else False)
    if implied(instance):
        add_precedence(form.program, form.y, form.unit)
    return form


def _kwh(form: ElasticProgram, instance: ElasticInstance) -> FloatArray:
    return np.asarray(instance.units.kwh[instance.profile_of_job[form.job], form.unit])
