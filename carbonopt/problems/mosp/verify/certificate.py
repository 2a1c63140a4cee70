"""Recheck a Lagrangian bound from the instance and the prices alone, in safe arithmetic.

For any prices mu >= 0 on the capacity rows, weak duality bounds every schedule (here minimising):

    sum_i min( cost of not running, min_jt cost_ijt(mu) ) - sum mu C

Where at most S_j jobs start on a cluster in a slot, prices nu >= 0 on starts add nu_jt to cost_ijt, and take away
sum nu S.

At most one start of a clique is in a schedule; with weights, those of a schedule's starts add up to at most W. A price
on it is added to what each of its starts costs, times the weight, and taken away once, or W times; see `cliques`.

Where the number y_S of rejected jobs of a set S is known to be in l_S..u_S, a charge lambda_S on each of them gives
such a bound, too: they cost lambda_S more, less sum_S (lambda_S u_S where it is positive, else lambda_S l_S). A tree
whose branches have y_S <= k and y_S >= k + 1 leaves no schedule out, so the least bound of its leaves holds for all.

Where large jobs start is branched on in a tree of windows; see `windows`. Such trees also tell what jobs cost that may
run in a block of slots, while other slots have prices; see `blocks`.

This shares no code with the methods that find prices. Every operation is rounded towards the safe
side (`numpy.nextafter` after each), so the result is a bound in real arithmetic, not only in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import LARGEST_PRICE
from carbonopt.core.directed import EPS, down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.mosp.data.fixed import fixed_load, fixed_rows
from carbonopt.problems.mosp.data.instance import CAPACITY_ROUNDING, MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, Limits
from carbonopt.problems.mosp.verify.blocks import least_of_blocks
from carbonopt.problems.mosp.verify.cliques import Clique, added_costs, cliques_of, paid_for, prices_of
from carbonopt.problems.mosp.verify.costs import (
    by_place,
    cost_of_units,
    finite_down,
    free_costs,
    least_costs,
    priced_runs,
    time_costs,
)
from carbonopt.problems.mosp.verify.halves import Half
from carbonopt.problems.mosp.verify.objective import assumed
from carbonopt.problems.mosp.verify.windows import least_of_windows

_INF = np.inf


def proven_bound(
    instance: MospInstance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound that a certificate proves.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "lagrangian", "prices": [cluster][resource][slot], ...}`` in units of the objective
        per unit and slot, and where the instance limits starts, ``"start_prices": [cluster][slot]`` in units of the
        objective a start, and where it limits quantities, ``"limit_prices": {quantity: price}``, in units of the
        objective for one of the quantity, and ``"cliques"``, starts that exclude each other, see
        `cliques_of`, each with a ``"price"``;
        or ``{"kind": "rejections", "sets": [[job, ...], ...], "tree": node, ...}``, where a node is either
        ``{"set": S, "most": k, "at_most": node, "more": node}`` or, with a charge for each set,
        ``{"prices": [cluster][resource][slot], "charges": [...]}``;
        or ``{"kind": "windows", ...}``, see `least_of_windows`; or ``{"kind": "blocks", ...}``, see `least_of_blocks`.
    info
        ``normalizers`` of the caspian objective where the instance does not fix them.

    Returns
    -------
    bound : float or None
        A valid lower (for a maximisation: upper) bound on the objective of every schedule; infinite if a job that
        must run can run nowhere, so that there is none.
    assumes : tuple of str
        ``normalizers`` where they are those that the solution file claims.

    Raises
    ------
    InputError
        If it is no such certificate.
    """
    if instance.fixed is not None:
        return _with_fixed(instance, certificate, info)
    if "limit_prices" in certificate:
        return _with_limits(instance, certificate, info)
    kind = certificate.get("kind")
    objective = instance.objective
    if kind not in ("lagrangian", "rejections", "windows", "blocks"):
        words = "must be 'lagrangian', 'rejections', 'windows' or 'blocks'"
        raise InputError(Fault("certificate.kind", words, shown(kind)))
    price: float | None = 0.0
    if isinstance(objective, CarbonObjective):
        price = objective.rejection_price
    rejection_cost = np.full(len(instance.jobs), _INF if price is None else price)
    if kind == "lagrangian":
        cliques = cliques_of(instance, certificate)
        charged = cliques, prices_of(certificate)
        lower = _lower(instance, _prices(instance, certificate), rejection_cost, info, *charged)
    elif kind == "windows":
        lower = least_of_windows(instance, certificate, free_costs(instance, rejection_cost, info))
    elif kind == "blocks":
        capacity = _prices(instance, certificate).capacity
        priced = partial(priced_runs, instance, info)
        lower = least_of_blocks(instance, certificate, capacity, rejection_cost, priced)
    else:
        lower = _least_of_tree(instance, certificate, rejection_cost, info)
    if lower is None:
        return None, ()
    return lower if instance.sense == "min" else -lower, assumed(instance)


