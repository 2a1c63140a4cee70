"""Loops over arrays that are compiled where that pays, and run as plain Python where it does not.

To import numba and load a compiled function from its cache took 0.6 to 1.1 s, to compile one the
first time 2 s more (measured). A small case is done by then, so numba is imported only where a
kernel is told to expect many steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

PLAIN_STEPS = 2_000_000
"""Below this number of loop steps, at worst, plain Python ends about when numba would be ready."""


class Kernel(Generic[P, R]):
    """A function of numpy arrays and numbers that can be compiled; made by `compiled`.

    Calling it runs the machine code, which is compiled at the first call and cached on disk.

    Attributes
    ----------
    plain
        The function itself, interpreted.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.plain = function
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the machine code."""
        return self.machine(*args, **kwargs)

    @cached_property
    def machine(self) -> Callable[P, R]:
        """The function as numba's dispatcher: imports numba, compiles at the first call."""
        numba: Any = import_module("numba")
        # a call copies its named tuples and counts references: 5.3 us inlined, else 8.6
        how = {"forceinline": True, "no_cfunc_wrapper": True}
        try:
            return _typed(numba.njit(cache=True, **how)(self.plain))
        except RuntimeError:  # no folder for the cache: the source is no file, or nothing is writable
            return _typed(numba.njit(self.plain, **how))

    @cached_property
    def inner(self) -> Callable[P, R]:
        """The function as a part of others that numba compiles: without what Python needs to call it."""
        numba: Any = import_module("numba")
        return _typed(numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(self.plain))

    @property
    def is_ready(self) -> bool:
        """Whether the machine code is in memory or on disk, so that the next call need not compile it."""
        machine: Any = self.machine
        folder = machine.stats.cache_path
        name = f"*.{machine.py_func.__qualname__}-*.nbi"
        return bool(machine.signatures) or (folder is not None and any(Path(folder).glob(name)))

    def choose(self, steps: float) -> Callable[P, R]:
        """Return the way to run it that ends first.

        Parameters
        ----------
        steps
            Rough number of loop steps of all calls together, at worst.
        """
        return self.plain if steps < PLAIN_STEPS else self.machine


def compiled(function: Callable[P, R]) -> Kernel[P, R]:
    """Return `function` as a kernel.

    Parameters
    ----------
    function
        Python that numba compiles: loops over numpy arrays and numbers, named tuples of arrays. It
        calls no other kernel, so that the cache of its machine code holds all of it.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled
    ... def total(values):
    ...     result = 0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> int(total.plain(np.array([1, 2, 3])))
    6
    >>> int(total.choose(steps=3)(np.array([1, 2, 3])))  # plain: three steps are few
    6
    """
    return Kernel(function)


def _typed(dispatcher: Any) -> Callable[P, R]:
    result: Callable[P, R] = dispatcher
    return result
