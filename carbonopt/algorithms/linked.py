"""Kernels that call other kernels: compiled together, or interpreted together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, ParamSpec, TypeVar
from zlib import crc32

from carbonopt.algorithms.compiled import Kernel, compiled

P = ParamSpec("P")
R = TypeVar("R")


class Linked(Kernel[P, R]):
    """A kernel that may call other linked kernels by their names in its module."""

    @cached_property
    def interpreted(self) -> Callable[P, R]:
        """The function with all that it calls interpreted."""
        return self._with(lambda kernel: kernel.interpreted)

    @cached_property
    def machine(self) -> Callable[P, R]:
        """The function with all that it calls compiled."""
        return compiled(self._with(lambda kernel: kernel.inner, self._stamp())).machine

    @cached_property
    def inner(self) -> Callable[P, R]:
        """The function and all that it calls as a part of others: compiled in two thirds of the time."""
        return compiled(self._with(lambda kernel: kernel.inner)).inner

    def called(self) -> dict[str, Linked[..., Any]]:
        """Return the linked kernels that the function calls, by name."""
        function: Any = self.plain
        known = function.__globals__
        return {name: known[name] for name in function.__code__.co_names if isinstance(known.get(name), Linked)}

    def files(self) -> Iterator[str]:
        """Yield the source files of the function and of all that it calls."""
        function: Any = self.plain
        yield function.__code__.co_filename
        for kernel in self.called().values():
            yield from kernel.files()

    def _stamp(self) -> str:
        """Return a mark of all that it may depend on: numba's cache looks at the function's own file only.

        That is what it calls in other files, and the order of fields in the named tuples that it takes, which are
        defined in the folders of these files.
        """
        folders = sorted({Path(name).parent for name in self.files() if Path(name).exists()})
        times = [path.stat().st_mtime_ns for folder in folders for path in sorted(folder.glob("*.py"))]
        return f"_{crc32(repr(times).encode()):08x}" if times else ""

    def _with(self, form: Callable[[Linked[..., Any]], Any], mark: str = "") -> Callable[P, R]:
        """Return the function with its kernels replaced, under a name with a mark."""
        function: Any = self.plain
        replaced = {name: form(kernel) for name, kernel in self.called().items()}
        if not replaced and not mark:
            return self.plain
        known = {**function.__globals__, **replaced}
        copy: Any = FunctionType(function.__code__, known, function.__name__, function.__defaults__)
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__ + mark
        result: Callable[P, R] = copy
        return result


def linked(function: Callable[P, R]) -> Linked[P, R]:
    """Return `function` as a kernel that may call other linked kernels.

    Examples
    --------
    >>> @linked
    ... def double(x):
    ...     return 2 * x
    >>> @linked
    ... def quadruple(x):
    ...     return double(double(x))
    >>> quadruple.interpreted(3)
    12
    """
    return Linked(function)
