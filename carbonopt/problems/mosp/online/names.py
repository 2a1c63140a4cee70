"""The policies that have names, and the options that each name stands for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.problems.mosp.online.rolling import Rolling

PRICED: Mapping[str, Any] = MappingProxyType({"method": "auto", "seconds": 2.0})
"""`price`, and HiGHS where the program of a period is so small that it closes it sooner."""
POLICIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "caspian": {},
        "caspian-lp": {"method": "lp-rounding"},
        "caspian-milp": {"method": "milp"},
        "caspian-price": PRICED,
        "caspian-stable": {**PRICED, "change_share": 0.2, "budget_share": 0.002},
        "caspian-no-migration": {"migration": None},
        "caspian-no-suspend": {"suspend": False},
        "earliest-random": {"method": "greedy-random", "suspend": False},
        "earliest-clean": {"method": "greedy-clean", "suspend": False},
    }
)


def make_policy(name: str, **changes: Any) -> Rolling:
    """Return a new policy of that name, with other options than its own where `changes` says so.

    Raises
    ------
    UnsupportedError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> make_policy("caspian-no-suspend").pieces
    'none'
    """
    if name not in POLICIES:
        known = one_of(tuple(POLICIES), limit=len(POLICIES))
        words = f"must be {known}, or a file's own: my_policy.py:MyPolicy"
        raise UnsupportedError(f"unknown policy {name!r} for problem 'mosp': {words}")
    return Rolling(**{**POLICIES[name], **changes})