def _with_limits(
    instance: MospInstance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound of the instance whose limits are priced: the price is weight, less price times limit."""
    given = certificate["limit_prices"]
    objective = instance.objective
    limits = objective.limits.allowed() if isinstance(objective, CarbonObjective) else {}  # what the checker lets pass
    if not isinstance(given, dict) or set(given) != set(limits):
        words = f"must have a price for each limited quantity ({', '.join(limits) or 'none is limited'})"
        raise InputError(Fault("certificate.limit_prices", words))
    assert isinstance(objective, CarbonObjective)
    weights = {}
    paid = 0.0
    for name, price in given.items():
        if type(price) not in (int, float) or not 0 <= price <= LARGEST_PRICE:
            words = f"must be a number from 0 to {LARGEST_PRICE:g}"
            raise InputError(Fault(f"certificate.limit_prices.{name}", words, shown(price)))
        own = getattr(objective, name)
        weights[name] = own + price  # rounded: what is added, exactly, lies between the next two
        added = up(weights[name] - own) if limits[name] > 0 else max(0.0, float(down(weights[name] - own)))
        paid = float(up(paid + up(added * up(limits[name]))))
    free = instance.with_objective(replace(objective, limits=Limits(), **weights))
    rest = {name: part for name, part in certificate.items() if name != "limit_prices"}
    bound, assumes = proven_bound(free, rest, info)
    return None if bound is None else float(down(bound - paid)), assumes


def _with_fixed(
    instance: MospInstance, certificate: dict[str, Any], info: dict[str, Any]
) -> tuple[float | None, tuple[str, ...]]:
    """Return the bound of the jobs that are free, in the capacity left to them, plus what the fixed runs cost.

    Rows of jobs in a certificate count free jobs alone, in the order of the instance.
    """
    job, cluster, start = fixed_rows(instance)
    load = fixed_load(instance)
    capacity = instance.clusters.capacity
    excess = up(load * CAPACITY_ROUNDING)  # counts as rounding, beside that of what is left
    excess = up(excess + (len(instance.jobs) + 2) * EPS * capacity)  # a checker's sum may be short by so much
    left = np.maximum(0.0, up(up(capacity - load) + excess))
    rest = np.setdiff1d(np.arange(len(instance.jobs)), job)
    free = replace(
        instance, fixed=None, jobs=instance.jobs.part(rest), clusters=replace(instance.clusters, capacity=left)
    )
    bound, assumes = proven_bound(free, certificate, info)
    if bound is None:
        return None, ()
    if bound == np.inf:  # the free jobs have no schedule, so the whole has none
        return bound, assumes
    alone = cost_of_units(instance, info)
    cost = 0.0
    for i, j, t in zip(job.tolist(), cluster.tolist(), start.tolist(), strict=True):
        end = t + int(instance.jobs.duration[i])
        for r, units in enumerate(instance.jobs.demand[i]):
            cost = float(down(cost + down(units * down(math.fsum(alone[j, r, t:end])))))
        cost = float(down(cost + time_costs(instance, np.array([i]), info)[0, t]))
    return float(down(bound + cost)), assumes


class _Prices(NamedTuple):
    """Prices of capacity, shape (M, R, T), and of starts, shape (M, T)."""

    capacity: FloatArray
    starts: FloatArray


def _lower(
    instance: MospInstance,
    prices: _Prices,
    rejection_cost: FloatArray,
    info: dict[str, Any],
    cliques: Sequence[Clique | Half] = (),
    clique_prices: Sequence[float] = (),
) -> float | None:
    """Return the bound where each job that does not run costs `rejection_cost`, shape (N,)."""
    unit_cost = down(prices.capacity + cost_of_units(instance, info))
    added = added_costs(instance, cliques, clique_prices)
    least = least_costs(instance, unit_cost, prices.starts, rejection_cost, info, added)
    most_starts = instance.clusters.max_starts_per_slot
    if not np.isfinite(least).all():
        return _INF if _must_run_nowhere(instance, rejection_cost) else None
    try:
        with np.errstate(over="ignore"):
            paid = up(math.fsum(up(prices.capacity * instance.clusters.limit).ravel()))
            if most_starts is not None:
                paid = up(paid + up(math.fsum(up(prices.starts * most_starts[:, None]).ravel())))
            paid = up(paid + up(math.fsum(paid_for(cliques, clique_prices))))
        lower = float(down(down(math.fsum(least)) - paid))
    except OverflowError:
        return None
    return lower if np.isfinite(lower) else None


def _must_run_nowhere(instance: MospInstance, rejection_cost: FloatArray) -> bool:
    """Return whether there is a job that must run, and for which no cluster has room at any start."""
    shape = instance.clusters.capacity.shape
    free = _Prices(np.zeros(shape), np.zeros((shape[0], shape[2])))
    must = np.flatnonzero(np.isposinf(rejection_cost))
    return any(np.isposinf(by_place(instance, *free, i)[:, instance.jobs.arrival[i] :]).all() for i in must.tolist())


def _least_of_tree(
    instance: MospInstance, certificate: dict[str, Any], rejection_cost: FloatArray, info: dict[str, Any]
) -> float | None:
    """Return the least bound of the leaves of a tree: infinite if none has a schedule, None if one says nothing."""
    sets = _sets(certificate, len(rejection_cost))
    bound: float = _INF
    waiting: list[tuple[Any, list[int], list[int]]] = [
        (certificate.get("tree"), [0] * len(sets), [len(s) for s in sets])
    ]
    while waiting:
        node, least, most = waiting.pop()
        if not isinstance(node, dict):
            raise InputError(Fault("certificate.tree", "each node must be an object"))
        if "prices" not in node:
            chosen = node.get("set")
            whole = node.get("most")
            if type(chosen) is not int or not 0 <= chosen < len(sets) or type(whole) is not int:
                words = "must hold prices and charges, or a set (its row) and most (a whole number)"
                raise InputError(Fault("certificate.tree", words))
            waiting.append((node.get("at_most"), least, _with(most, chosen, min(most[chosen], whole))))
            waiting.append((node.get("more"), _with(least, chosen, max(least[chosen], whole + 1)), most))
            continue
        if any(low > high for low, high in zip(least, most, strict=True)):
            continue  # no schedule is there
        charges = _charges(node, len(sets))
        counted = rejection_cost.copy()
        for members, charge in zip(sets, charges, strict=True):
            counted[members] = finite_down(counted[members] + charge)
        owed = up(charges * np.where(charges > 0, most, least))
        lower = _lower(instance, _prices(instance, node), counted, info)
        if lower is None:
            return None
        if np.isposinf(lower):
            continue  # nor there
        bound = min(bound, float(down(lower - up(math.fsum(owed)))))
    return bound if bound > -_INF else None


def _with(numbers: list[int], at: int, number: int) -> list[int]:
    return [*numbers[:at], number, *numbers[at + 1 :]]


def _sets(certificate: dict[str, Any], jobs: int) -> list[list[int]]:
    sets = certificate.get("sets")
    good = isinstance(sets, list) and all(isinstance(s, list) and s and len(set(map(repr, s))) == len(s) for s in sets)
    good = good and all(type(i) is int and 0 <= i < jobs for s in sets or [] for i in s)
    if not good:
        words = f"must be lists of different jobs, not empty, whole numbers from 0 to {jobs - 1}"
        raise InputError(Fault("certificate.sets", words))
    return list(sets or [])


def _charges(node: dict[str, Any], count: int) -> FloatArray:
    charges = node.get("charges")
    good = isinstance(charges, list) and len(charges) == count
    if not good or not all(type(c) in (int, float) and abs(c) <= LARGEST_PRICE for c in charges or []):
        words = f"must be {count} numbers from {-LARGEST_PRICE:g} to {LARGEST_PRICE:g}"
        raise InputError(Fault("certificate.tree.charges", words))
    return np.array(charges, dtype=np.float64)


def _prices(instance: MospInstance, node: dict[str, Any]) -> _Prices:
    clusters, resources, slots = instance.clusters.capacity.shape
    size = f"{clusters} clusters x {resources} resources x {slots} slots"
    capacity = _numbers(node, "prices", (clusters, resources, slots), size)
    if "start_prices" not in node:
        return _Prices(capacity, np.zeros((clusters, slots)))
    if instance.clusters.max_starts_per_slot is None:
        raise InputError(Fault("certificate.start_prices", "must not be there: the instance limits no starts"))
    return _Prices(capacity, _numbers(node, "start_prices", (clusters, slots), f"{clusters} clusters x {slots} slots"))


def _numbers(node: dict[str, Any], field: str, shape: tuple[int, ...], size: str) -> FloatArray:
    try:
        given = np.array(node.get(field))
    except ValueError:  # ragged
        given = np.zeros(0)
    numbers = given.astype(np.float64) if given.dtype.kind in "iuf" else np.zeros(0)
    if numbers.shape != shape or not ((numbers >= 0) & (numbers <= LARGEST_PRICE)).all():
        raise InputError(Fault(f"certificate.{field}", f"must be numbers from 0 to {LARGEST_PRICE:g} for {size}"))
    return numbers
