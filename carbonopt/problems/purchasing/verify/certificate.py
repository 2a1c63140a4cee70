"""Recheck a dual bound from the instance and the prices alone, in safe arithmetic.

Prices lambda(t) >= 0 of a reserved CPU-hour, constant on a grid that refines the slots, and multipliers of the limits,
added to the weights, bound every schedule from below by weak duality:

    - R int lambda - sum mu limit + sum_j min over what job j may do of its cost, reserved CPUs at the price lambda

``splitting`` and ``suspend-resume``: of n_j CPUs at least (n_j - R)+ are on demand all the time, and for the others
lambda <= w p_od is at most what they pay, wherever they run. ``no-split``: all of a job is at lambda (if n_j <= R), or
all on demand; prices of rounded sizes say that whole jobs do not fill R (`certificate_rounded`). Where R is decided it
adds min over R of R (w p_res T - int lambda), R up to the largest possible load.
Jobs that may run on spot CPUs have that as one more choice, at its expected cost (`certificate_spot`).

This shares no code with the methods that find prices, and needs numpy alone. Sums over the horizon are made in long
decimals and rounded once. What doubles may lose after that is bounded from above and taken off each job's minimum
(`Priced.rounding`), so that the result holds in real arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.certificate import LARGEST_PRICE, prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.purchasing.data.instance import ROUNDING, ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_branches import least_of_leaves
from carbonopt.problems.purchasing.verify.certificate_pieces import least_of_pieces
from carbonopt.problems.purchasing.verify.certificate_rounded import (
    UNCOUNTED_HOURS,
    Units,
    least_on_reserved,
    rounded_of,
)
from carbonopt.problems.purchasing.verify.certificate_runs import EPSILON, Priced, Windows, least_of_runs
from carbonopt.problems.purchasing.verify.certificate_spot import least_on_spot

CAP_ROUNDING = 1e-12
"""By how much a price may exceed its cap for rounding, relative; it is cut to the cap."""
LOOSER = {"no-split": ("splitting", "suspend-resume"), "splitting": ("suspend-resume",), "suspend-resume": ()}
"""By model of the instance: models that allow more, whose schedules the bound does not hold for."""
QUANTITIES = ("carbon_kg", "cost_usd", "mean_wait_hours")
"""Sums that may be limited: names of the multipliers in a certificate."""


def proven_bound(
    instance: PurchasingInstance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "grid_slots": k, "prices": [k T], "multipliers": {...} or None, "rounded":
        [{"divisor": s, "prices": [T]}, {"cpus": [...], "weights": [...], "most": W, "prices": [T]}, ...] or None,
        ...}``: prices in units of the objective per CPU-hour, k cells a slot; multipliers of the limits by name, that
        of the mean wait per hour that any job waits; prices of a unit of each divisor, or of a weight of 1 [objective
        per unit and hour], one a slot. Or ``{"kind": "branches", ...}``, see `certificate_branches`.
    info
        Of the solution: a schedule that is not held to the instance's own terms cannot stand beside a bound.

    Returns
    -------
    bound : float
        A valid lower bound on the objective of every schedule; infinite where it is above `ceiling`, so that no
        schedule keeps the limits.
    assumes : tuple of str
        Always empty.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    _require_comparable(instance, info)
    kind = certificate.get("kind")
    if kind == "branches":
        value = least_of_leaves(instance, certificate, _Leaves(instance))
        return (math.inf if value > ceiling(instance) else value), ()
    if kind != "lagrangian":
        raise InputError(Fault("certificate.kind", "must be 'lagrangian' or 'branches'", shown(kind)))
    mu = _multipliers(instance, certificate.get("multipliers"))
    weights = instance.weights
    cost = _below(weights.cost_usd + mu["cost_usd"])
    cap = _below(cost * instance.prices.on_demand_usd_per_cpu_hour)
    prices = _prices(instance, certificate, np.inf if instance.model == "no-split" else cap)
    priced = Priced(
        instance,
        prices,
        carbon=_below(weights.carbon_kg + mu["carbon_kg"]),
        cost=cost,
        wait=_below(weights.wait_hours + mu["mean_wait_hours"]),
    )
    rounded = rounded_of(instance, certificate, _allowed_cpus(instance), Windows.of(instance))
    least = np.minimum(_least_on_pool(instance, priced, cap, rounded), least_on_spot(instance, priced))
    total = float(down(math.fsum(least)))
    total = float(down(total + _reserved_value(instance, priced, cost)))
    for each in rounded:
        total = float(down(total - each.worth(instance.time.slot_hours)))
    value = max(0.0, float(down(total - _limit_value(instance, mu))))  # no schedule costs less than nothing
    return (math.inf if value > ceiling(instance) else value), ()


class _Leaves:
    """The bounds of the leaves of a tree of branches, where jobs may not split and R is given.

    Parameters
    ----------
    instance
        The instance.
    """

    def __init__(self, instance: PurchasingInstance) -> None:
        self.instance = instance
        weights = instance.weights
        self.weights = _below(weights.carbon_kg), _below(weights.cost_usd), _below(weights.wait_hours)
        self.cap = _below(self.weights[1] * instance.prices.on_demand_usd_per_cpu_hour)
        free = Priced(instance, np.zeros(instance.time.slots), *self.weights)
        self.beside = np.minimum(_least_on_demand(instance, free, self.cap), least_on_spot(instance, free))

    def bound(self, leaf: dict[str, Any], windows: Windows) -> float:
        """Return what the prices of a leaf prove of the schedules in its windows; infinite where there is none."""
        instance = self.instance
        priced = Priced(instance, _prices(instance, leaf, np.inf), *self.weights)
        rounded = rounded_of(instance, leaf, _allowed_cpus(instance), windows)
        fits = _may_be_reserved(instance, float(instance.reserved_cpus or 0))
        on_reserved = np.where(fits, least_on_reserved(instance, priced, self.cap, rounded, windows), np.inf)
        least = np.minimum(on_reserved, np.where(windows.beside, self.beside, np.inf))
        if np.isinf(least).any():
            return math.inf
        total = float(down(math.fsum(least)))
        total = float(down(total + _reserved_value(instance, priced, self.weights[1])))
        for each in rounded:
            total = float(down(total - each.worth(instance.time.slot_hours)))
        return max(0.0, total)


def ceiling(instance: PurchasingInstance) -> float:
    """Return more than the objective of any schedule: a bound above it proves that the limits cannot be kept.

    A job runs twice at most, on spot CPUs and after an eviction on demand, at the dirtiest moment, and waits for as
    long as it may and its length.
    """
    jobs = instance.jobs
    weights = instance.weights
    prices = instance.prices
    hours = jobs.length_hours + 2 * ROUNDING_HOURS
    work = float(jobs.cpus @ hours)
    usd = work * (prices.on_demand_usd_per_cpu_hour + prices.spot_usd_per_cpu_hour)
    if instance.reserved_cpus is None:
        usd += instance.prepaid_usd(float(jobs.cpus.sum()) + 1)
    carbon = 2 * work * float(instance.kg_per_cpu_hour.max(initial=0.0))
    wait = float((instance.max_wait_hours + hours).sum())
    return 1.001 * (weights.carbon_kg * carbon + weights.cost_usd * usd + weights.wait_hours * wait) + 1e-9


def _below(rounded: float) -> float:
    """Return a lower bound on a sum or product that is at least 0 and was rounded once."""
    return max(0.0, float(down(rounded)))


def _allowed_cpus(instance: PurchasingInstance) -> float:
    """Return R, with the allowance of the checker unless all CPUs are whole numbers."""
    reserved = float(instance.reserved_cpus or 0)
    return reserved if _whole_cpus(instance) else float(up(reserved * (1 + 2 * ROUNDING)))


def _least_on_pool(instance: PurchasingInstance, priced: Priced, cap: float, rounded: Sequence[Units]) -> FloatArray:
    """Return a lower bound on each job's cost on reserved and on-demand CPUs, shape (N,)."""
    jobs, reserved = instance.jobs, instance.reserved_cpus
    most = _largest_load(instance) if reserved is None else float(reserved)
    if instance.model == "no-split":
        on_demand = _least_on_demand(instance, priced, cap)
        fits = _may_be_reserved(instance, most)
        return np.where(fits, np.minimum(least_on_reserved(instance, priced, cap, rounded), on_demand), on_demand)
    shared = jobs.cpus if reserved is None else np.minimum(jobs.cpus, most)
    least = (least_of_pieces if instance.model == "suspend-resume" else least_of_runs)(instance, priced, shared)
    return down(least + down(down(cap * down(jobs.cpus - shared)) * jobs.length_hours))


