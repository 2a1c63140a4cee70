"""Loops over arrays that numba compiles: two decorators, and one decision a solve whether they are compiled.

To import numba and load a function from its cache takes 0.6 to 1.1 s, to compile one the first time 2 s more
(measured). A small case is done by then in plain Python. Whoever begins a solve says how many loop steps it takes at
worst, once: ``with loops(steps=...):``. Every kernel that is called inside, from Python or from another kernel, runs
in the same way. Outside kernels run compiled.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from importlib import import_module
from math import inf
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from carbonopt.core.memory import require_free_addresses

P = ParamSpec("P")
R = TypeVar("R")

PLAIN_STEPS = 2_000_000
"""Below this number of loop steps, at worst, plain Python ends about when numba would be ready."""

NUMBA_BYTES = 200 * 2**20
MACHINE_BYTES = 64 * 2**20
"""Addresses that numba takes to load (172 MiB measured), and to compile one function.

Where they run out inside, the compiler ends in whatever way it happens to.
"""

_LOG = logging.getLogger("carbonopt")


class _Plan(NamedTuple):
    """What a solve has decided: whether its kernels run as Python, and what is told of compiling them."""

    is_interpreted: bool
    compile_seconds: float
    problem: str
    command: str


class NotCompiledError(Exception):
    """Loops are not compiled, within `requiring_loops`: no method catches it."""


_plan: ContextVar[_Plan | None] = ContextVar("plan", default=None)
_missed: ContextVar[list[str] | None] = ContextVar("missed", default=None)
_is_required: ContextVar[bool] = ContextVar("is_required", default=False)
_told: set[str] = set()


class Kernel(Generic[P, R]):
    """A function of numpy arrays, numbers and named tuples that can be compiled; made by `kernel` or `managed_kernel`.

    Attributes
    ----------
    function
        The function itself, as Python.
    is_managed
        Whether it makes or returns arrays, or draws from a generator of random numbers.
    """

    def __init__(self, function: Callable[P, R], *, is_managed: bool) -> None:
        self.function = function
        self.is_managed = is_managed
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the kernel as the solve has decided: compiled, or as Python."""
        plan = _plan.get()
        run = self.function if plan is not None and plan.is_interpreted else self.machine
        return run(*args, **kwargs)

    @cached_property
    def machine(self) -> Callable[P, R]:
        """The function as numba's dispatcher: imports numba; compiles at the first call, or loads what it has kept."""
        machine: Callable[P, R] = _machines().dispatcher(self)
        return machine

    @cached_property
    def part(self) -> Callable[P, R]:
        """The function as a part of other kernels, without what Python needs to call it."""
        part: Callable[P, R] = _machines().part(self)
        return part

    @property
    def is_ready(self) -> bool:
        """Whether machine code is in memory or on disk, so that the next call need not compile it."""
        ready: bool = _machines().is_ready(self.machine)
        return ready


def _machines() -> Any:
    """Return the module that compiles, which imports numba, with the addresses to do it."""
    name = "carbonopt.algorithms.machine"
    require_free_addresses("compiled loops", MACHINE_BYTES if name in sys.modules else NUMBA_BYTES)
    return import_module(name)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Return `function` as a kernel that works in the arrays it is given.

    References to these arrays are not counted: that takes up to three fifths of the time of a search (measured). Numba
    refuses to compile it if it makes an array, or draws from a generator.

    Parameters
    ----------
    function
        Python that numba compiles: loops over numpy arrays and numbers, and named tuples of these. It may call other
        kernels by their names in its module.

    Raises
    ------
    TypeError
        If it returns arrays, by its annotations.

    Examples
    --------
    >>> @kernel
    ... def double(x):
    ...     return 2 * x
    >>> @kernel
    ... def quadruple(x):
    ...     return double(double(x))
    >>> with loops(steps=2):  # two steps are few: plain Python
    ...     quadruple(3)
    12
    """
    if "Array" in str(function.__annotations__.get("return")):
        raise TypeError(f"{function.__qualname__} returns arrays: make it a managed_kernel")
    return Kernel(function, is_managed=False)


def managed_kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Return `function` as a kernel that may make arrays, return them, and draw random numbers; see `kernel`."""
    return Kernel(function, is_managed=True)


@contextmanager
def loops(
    steps: float,
    kernels: Iterable[Kernel[..., Any]] = (),
    compile_seconds: float = 0.0,
    *,
    remaining: float = inf,
    problem: str = "",
    command: str = "",
) -> Iterator[bool]:
    """Decide for all kernels that are called inside whether they run compiled; the outermost decision holds.

    Parameters
    ----------
    steps
        Rough number of loop steps of all calls together, at worst.
    kernels
        The large ones.
    compile_seconds
        About how long it takes to compile them all. It is told in one line, once, when a first one is compiled.
    remaining
        Time that is left for all [s].
    problem
        Name of the problem, for this line.
    command
        What compiles them beforehand, for this line; `carbonopt compile` by default.

    Yields
    ------
    bool
        Whether the kernels are to be called: as Python, compiled already, or with the time to compile them. Where
        they are not, that is told in one line, once, and the caller does without them; `noting_missed` notes it.

    Raises
    ------
    NotCompiledError
        Within `requiring_loops`, where some of `kernels` are not compiled.
    """
    if _plan.get() is not None:
        yield _is_ready(kernels, compile_seconds, remaining)
        return
    command = command or f"carbonopt compile {problem}".rstrip()
    plan = _plan.set(_Plan(steps < PLAIN_STEPS, compile_seconds, problem, command))
    try:
        yield _is_ready(kernels, compile_seconds, remaining)
    finally:
        _plan.reset(plan)


def _is_ready(kernels: Iterable[Kernel[..., Any]], compile_seconds: float, remaining: float) -> bool:
    plan = _plan.get()
    assert plan is not None
    if plan.is_interpreted or (remaining >= compile_seconds and not _is_required.get()):
        return True
    if all(kernel.is_ready for kernel in kernels):
        return True
    if _is_required.get():
        raise NotCompiledError(plan.command)
    missed = _missed.get()
    if missed is not None:
        missed.append(plan.command)
    words = "loops are not compiled, and to compile them takes about %.0f s, more than the %.1f s that are left"
    _tell_once(f"{words}: `%s` does it beforehand", compile_seconds, remaining, plan.command)
    return False


@contextmanager
def noting_missed() -> Iterator[list[str]]:
    """Note what is done without loops because there is no time to compile them.

    Yields
    ------
    list
        For each such decision inside, the command that compiles them; empty where none was made.
    """
    missed: list[str] = []
    token = _missed.set(missed)
    try:
        yield missed
    finally:
        _missed.reset(token)


@contextmanager
def requiring_loops() -> Iterator[None]:
    """Raise `NotCompiledError` inside where large loops are wanted that are not compiled, however much time is left."""
    token = _is_required.set(True)
    try:
        yield
    finally:
        _is_required.reset(token)


def tell_compiling() -> None:
    """Say once that loops are compiled, where whoever began the solve said how long that takes."""
    plan = _plan.get()
    if plan is not None and plan.compile_seconds > 0:
        what = f"loops of {plan.problem}" if plan.problem else "loops"
        words = "compiling %s that no earlier run has left: up to about %.0f s (`%s` compiles all beforehand)"
        _tell_once(words, what, plan.compile_seconds, plan.command)


def _tell_once(words: str, *values: object) -> None:
    if words not in _told:
        _told.add(words)
        _LOG.warning(words, *values)
