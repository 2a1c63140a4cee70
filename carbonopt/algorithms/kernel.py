"""Loops over arrays that numba compiles: one decorator, and one decision a solve whether they are compiled.

To import numba and load a function from its cache takes 0.6 to 1.1 s, to compile one the first time 2 s more
(measured). A small case is done by then in plain Python. Whoever begins a solve says how many loop steps it takes at
worst, once: ``with loops(steps=...):``. Every kernel that is called inside, from Python or from another kernel, runs
in the same way. Outside kernels run compiled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from importlib import import_module
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

PLAIN_STEPS = 2_000_000
"""Below this number of loop steps, at worst, plain Python ends about when numba would be ready."""

_LOG = logging.getLogger("carbonopt")
_interpreted: ContextVar[bool | None] = ContextVar("interpreted", default=None)
_compile_seconds: ContextVar[float] = ContextVar("compile_seconds", default=0.0)
_told: list[str] = []


class Kernel(Generic[P, R]):
    """A function of numpy arrays, numbers and named tuples that can be compiled; made by `kernel`.

    Attributes
    ----------
    function
        The function itself, as Python.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the kernel as the solve has decided: compiled, or as Python."""
        run = self.function if _interpreted.get() else self.machine
        return run(*args, **kwargs)

    @cached_property
    def machine(self) -> Callable[P, R]:
        """The function as numba's dispatcher: imports numba; compiles at the first call, or loads what it has kept."""
        machine: Callable[P, R] = import_module("carbonopt.algorithms.machine").dispatcher(self)
        return machine

    @cached_property
    def part(self) -> Callable[P, R]:
        """The function as a part of other kernels, without what Python needs to call it."""
        part: Callable[P, R] = import_module("carbonopt.algorithms.machine").part(self)
        return part

    @property
    def is_ready(self) -> bool:
        """Whether machine code is in memory or on disk, so that the next call need not compile it."""
        ready: bool = import_module("carbonopt.algorithms.machine").is_ready(self.machine)
        return ready


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Return `function` as a kernel.

    Parameters
    ----------
    function
        Python that numba compiles: loops over numpy arrays and numbers, and named tuples of these. It may call other
        kernels by their names in its module.

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
    return Kernel(function)


@contextmanager
def loops(steps: float, kernels: Iterable[Kernel[..., Any]] = (), compile_seconds: float = 0.0) -> Iterator[bool]:
    """Decide for all kernels that are called inside whether they run compiled; the outermost decision holds.

    Parameters
    ----------
    steps
        Rough number of loop steps of all calls together, at worst.
    kernels
        The large ones.
    compile_seconds
        About how long it takes to compile them all. It is told in one line, once, when a first one is compiled.

    Yields
    ------
    bool
        Whether all of `kernels` are ready to run: False where they must be compiled first.
    """
    if _interpreted.get() is not None:
        yield bool(_interpreted.get()) or all(kernel.is_ready for kernel in kernels)
        return
    decided = _interpreted.set(steps < PLAIN_STEPS)
    expected = _compile_seconds.set(compile_seconds)
    try:
        yield steps < PLAIN_STEPS or all(kernel.is_ready for kernel in kernels)
    finally:
        _compile_seconds.reset(expected)
        _interpreted.reset(decided)


def tell_compiling() -> None:
    """Say once that loops are compiled, where whoever began the solve said how long that takes."""
    if _compile_seconds.get() > 0 and not _told:
        _told.append("compiling")
        words = "compiling loops, once on this machine: about %.0f s (`carbonopt compile` does it beforehand)"
        _LOG.warning(words, _compile_seconds.get())
