"""Problems, their methods and their policies: each problem's folder holds a card that says what it offers.

The folders of `carbonopt.problems` are problems of their own accord. A problem of another package is found by an
entry point of the group ``carbonopt.problems``, whose name is the problem's and whose value is the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from os import PathLike
from pathlib import Path
from typing import Any

from carbonopt.core.errors import InputError, RefusedError, UnsupportedError, one_of
from carbonopt.core.parameters import Parameters, read_parameters

GivenParameters = Parameters | Mapping[str, Any] | str | PathLike[str] | None
"""What `carbonopt.solve` takes as parameters: an object, a mapping, a TOML file, or None for the defaults."""
GROUP = "carbonopt.problems"
"""Entry-point group of problems, and the package that holds carbonopt's own."""


@dataclass(frozen=True)
class Entry:
    """What methods and policies share.

    Parameters
    ----------
    respects
        Optional constraints (`carbonopt.Instance.constraints`) that it respects; an instance with another one is
        refused before it begins.
    """

    respects: tuple[str, ...] = field(default=(), kw_only=True)

    def is_for(self, instance: Any) -> bool:
        """Return whether it respects every optional constraint of an instance."""
        return set(instance.constraints) <= set(self.respects)


@dataclass(frozen=True)
class Method(Entry):
    """One way to solve a problem.

    Parameters
    ----------
    reference
        ``.room.module:function``, imported when it is first used; called with ``(instance, options, **settings)``.
    summary
        One line for ``--help`` and the docs.
    settings
        What tells this method from others that the same function makes.
    parameters
        ``.room.module:Class`` of the `carbonopt.core.parameters.Parameters` that it takes; empty for none.
    exact
        Whether it ends in a proven optimum, given time and memory.
    bound_only
        Whether it may return a bound and no schedule.
    takes_start
        Whether what it returns is never worse than the schedule that it is given to start from. Others refuse one.
    needs
        What it needs of an instance, where it does not take every one; it refuses others.
    certificate
        Whether its bound carries what `carbonopt check` recomputes it from: ``yes``, ``partly`` where a better bound
        without one may be reported beside it, or ``no``. Empty where it proves no bound.
    """

    reference: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    parameters: str = ""
    exact: bool = False
    bound_only: bool = False
    takes_start: bool = False
    needs: str = ""
    certificate: str = ""


@dataclass(frozen=True)
class PolicyEntry(Entry):
    """One online policy of a problem.

    Parameters
    ----------
    reference
        ``.room.module:Class``: called with the settings, it makes what the problem's ``simulate`` takes, for most
        problems a `carbonopt.simulation.Policy`.
    summary
        One line for ``--help`` and the docs.
    settings
        What tells this policy from others of the same class. A user may change them, and any other parameter of
        the class: ``green:mu=1``.
    """

    reference: str
    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Warmup:
    """A small instance and what runs on it, so that every loop of the problem is compiled once.

    Parameters
    ----------
    parameters
        Of the problem's ``generate``.
    methods, policies
        That run on it.
    params
        Of the methods: such that each loop runs, and none for long.
    mip_rel_gap
        At which methods end.
    """

    parameters: Mapping[str, Any]
    methods: tuple[str, ...] = ("price",)
    policies: tuple[str, ...] = ()
    params: Mapping[str, Any] | None = None
    mip_rel_gap: float = 0.05