def _may_be_reserved(instance: PurchasingInstance, most: float) -> BoolArray:
    """Return which jobs may be on so many reserved CPUs, shape (N,).

    While a run hardly lasts, the checker of schedules does not look at its load.
    """
    jobs = instance.jobs
    return np.asarray((jobs.cpus <= most * (1 + ROUNDING)) | (jobs.length_hours <= UNCOUNTED_HOURS))


def _least_on_demand(instance: PurchasingInstance, priced: Priced, cap: float) -> FloatArray:
    """Return a lower bound on what each job costs wholly on demand, shape (N,)."""
    jobs = instance.jobs
    runs = least_of_runs(instance, priced, np.zeros(len(jobs)))
    return down(runs + down(down(cap * jobs.cpus) * jobs.length_hours))


def _reserved_value(instance: PurchasingInstance, priced: Priced, cost: float) -> float:
    """Return a lower bound on what the reserved CPUs themselves add: - R int lambda, and their price if decided."""
    exact = _whole_cpus(instance) or instance.model != "no-split"  # else what is above R is paid for on demand
    worth = float(up(up(priced.price_until[-1]) * (1.0 if exact else 1 + 2 * ROUNDING)))
    if instance.reserved_cpus is not None:
        return -float(up(instance.reserved_cpus * worth))
    price = instance.prices.on_demand_usd_per_cpu_hour * instance.prices.reserved_fraction * instance.time.hours
    each = float(down(cost * price * (1 - 4 * EPSILON) - worth))
    return min(0.0, float(down(up(_largest_load(instance)) * each)))


