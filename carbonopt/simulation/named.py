"""Policies by name: what a problem's card lists, with settings of the user's own."""

from __future__ import annotations

from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.registry import Problem
from carbonopt.simulation.policy_option import read_option


def make_policy(problem: Problem, text: str, **changes: Any) -> Any:
    """Return a new policy of a problem.

    Parameters
    ----------
    problem
        Its card lists the names.
    text
        A name, then any settings of its class that differ from the name's own: ``green:mu=1,theta=0.5``.
    **changes
        The same from Python.

    Returns
    -------
    object
        What the problem's ``simulate`` takes, for most problems a `carbonopt.simulation.Policy`.

    Raises
    ------
    UnsupportedError
        For an unknown name or setting, or a value of another type or out of range.

    Examples
    --------
    >>> from carbonopt.core.registry import problem_of
    >>> make_policy(problem_of("mlcluster"), "green:mu=1.5,upper=degradation").options.mu
    1.5
    """
    name, _, settings = text.partition(":")
    if name not in problem.policies:
        known = one_of(tuple(problem.policies), limit=len(problem.policies))
        words = f"must be {known}, or a file's own: my_policy.py:MyPolicy"
        raise UnsupportedError(f"unknown policy {name!r} for problem {problem.name!r}: {words}")
    entry = problem.policies[name]
    kind = problem.load(entry.reference)
    given = dict(entry.settings)
    try:
        for item in filter(None, settings.split(",")):
            key, equals, value = item.partition("=")
            if not equals:
                raise UnsupportedError(f"{item!r} must be option=value")
            given |= read_option(getattr(kind, "Options", kind), key.strip(), value.strip())
        return kind(**given | changes)
    except UnsupportedError as error:
        raise UnsupportedError(f"policy {text!r}: {error}" if settings else str(error)) from None
