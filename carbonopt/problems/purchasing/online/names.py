"""Names of the policies: how a start is chosen, and which CPUs are bought."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.problems.purchasing import PROBLEM
from carbonopt.problems.purchasing.data.instance import PurchasingInstance

START_TIMES = ("no-wait", "all-wait-threshold", "lowest-slot", "lowest-window", "carbon-time")
SUSPENDING = ("wait-awhile", "ecovisor")
FORMS = ("spot-first", "spot-res", "res-first")


@dataclass(frozen=True)
class PolicyName:
    """A policy's name, taken apart.

    Parameters
    ----------
    base
        How it decides when jobs run: one of `START_TIMES` or `SUSPENDING`.
    spot
        Whether jobs that may run on spot CPUs do.
    conserving
        Whether other jobs start before their time wherever reserved CPUs are free for them.
    """

    base: str
    spot: bool = False
    conserving: bool = False


def applicable(instance: PurchasingInstance, name: str) -> bool:
    """Return whether an instance has what a policy is for: those that buy spot CPUs need some on offer."""
    return instance.spot is not None or not parse_name(name).spot


def parse_name(name: str) -> PolicyName:
    """Take a policy's name apart.

    Raises
    ------
    UnsupportedError
        If there is no such policy; the message lists those there are.

    Examples
    --------
    >>> parse_name("spot-res-carbon-time")
    PolicyName(base='carbon-time', spot=True, conserving=True)
    """
    form = next((form for form in FORMS if name.startswith(f"{form}-")), "")
    base = name.removeprefix(f"{form}-") if form else name
    if base in SUSPENDING and form in ("", "spot-first"):
        return PolicyName(base, spot=bool(form))
    if base in START_TIMES:
        conserving = form in ("res-first", "spot-res") or base == "all-wait-threshold"
        return PolicyName(base, spot=form.startswith("spot"), conserving=conserving)
    known = tuple(PROBLEM.policies)
    words = f"must be {one_of(known, limit=len(known))}, or a file's own: my_policy.py:MyPolicy"
    raise UnsupportedError(f"unknown policy {name!r} for problem 'purchasing': {words}")