def _largest_load(instance: PurchasingInstance) -> float:
    """Return the most CPUs that can ever be in use on reserved and on-demand CPUs; more are of no use."""
    jobs = instance.jobs
    moment = np.concatenate([jobs.arrival_hours - ROUNDING_HOURS, instance.latest_end_hours + ROUNDING_HOURS])
    change = np.concatenate([jobs.cpus, -jobs.cpus])[np.argsort(moment, kind="stable")]
    load = np.cumsum(change).max(initial=0.0)  # exact where CPUs are whole
    return float(np.ceil(load if _whole_cpus(instance) else load * (1 + ROUNDING)))


def _whole_cpus(instance: PurchasingInstance) -> bool:
    """Return whether CPUs are whole, and so few that the checker's allowance is less than one."""
    cpus = instance.jobs.cpus
    return bool((cpus == np.floor(cpus)).all()) and ROUNDING * max(instance.reserved_cpus or 0, cpus.sum()) < 0.5


def _limit_value(instance: PurchasingInstance, mu: dict[str, float]) -> float:
    """Return an upper bound on the sum of multipliers times what the checker lets the limited sums be."""
    limits, total = instance.limits, 0.0
    for quantity, multiplier in mu.items():
        limit = getattr(limits, quantity)
        if not multiplier:
            continue
        allowed = float(up(limit * up(1 + ROUNDING)))
        if quantity == "mean_wait_hours":
            allowed = float(up(up(allowed + ROUNDING) * len(instance.jobs)))
        elif quantity == "cost_usd" and instance.reserved_cpus is not None:
            prepaid = instance.prepaid_usd(instance.reserved_cpus)
            allowed = float(up(allowed - down(prepaid * (1 - 4 * EPSILON))))
        total = float(up(total + up(multiplier * allowed)))
    return total


def _require_comparable(instance: PurchasingInstance, info: dict[str, Any]) -> None:
    """Refuse a bound beside a schedule that is not held to the instance's own terms."""
    told = (
        ("accounting", ("artifact",), "has no bound: other times and prices than the instance's"),
        ("evictions", ("realised",), "has no bound: that is on the expected value"),
        ("model", LOOSER[instance.model], f"is looser than the instance's {instance.model!r}: its bound does not hold"),
    )
    faults = [Fault(f"info.{key}", words, shown(info[key])) for key, bad, words in told if info.get(key) in bad]
    if faults:
        raise InputError(faults)


def _multipliers(instance: PurchasingInstance, given: Any) -> dict[str, float]:
    """Return the multiplier of each quantity, 0 where none is given."""
    if given is None:
        return dict.fromkeys(QUANTITIES, 0.0)
    if not isinstance(given, dict) or not set(given) <= set(QUANTITIES):
        words = f"must be null, or hold only {', '.join(QUANTITIES)}"
        raise InputError(Fault("certificate.multipliers", words, shown(given)))
    faults = []
    found = dict.fromkeys(QUANTITIES, 0.0)
    for key, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST_PRICE:
            words = f"must be a number from 0 to {LARGEST_PRICE:g}"
            faults.append(Fault(f"certificate.multipliers.{key}", words, shown(value)))
        elif value > 0 and getattr(instance.limits, key) is None:
            faults.append(Fault(f"certificate.multipliers.{key}", "must be 0: there is no such limit", shown(value)))
        else:
            found[key] = float(value)
    if faults:
        raise InputError(faults)
    return found


def _prices(instance: PurchasingInstance, certificate: dict[str, Any], cap: float) -> FloatArray:
    """Return the prices of the cells, at most `cap`."""
    cells = certificate.get("grid_slots")
    if isinstance(cells, bool) or not isinstance(cells, (int, np.integer)) or not 1 <= cells < 2**31:
        raise InputError(Fault("certificate.grid_slots", "must be a whole number of cells a slot", shown(cells)))
    most = min(LARGEST_PRICE, cap * (1 + CAP_ROUNDING))
    return np.minimum(prices_of(certificate, "prices", instance.time.slots * int(cells), most), cap)
