"""Recheck a dual bound from the instance and the prices alone, in safe arithmetic.

For any prices lambda_t >= 0 of the slots and mu_j >= 0 of the jobs' work, weak duality bounds every
schedule of the fluid model, and so of the integer one, from below:

    sum_j mu_j l_j - sum_t lambda_t M_t - sum_jt max(0, max_k  mu_j P_k - CI_t E_k - lambda_t W_k)

with P, E, W the work, energy and servers of a job's first k units. With carbon left out and mu_j <= 1
the same sum is a lower bound on the work that cannot be done: above 0 it proves that no schedule
exists. This shares no code with the methods that find prices. Every operation is rounded towards the
safe side (`numpy.nextafter` after each), so the result holds in real arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError
from carbonopt.problems.elastic.instance import ElasticInstance

LARGEST_PRICE = 1e30
_INF = np.inf


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
        work, ``work_prices`` at most 1.
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
    if kind not in ("lagrangian", "shortage"):
        raise InputError(Fault("certificate.kind", "must be 'lagrangian' or 'shortage'", repr(kind)))
    prices = _numbers(certificate, "prices", instance.time.slots, LARGEST_PRICE)
    largest = LARGEST_PRICE if kind == "lagrangian" else 1.0
    mu = _numbers(certificate, "work_prices", len(instance.jobs), largest)
    value = _dual_value(instance, prices, mu, kind == "lagrangian")
    if kind == "lagrangian":
        return value, ()
    return (_INF if value > 0 else None), ()


def _dual_value(instance: ElasticInstance, prices: FloatArray, mu: FloatArray, carbon: bool) -> float:
    jobs = instance.jobs
    earned = _down(mu * jobs.required)
    paid = _up(prices * instance.cluster.limit)
    tables = [_slot_costs(instance, number, prices, carbon) for number in range(len(instance.profiles))]
    gains = []
    for j, name in enumerate(instance.profile_of_job):
        cost, work = tables[name]
        window = cost[jobs.arrival[j] : jobs.window_end[j]]
        best = _up(_up(mu[j] * work) - window).max(axis=1, initial=0.0)
        gains.append(math.fsum(best))
    total = _down(math.fsum(earned)) - _up(math.fsum(_up(np.array(gains))))
    return float(_down(_down(total) - _up(math.fsum(paid))))


def _slot_costs(
    instance: ElasticInstance, number: int, prices: FloatArray, carbon: bool
) -> tuple[FloatArray, FloatArray]:
    """Return a lower bound on the cost of each scale in each slot, (T, U), and an upper one on its work, (U,)."""
    profile, cluster = instance.profiles[number], instance.cluster
    intensity = instance.carbon.g_per_kwh[instance.carbon.index(cluster.zone)]
    watts = np.array(profile.marginal_watts)
    if profile.marginal_gbps is not None:
        watts = _down(watts + _down(cluster.network_watts_per_gbps * profile.marginal_gbps))
    cost, work = np.zeros((len(prices), len(profile))), np.zeros(len(profile))
    energy, done = 0.0, 0.0
    for k in range(len(profile)):
        energy = float(_down(energy + _down(_down(watts[k] / 1000) * instance.time.slot_hours)))
        done = float(_up(done + profile.marginal_throughput[k]))
        carbon_of_slot = _down(energy * intensity) if carbon else np.zeros(len(prices))
        cost[:, k] = _down(carbon_of_slot + _down((profile.k_min + k) * prices))
        work[k] = done
    return cost, work


def _numbers(certificate: dict[str, Any], field: str, count: int, largest: float) -> FloatArray:
    try:
        given = np.array(certificate.get(field))
    except ValueError:  # ragged
        given = np.zeros(0)
    numbers = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if numbers.shape != (count,) or not ((numbers >= 0) & (numbers <= largest)).all():
        raise InputError(Fault(f"certificate.{field}", f"must be {count} numbers from 0 to {largest:g}"))
    return numbers


def _down(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(np.nextafter(values, -_INF))


def _up(values: npt.ArrayLike) -> FloatArray:
    return np.asarray(np.nextafter(values, _INF))
