"""Recheck a bound from the instance and the prices of capacity alone, in safe arithmetic.

For any prices lambda >= 0 of a unit of capacity for a slot, weak duality bounds every schedule from below:

    sum_j min_mt ( kWh_j sum_t' s_t' + sum_r u_jr sum_t' lambda_mrt' )                     over the slots t' of the run
    + sum_m min over on/off patterns of ( starts and stops + sum_t on_mt (idle_mt - sum_r c_mr lambda_mrt) )

Prices are shared by all machines, [resource][slot], or one for each, [machine][resource][slot]. Cuts may have prices,
too: see `carbonopt.problems.ecas.verify.cuts`.

This shares no code with the methods that find prices. Every operation is rounded towards the safe side
(`numpy.nextafter` after each), so the result is a bound in real arithmetic, not only in doubles.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.ecas.data.instance import EcasInstance
from carbonopt.problems.ecas.verify.cuts import CutTerms, terms_of

_INF = np.inf


def proven_bound(
    instance: EcasInstance,
    certificate: dict[str, Any],
    info: dict[str, Any],  # noqa: ARG001
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "prices": ...}`` [objective a unit and slot], and with ``"cuts"`` where there are some
        [objective a machine and slot].
    info
        Not used.

    Returns
    -------
    bound : float or None
        A lower bound on the objective of every schedule; infinite if some job fits no machine.
    assumes : tuple of str
        Nothing.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    if certificate.get("kind") != "lagrangian":
        raise InputError(Fault("certificate.kind", "must be 'lagrangian'", shown(certificate.get("kind"))))
    prices = _prices(instance, certificate.get("prices"))
    cuts = terms_of(instance, certificate.get("cuts"))
    value = _value_per_kwh(instance)
    jobs = _least_of_jobs(instance, prices, value, cuts)
    if np.isinf(jobs).any():
        return _INF, ()
    patterns = _least_of_machines(instance, prices, value, cuts)
    return float(down(fsum([*jobs.tolist(), *patterns.tolist(), *cuts.constant]))), ()


def _prices(instance: EcasInstance, given: Any) -> FloatArray:
    """Return the prices by machine, shape (M, R, T), or (1, R, T) where all machines share them."""
    shared = (len(instance.resources), instance.time.slots)
    own = (len(instance.machines), *shared)
    try:
        array = np.array(given)
    except ValueError:  # ragged
        array = np.zeros(0)
    numbers = array.astype(np.float64) if array.dtype.kind in "iuf" else np.zeros(0)
    if 0 in shared and array.size == 0:
        return np.zeros((1, *shared))
    if numbers.shape not in (shared, own) or not ((numbers >= 0) & (numbers <= LARGEST_PRICE)).all():
        words = f"must be numbers from 0 to {LARGEST_PRICE:g} for {shared[0]} resources x {shared[1]} slots"
        raise InputError(Fault("certificate.prices", f"{words}, of all machines or of each"))
    return numbers.reshape(-1, *shared)


def _value_per_kwh(instance: EcasInstance) -> FloatArray:
    """Return at most what a kilowatt hour adds to the objective by slot, shape (T,)."""
    value = down(instance.weights.cost * instance.price_per_kwh)
    if instance.carbon.zones:
        value = down(value + down(instance.weights.carbon_kg * down(instance.carbon.g_per_kwh[0] / 1000)))
    return value


def _energy_value(kw: FloatArray, hours: float, value: FloatArray) -> FloatArray:
    """Return at most what a power is worth over an hour-sum of values, which may be negative; broadcasts."""
    return np.minimum(down(down(kw * hours) * value), down(up(kw * hours) * value))


def _least_of_jobs(instance: EcasInstance, prices: FloatArray, value: FloatArray, cuts: CutTerms) -> FloatArray:
    """Return a lower bound on what each job costs at the prices, shape (N,); infinite where it fits no machine."""
    jobs = instance.jobs
    slots = instance.time.slots
    best = np.full(len(jobs), _INF)
    energy = np.zeros(slots + 1)
    units = np.zeros((*prices.shape[:2], slots + 1))
    by_duration = np.argsort(jobs.duration, kind="stable")
    done = 0
    for length in range(1, int(jobs.duration.max(initial=0)) + 1):
        count = slots - length + 1  # sums over `length` slots from each start
        last = np.arange(length - 1, slots)
        energy = down(energy[:count] + value[last])
        units = down(units[:, :, :count] + prices[:, :, last])
        while done < len(jobs) and jobs.duration[by_duration[done]] == length:
            j = int(by_duration[done])
            best[j] = _least_of_job(instance, j, energy, units, cuts.charges[j])
            done += 1
    return best


def _least_of_job(
    instance: EcasInstance, j: int, energy: FloatArray, units: FloatArray, charges: list[tuple[int, float]]
) -> float:
    """Return the least over machines and starts; `energy` and `units` are sums over the run by start."""
    jobs = instance.jobs
    fits = (jobs.use[j] <= instance.machines.capacity).all(axis=1)
    if jobs.machine is not None and jobs.machine[j] >= 0:
        fits &= np.arange(len(fits)) == jobs.machine[j]
    if not fits.any():
        return _INF
    if len(units) > 1:
        units = units[fits]
    window = slice(int(jobs.arrival[j]), int(jobs.last_start[j]) + 1)
    cost = np.broadcast_to(
        _energy_value(jobs.power_kw[j], instance.time.slot_hours, energy[window]), (len(units), len(energy[window]))
    )
    for r in range(len(instance.resources)):
        cost = down(cost + down(float(jobs.use[j, r]) * units[:, r, window]))
    if charges:
        charged = np.zeros(cost.shape[1])
        for t, amount in charges:
            runs = slice(max(0, t - int(jobs.duration[j]) + 1 - window.start), max(0, t + 1 - window.start))
            charged[runs] = down(charged[runs] + amount)
        cost = down(cost + charged)
    return float(cost.min())


def _least_of_machines(instance: EcasInstance, prices: FloatArray, value: FloatArray, cuts: CutTerms) -> FloatArray:
    """Return a lower bound on what the best on/off pattern of each machine costs, shape (M,)."""
    machines = instance.machines
    slots = instance.time.slots
    sold = np.tile(cuts.paid, (len(machines), 1))
    for r in range(len(instance.resources)):
        sold = up(sold + up(machines.capacity[:, r, None].astype(np.float64) * prices[:, r]))
    on_cost = down(_energy_value(machines.idle_kw[:, None], instance.time.slot_hours, value) - sold)
    if machines.available is not None:
        on_cost = np.where(machines.available, on_cost, _INF)
    off = np.zeros(len(machines))
    on = np.full(len(machines), _INF)
    for t in range(slots):  # least cost up to the end of slot t, by whether the machine is on in it
        started = np.minimum(on, down(off + machines.up_cost))
        off = np.minimum(off, down(on + machines.down_cost))
        on = down(started + on_cost[:, t])
    return np.minimum(off, down(on + machines.down_cost))
