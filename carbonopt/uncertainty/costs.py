"""What a plan costs in each scenario, and by a measure of risk: by the checker, without a solver."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.evaluate import evaluate
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.formulation.objective import refuse_energy_price
from carbonopt.uncertainty.measures import CVaR, Expectation, Risk, largest_sum, tail_mean
from carbonopt.uncertainty.scenarios import Scenarios

Linear = MospInstance | ElasticInstance
"""Whose objective is linear in the carbon signal, as far as plans under risk know."""


def objectives_of(instance: Instance, scenarios: Scenarios, schedule: Any) -> FloatArray:
    """Return the checker's objective of a schedule in each scenario, shape (S,).

    Raises
    ------
    InputError
        If the schedule violates a constraint.
    """
    found = [evaluate(scenarios.instance(instance, s), schedule).objective for s in range(len(scenarios))]
    return np.array(found, dtype=np.float64)


def measured(instance: Instance, scenarios: Scenarios, schedule: Any, risk: Risk) -> float:
    """Return the measure of risk of a schedule, from the checker's objectives.

    A budget needs the energy by zone and slot besides, which is added up job by job.
    """
    if isinstance(risk, CVaR):
        return tail_mean(objectives_of(instance, scenarios, schedule), scenarios.weights, risk.level)
    expected = evaluate(scenarios.instance(instance), schedule).objective
    assert expected is not None
    if isinstance(risk, Expectation):
        return expected
    return expected + largest_sum(rises_of(instance, scenarios, schedule), risk.pairs)


REFUTED = 1e-6
"""By how much a plan may be below a bound for rounding, relative."""


def kept_bound(instance: Instance, value: float, bound: float | None) -> float | None:
    """Return a bound on the risk, beside the value of a plan.

    A bound that the plan beats by rounding is cut to its value. One that it beats by more is false, and is not stated.
    """
    if bound is not None and bound - value > REFUTED * abs(value):
        warnings.warn(f"{instance.name}: the bound {bound:.9g} does not hold: a plan has {value:.9g}", stacklevel=4)
        return None
    return None if bound is None else min(bound, value)


def require_mosp(instance: Instance) -> MospInstance:
    """Return the instance if it is one of `mosp` under the carbon objective.

    Raises
    ------
    UnsupportedError
        If it is not.
    """
    if not isinstance(instance, MospInstance) or not isinstance(instance.objective, CarbonObjective):
        raise UnsupportedError(f"{instance.name}: must be of problem mosp, under the carbon objective")
    return instance


def require_linear(instance: Instance) -> Linear:
    """Return the instance if it has programs of risk: mosp under the carbon objective, or elastic with whole servers.

    Raises
    ------
    UnsupportedError
        If it has none.
    """
    if isinstance(instance, ElasticInstance):
        if instance.model != "integer":
            raise UnsupportedError(f"{instance.name}: must be of model 'integer', not {instance.model!r}")
        return instance
    if not isinstance(instance, MospInstance) or not isinstance(instance.objective, CarbonObjective):
        words = "must be of problem mosp, under the carbon objective, or of problem elastic"
        raise UnsupportedError(f"{instance.name}: {words}")
    refuse_energy_price(instance, "planning under risk")
    return instance


def rises_of(instance: Instance, scenarios: Scenarios, schedule: Any) -> FloatArray:
    """Return what each pair of a zone and a slot adds to the objective where it rises, shape (Z, T)."""
    if isinstance(instance, ElasticInstance):
        return _server_energy(instance, schedule) * scenarios.rise
    instance = require_mosp(instance)
    return np.asarray(_objective(instance).carbon_kg * _energy(instance, schedule) * scenarios.rise / 1000)


def _objective(instance: MospInstance) -> CarbonObjective:
    objective = require_mosp(instance).objective
    assert isinstance(objective, CarbonObjective)
    return objective


def _server_energy(instance: ElasticInstance, schedule: Any) -> FloatArray:
    """Return the energy of a schedule by zone and slot [kWh], shape (Z, T), added up row by row."""
    kwh = np.zeros(instance.carbon.g_per_kwh.shape)
    profile_of = dict(zip(instance.jobs.name, instance.profile_of_job.tolist(), strict=True))
    zone = instance.carbon.index(instance.cluster.zone)
    for name, slot, servers in zip(schedule["job"], schedule["slot"], schedule["servers"], strict=True):
        profile = profile_of[name]
        units = int(servers) - instance.profiles[profile].k_min + 1
        kwh[zone, int(slot)] += instance.units.kwh[profile, :units].sum()
    return kwh


def _energy(instance: MospInstance, schedule: Any) -> FloatArray:
    """Return the energy of a schedule by zone and slot [kWh], shape (Z, T), added up job by job."""
    kwh = np.zeros(instance.carbon.g_per_kwh.shape)
    job_of = {name: number for number, name in enumerate(instance.jobs.name)}
    cluster_of = {name: number for number, name in enumerate(instance.clusters.name)}
    for name, cluster, start in zip(schedule["job"], schedule["cluster"], schedule["start"], strict=True):
        job, place = job_of[name], cluster_of[cluster]
        watts = float(instance.jobs.demand[job] @ instance.clusters.watts_per_unit[place])
        end = int(start) + int(instance.jobs.duration[job])
        kwh[instance.zone_of_cluster[place], int(start) : end] += watts / 1000 * instance.time.slot_hours
    return kwh
