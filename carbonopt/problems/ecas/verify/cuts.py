"""What the cuts of a certificate add to the bound, in safe arithmetic.

Let the jobs S use u units of a resource together, and let the largest machine have c. If all of them run in a slot t,
k = ceil(u / c) machines are on. With rest = u - (k - 1) c and slopes g_j = min(1, u_j / rest), every schedule has

    sum_m v_mt >= k - sum_{j in S} g_j (1 - [j runs in t]).

To see it, take jobs out of S. One of `rest` units or more saves a machine at most, since no job is larger than the
largest machine. The others save the first machine once they have `rest` units together, and each further one once they
have c more, which is no less than `rest`: s units of them save s / rest machines at most.

At a price pi >= 0 the cut adds pi (k - sum g_j) to the bound, a job of S pays pi g_j where it runs in t, and a machine
that is on in t is paid pi.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.certificate import prices_of
from carbonopt.core.directed import down, up
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.ecas.data.instance import EcasInstance


@dataclass(frozen=True)
class CutTerms:
    """What cuts add.

    Parameters
    ----------
    constant
        Terms of the bound, rounded down.
    charges
        What each job pays where it runs: pairs of slots and amounts, rounded down.
    paid
        What each machine is paid while it is on, rounded up, shape (T,).
    """

    constant: list[float]
    charges: list[list[tuple[int, float]]]
    paid: FloatArray


def terms_of(instance: EcasInstance, given: Any) -> CutTerms:
    """Return what the cuts of a certificate add.

    Parameters
    ----------
    given
        ``{"slot": [...], "resource": [...], "jobs": [[...], ...], "prices": [...]}``, one entry for each cut, or None.

    Raises
    ------
    InputError
        If it is anything else.
    """
    terms = CutTerms([], [[] for _ in range(len(instance.jobs))], np.zeros(instance.time.slots))
    if given is None:
        return terms
    for t, r, jobs, price in _cuts(instance, given):
        capacity = int(instance.machines.capacity[:, r].max(initial=0))
        use = [int(instance.jobs.use[j, r]) for j in jobs]
        if capacity == 0 or sum(use) == 0:
            continue
        machines = -(-sum(use) // capacity)
        rest = sum(use) - (machines - 1) * capacity
        saved = [min(units, rest) for units in use]  # slopes times rest
        each = Fraction(price) / rest
        terms.constant.append(_below(each * (machines * rest - sum(saved))))
        terms.paid[t] = up(terms.paid[t] + price)
        for j, units in zip(jobs, saved, strict=True):
            terms.charges[j].append((t, _below(each * units)))
    return terms


def _below(exact: Fraction) -> float:
    """Return a double that is no larger."""
    return float(down(float(exact)))


def _cuts(instance: EcasInstance, given: Any) -> list[tuple[int, int, list[int], float]]:
    """Return slot, resource, jobs and price of each cut."""
    if not isinstance(given, dict) or not isinstance(given.get("jobs"), list):
        raise InputError(Fault("certificate.cuts", "must have slot, resource, jobs and prices", shown(given)))
    jobs = given["jobs"]
    slot = _whole(given.get("slot"), "slot", len(jobs), instance.time.slots)
    resource = _whole(given.get("resource"), "resource", len(jobs), len(instance.resources))
    try:
        prices = prices_of(given, "prices", len(jobs))
    except InputError as error:
        raise InputError(Fault("certificate.cuts.prices", error.faults[0].problem)) from None
    checked = [_whole(part, f"jobs[{k}]", None, len(instance.jobs)) for k, part in enumerate(jobs)]
    for k, part in enumerate(checked):
        if len(set(part)) < len(part):
            raise InputError(Fault(f"certificate.cuts.jobs[{k}]", "must name each job once"))
    return list(zip(slot, resource, checked, prices.tolist(), strict=True))


def _whole(given: Any, field: str, count: int | None, below: int) -> list[int]:
    """Return whole numbers from 0 to below `below`."""
    numbers = given if isinstance(given, list) else None
    fine = numbers is not None and all(type(n) is int and 0 <= n < below for n in numbers)
    if numbers is None or not fine or count not in (None, len(numbers)):
        words = f"must be whole numbers from 0 to below {below}"
        raise InputError(Fault(f"certificate.cuts.{field}", words if count is None else f"{words}, one for each cut"))
    return numbers
