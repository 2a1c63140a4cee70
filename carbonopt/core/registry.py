"""Problems and their methods: one line a problem here, one line a method in the problem's folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of

PROBLEMS: dict[str, str] = {
    "mosp": "carbonopt.problems.mosp",
    "elastic": "carbonopt.problems.elastic",
    "purchasing": "carbonopt.problems.purchasing",
    "mlcluster": "carbonopt.problems.mlcluster",
}


@dataclass(frozen=True)
class Method:
    """One way to solve a problem.

    Parameters
    ----------
    function
        ``module:function``, imported when it is first used; called with (instance, options).
    summary
        One line for ``--help`` and the docs.
    exact
        Whether it ends in a proven optimum, given time and memory.
    bound_only
        Whether it may return a bound and no schedule.
    needs
        What it needs of an instance, where it does not take every one; it refuses others.
    """

    function: str
    summary: str
    exact: bool = False
    bound_only: bool = False
    needs: str = ""


@dataclass(frozen=True)
class PolicyEntry:
    """One online policy of a problem.

    Parameters
    ----------
    summary
        One line for ``--help`` and the docs.
    reference
        ``module:Class`` of a `carbonopt.simulation.Policy` that the engine makes itself; empty where the
        problem's ``simulate`` does, from the name.
    """

    summary: str
    reference: str = ""


@dataclass(frozen=True)
class Problem:
    """What a problem's folder offers to the rest of the package.

    Parameters
    ----------
    name
        As in the files' ``problem`` field.
    title
        One line.
    methods
        By name, in the order in which tables show them.
    functions
        ``module:function`` of each role: ``read``, ``check``, ``choose``, ``formulate``, ...
    compared
        Methods that `compare` runs unless told otherwise.
    shown
        Metrics that tables of `compare` and `simulate` show, with the heads of their columns; a column that no
        row fills is left out.
    quick
        A heuristic that ends in no time, for whoever has none.
    policies
        Online policies that ``simulate`` runs, by name, in the order in which tables show them.
    baseline
        The policy that savings are over.
    """

    name: str
    title: str
    methods: Mapping[str, Method]
    functions: Mapping[str, str]
    compared: tuple[str, ...]
    shown: Mapping[str, str]
    quick: str
    policies: Mapping[str, PolicyEntry] = field(default_factory=dict)
    baseline: str = ""

    def function(self, role: str) -> Callable[..., Any]:
        """Return the function that plays `role`.

        Raises
        ------
        UnsupportedError
            If the problem has none.
        """
        if role not in self.functions:
            raise UnsupportedError(f"problem {self.name!r} has no {role!r}")
        return load(self.functions[role])

    def method(self, name: str) -> Method:
        """Return the method of that name.

        Raises
        ------
        UnsupportedError
            If the problem has none; the message lists those it has.
        """
        if name not in self.methods:
            known = one_of(("auto", *self.methods))
            raise UnsupportedError(f"unknown method {name!r} for problem {self.name!r}: must be {known}")
        return self.methods[name]


def problem_of(name: str) -> Problem:
    """Return the problem of that name.

    Raises
    ------
    UnsupportedError
        If there is none; the message lists those there are.
    """
    if name not in PROBLEMS:
        raise UnsupportedError(f"unknown problem {name!r}: must be {one_of(tuple(PROBLEMS))}")
    problem: Problem = import_module(PROBLEMS[name]).PROBLEM
    return problem


def load(reference: str) -> Callable[..., Any]:
    """Return the function that ``module:function`` names."""
    module, _, name = reference.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