@dataclass(frozen=True)
class Problem:
    """A problem's card: what its folder offers to the rest of the package.

    References are relative to the folder, as in Python's own relative imports: ``.data.file:from_dict``.

    Parameters
    ----------
    name
        As in the files' ``problem`` field.
    package
        The folder as a module: ``__name__``.
    title
        One line.
    roles
        Functions that the rest of the package calls: ``read``, ``check``, ``choose``, ``formulate``, ...
    methods
        By name, in the order in which tables show them.
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
    lengths_known
        Whether every policy knows run times, because the problem has no classes of jobs.
    warmups
        What `carbonopt compile` runs.
    """

    name: str
    package: str
    title: str
    roles: Mapping[str, str]
    methods: Mapping[str, Method]
    compared: tuple[str, ...]
    shown: Mapping[str, str]
    quick: str
    policies: Mapping[str, PolicyEntry] = field(default_factory=dict)
    baseline: str = ""
    lengths_known: bool = False
    warmups: tuple[Warmup, ...] = ()

    def load(self, reference: str) -> Any:
        """Return what a reference of the card names."""
        return load(reference, self.package)

    def role(self, name: str) -> Callable[..., Any]:
        """Return the function that plays a role.

        Raises
        ------
        UnsupportedError
            If the problem has none.
        """
        if name not in self.roles:
            raise UnsupportedError(f"problem {self.name!r} has no {name!r}")
        function: Callable[..., Any] = self.load(self.roles[name])
        return function

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

    def choose(self, instance: Any, from_start: bool = False) -> str:
        """Return the method that ``auto`` stands for.

        It is the problem's choice, or else the first that respects the instance and, with `from_start`, takes a
        schedule to start from.
        """
        chosen: str = self.role("choose")(instance)
        names = (chosen, *(name for name, entry in self.methods.items() if not entry.bound_only))
        fitting = (name for name in names if self.methods[name].is_for(instance))
        return next((name for name in fitting if self.methods[name].takes_start or not from_start), chosen)

    def require_respect(self, kind: str, name: str, instance: Any) -> None:
        """Refuse an instance with an optional constraint that a method or policy does not respect.

        Parameters
        ----------
        kind
            ``method`` or ``policy``.
        name
            Of the method or policy.
        instance
            Its `constraints` are looked at.

        Raises
        ------
        RefusedError
            It names the constraint, and who respects it.
        """
        entries: Mapping[str, Entry] = self.methods if kind == "method" else self.policies
        for constraint in instance.constraints:
            if constraint not in entries[name].respects:
                able = tuple(other for other, entry in entries.items() if constraint in entry.respects)
                if able:
                    others = f"must be {one_of(able, limit=len(able))}"
                else:
                    others = f"no {kind} does"
                raise RefusedError(f"{kind} {name!r} does not respect {constraint}, which the instance has: {others}")

    def require_start_taken(self, name: str) -> None:
        """Refuse a schedule to start from where a method would not use it.

        Raises
        ------
        UnsupportedError
            It says which methods would.
        """
        entry = self.method(name)
        if entry.takes_start:
            return
        does = "bounds the optimum" if entry.bound_only else "makes its schedule from nothing"
        able = tuple(other for other, method in self.methods.items() if method.takes_start)
        others = f": must be {one_of(able, limit=len(able))}" if able else ""
        raise UnsupportedError(f"{name} {does} and takes no initial solution{others}")

    def run(self, method: str, instance: Any, options: Any) -> Any:
        """Run a method: its `Outcome`, unchecked.

        Raises
        ------
        RefusedError
            If the instance has an optional constraint that the method does not respect.
        """
        entry = self.method(method)
        self.require_respect("method", method, instance)
        return self.load(entry.reference)(instance, options, **entry.settings)

    def parameters(self, method: str, given: GivenParameters) -> Parameters | None:
        """Return the parameters of a method, changed as `given` says; None where the method has none.

        Raises
        ------
        UnsupportedError
            If `given` are parameters of another method, or the method has none.
        InputError
            With every unknown name and wrong value of a mapping or a file.
        """
        reference = self.method(method).parameters
        if not reference:
            if given:
                raise UnsupportedError(f"method {method!r} of problem {self.name!r} takes no params")
            return None
        kind: type[Parameters] = self.load(reference)
        if isinstance(given, (str, PathLike)):
            try:
                return kind.of(read_parameters(given))
            except InputError as error:
                raise error.in_file(given) from None
        if given is None or isinstance(given, Mapping):
            return kind.of(given or {}, "params")
        if not isinstance(given, kind):
            raise UnsupportedError(f"params of method {method!r}: must be {kind.__name__}, not {type(given).__name__}")
        return given


@cache
def packages() -> Mapping[str, str]:
    """Return the package of each problem by name: carbonopt's own, and those of entry points.

    They are looked up once; ``packages.cache_clear()`` has them looked up again.
    """
    folder = Path(__file__).parents[1] / "problems"
    own = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
    found = {name: f"{GROUP}.{name}" for name in own}
    return {**{point.name: point.value for point in entry_points(group=GROUP)}, **found}


def problem_names() -> tuple[str, ...]:
    """Return the names of all problems."""
    return tuple(sorted(packages()))


def problem_of(name: str) -> Problem:
    """Return the problem of that name.

    Raises
    ------
    UnsupportedError
        If there is none; the message lists those there are.
    """
    if name not in packages():
        raise UnsupportedError(f"unknown problem {name!r}: must be {one_of(problem_names())}")
    problem: Problem = import_module(packages()[name]).PROBLEM
    return problem


def load(reference: str, package: str | None = None) -> Any:
    """Return what ``module:name`` names; a module that begins with a dot is one of `package`."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module, package), name)
