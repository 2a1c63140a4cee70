"""Recheck a dual bound from the instance and the prices alone, in safe arithmetic.

For any prices lambda_t >= 0 of the slots and mu_j >= 0 of the jobs' work, weak duality bounds every
schedule of the fluid model, and so of the integer one, from below:

    sum_j mu_j l_j - sum_t lambda_t M_t - sum_jt max(0, max_k  mu_j P_k - CI_t E_k - lambda_t W_k)

with P, E, W the work, energy and servers of a job's first k units. With carbon left out and mu_j <= 1
the same sum is a lower bound on the work that cannot be done: above 0 it proves that no schedule
exists. For the integer model a bound may instead take each job's cheapest plan of whole servers
(`certificate_plans`), which is tighter. With carbon left out, that sum is at most 0 where there is a
schedule.

This shares no code with the methods that find prices. Every operation is rounded towards the safe side
(`numpy.nextafter` after each), so the result holds in real arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE, prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.problems.elastic.data.instance import ROUNDING, ElasticInstance
from carbonopt.problems.elastic.verify.certificate_plans import least_cost

PLAN_KINDS = ("lagrangian-plans", "shortage-plans")
"""Kinds of certificates by whole plans."""


def proven_bound(
    instance: ElasticInstance,
    certificate: dict[str, Any],
    info: dict[str, Any],  # noqa: ARG001
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "prices": [slot], "work_prices": [job], ...}`` in g per server and
        slot, and g per slot of work; or ``{"kind": "shortage", ...}`` with the same prices in slots of
        work, ``work_prices`` at most 1; or ``{"kind": "lagrangian-plans", "prices": [slot], ...}`` and
        ``{"kind": "shortage-plans", "prices": [slot], ...}``, for the integer model.
    info
        Not used.

    Returns
    -------
    bound : float or None
        A valid lower bound on the carbon of every schedule [g]; infinite where a shortage proves that
        there is none; None where a shortage is claimed and not proven.
    assumes : tuple of str
        Always empty.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    kind = certificate.get("kind")
    kinds = ("lagrangian", "shortage", *(PLAN_KINDS if instance.model == "integer" else ()))
    if kind not in kinds:
        raise InputError(Fault("certificate.kind", f"must be {one_of(kinds)}", shown(kind)))
    prices = prices_of(certificate, "prices", instance.time.slots)
    if kind in PLAN_KINDS:
        value = _plan_value(instance, prices, kind == "lagrangian-plans")
        return _bound_of(value, kind == "lagrangian-plans"), ()
    largest = LARGEST_PRICE if kind == "lagrangian" else 1.0
    mu = prices_of(certificate, "work_prices", len(instance.jobs), largest)
    value = _dual_value(instance, prices, mu, kind == "lagrangian")
    return _bound_of(value, kind == "lagrangian"), ()


def _bound_of(value: float, carbon: bool) -> float | None:
    """Return the bound that a dual value is; without carbon, above 0 there is no schedule, else nothing is proven."""
    if carbon:
        return value
    return np.inf if value > 0 else None


def _dual_value(instance: ElasticInstance, prices: FloatArray, mu: FloatArray, carbon: bool) -> float:
    jobs = instance.jobs
    earned = down(mu * jobs.required)
    paid = up(prices * _capacity(instance))
    tables = [_slot_costs(instance, number, prices, carbon) for number in range(len(instance.profiles))]
    full = 1.0 if instance.model == "integer" else 1 + 1.001 * ROUNDING  # shares may add up to a little over 1
    gains = []
    for j, name in enumerate(instance.profile_of_job):
        cost, work = tables[name]
        window = cost[jobs.arrival[j] : jobs.window_end[j]]
        best = up(up(mu[j] * work) - window).max(axis=1, initial=0.0)
        gains.append(up(math.fsum(best)) * full)
    total = down(math.fsum(earned)) - up(math.fsum(up(np.array(gains))))
    return float(down(down(total) - up(math.fsum(paid))))


def _plan_value(instance: ElasticInstance, prices: FloatArray, carbon: bool) -> float:
    """Return the bound from each job's cheapest plan of whole servers; without carbon, what servers cost alone."""
    jobs = instance.jobs
    least = []
    tables = [_unit_costs(instance, number, prices, carbon) for number in range(len(instance.profiles))]
    for j, number in enumerate(instance.profile_of_job):
        cost, work, free_choice = tables[number]
        window = cost[jobs.arrival[j] : jobs.window_end[j]]
        least.append(least_cost(window, work, float(down(jobs.required[j])), free_choice))
    paid = up(math.fsum(up(prices * _capacity(instance))))
    return float(down(down(math.fsum(least)) - paid))


def _unit_costs(
    instance: ElasticInstance, number: int, prices: FloatArray, carbon: bool
) -> tuple[FloatArray, FloatArray, bool]:
    """Return a lower bound on the cost of each unit in each slot, (T, U), its work, and whether order is implied."""
    profile = instance.profiles[number]
    kwh = _unit_energy(instance, number) if carbon else np.zeros(len(profile))
    servers = np.array([profile.k_min] + [1] * (len(profile) - 1), dtype=np.float64)
    intensity = instance.carbon.g_per_kwh[instance.carbon.index(instance.cluster.zone)]
    cost = down(down(intensity[:, None] * kwh[None, :]) + down(prices[:, None] * servers[None, :]))
    free_choice = profile.k_min == 1 and bool((np.diff(kwh) >= 0).all())
    return cost, np.array(profile.marginal_throughput), free_choice


def _unit_energy(instance: ElasticInstance, number: int) -> FloatArray:
    """Return a lower bound on the energy of each unit in a slot [kWh], shape (U,)."""
    profile = instance.profiles[number]
    cluster = instance.cluster
    watts = np.array(profile.marginal_watts)
    if profile.marginal_gbps is not None:
        watts = down(watts + down(cluster.network_watts_per_gbps * profile.marginal_gbps))
    return down(down(watts / 1000) * instance.time.slot_hours)


def _capacity(instance: ElasticInstance) -> FloatArray:
    """Return the largest load that the checker accepts in each slot [servers]; whole in the integer model."""
    limit = instance.cluster.limit
    return np.floor(limit) if instance.model == "integer" else up(limit)


def _slot_costs(
    instance: ElasticInstance, number: int, prices: FloatArray, carbon: bool
) -> tuple[FloatArray, FloatArray]:
    """Return a lower bound on the cost of each scale in each slot, (T, U), and an upper one on its work, (U,)."""
    profile = instance.profiles[number]
    kwh = _unit_energy(instance, number)
    intensity = instance.carbon.g_per_kwh[instance.carbon.index(instance.cluster.zone)]
    cost = np.zeros((len(prices), len(profile)))
    work = np.zeros(len(profile))
    energy, done = 0.0, 0.0
    for k in range(len(profile)):
        energy = float(down(energy + kwh[k]))
        done = float(up(done + profile.marginal_throughput[k]))
        carbon_of_slot = down(energy * intensity) if carbon else np.zeros(len(prices))
        cost[:, k] = down(carbon_of_slot + down((profile.k_min + k) * prices))
        work[k] = done
    return cost, work
