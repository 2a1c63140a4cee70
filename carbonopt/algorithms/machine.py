"""How numba compiles kernels, and where their machine code is kept. Imports numba.

The cache is keyed by the content that a kernel is made of: its own bytecode, that of the kernels that it calls, the
constants that they read, and the fields of the named tuples that they take. Files that are touched, moved lines,
comments and docstrings change none of these, and recompile nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, NoneType
from typing import Any

import numba
import numpy as np
from numba.core import caching as numba_caching
from numba.core import event
from numba.core import types as numba_types
from numba.extending import typeof_impl

from carbonopt.algorithms.kernel import Kernel, tell_compiling

njit: Any = numba.njit  # what follows is not all in its stubs
caching: Any = numba_caching
types: Any = numba_types

INLINED = {"forceinline": True, "no_cfunc_wrapper": True}
"""A call copies its named tuples: 5.3 us inlined, else 8.6 (measured)."""


class _Teller(event.Listener):
    """Tells when a kernel is compiled that is not on disk."""

    def on_start(self, _event: Any) -> None:
        """Tell of the first one."""
        tell_compiling()

    def on_end(self, _event: Any) -> None:
        """Do nothing."""


event.register("numba:compile", _Teller())  # type: ignore[no-untyped-call]


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel[..., Any], _context: Any) -> Any:
    """Let numba see a kernel that another one names as the function that it is."""
    return types.Dispatcher(kernel.part)


def dispatcher(kernel: Kernel[..., Any]) -> Any:
    """Return numba's dispatcher of a kernel, with its machine code kept on disk where that can be written."""
    found = njit(_nrt=kernel.is_managed, **INLINED)(kernel.function)
    with suppress(RuntimeError):  # no folder for the cache: the source is no file, or nothing is writable
        found._cache = _KernelCache(kernel)
    return found


def part(kernel: Kernel[..., Any]) -> Any:
    """Return numba's dispatcher of a kernel that others call: it is kept as a part of theirs."""
    return njit(_nrt=kernel.is_managed, no_cpython_wrapper=True, **INLINED)(kernel.function)


def is_ready(machine: Any) -> bool:
    """Return whether a dispatcher has machine code in memory or on disk."""
    kept = machine._cache
    return bool(machine.signatures) or (isinstance(kept, _KernelCache) and kept.index.exists())


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Names files after the content that a kernel is made of."""

    def __init__(self, function: FunctionType, stamp: str) -> None:
        self.stamp = stamp
        super().__init__(function)
        self._locator.get_source_stamp = lambda: self.stamp

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Return ``module.function-hash.pyXY``."""
        base: str = super().get_filename_base(fullname, abiflags)
        line = f"-{self._locator.get_disambiguator()}."
        return f"-{self.stamp}.".join(base.rsplit(line, 1))


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """Numba's cache, in which a broken or a full disk costs time and no result."""

    def __init__(self, kernel: Kernel[..., Any]) -> None:
        self._impl_class = partial(_KernelCacheImpl, stamp=content_stamp(kernel))
        super().__init__(kernel.function)

    @property
    def index(self) -> Path:
        """The file that lists what is kept."""
        return Path(self._cache_file._index_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return machine code from the disk; None where there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever pickle makes of broken bytes
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code, in place of that of earlier versions of the kernel."""
        name, _, rest = self.index.name.rpartition(f"-{self._impl.stamp}")
        with suppress(Exception):
            super().save_overload(sig, data)
            for old in self.index.parent.glob(f"{name}-*{rest.removesuffix('.nbi')}*"):
                if self._impl.stamp not in old.name:
                    old.unlink(missing_ok=True)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), _fields(sig))


def _fields(kind: Any) -> tuple[Any, ...]:
    """Return the names of the fields of all named tuples in a type: numba's own key has their types alone."""
    if isinstance(kind, tuple):
        return tuple(_fields(part) for part in kind)
    if isinstance(kind, types.BaseTuple):
        return getattr(kind, "fields", ()), _fields(tuple(kind))
    return ()


@cache
def content_stamp(kernel: Kernel[..., Any]) -> str:
    """Return a hash of all that a kernel and those that it calls are made of."""
    return sha256(repr(sorted(set(_content(kernel, set())))).encode()).hexdigest()[:16]


def _content(kernel: Kernel[..., Any], seen: set[Any]) -> Iterator[str]:
    """Yield code and constants of a kernel, and of those that it calls."""
    seen.add(kernel)
    function: Any = kernel.function
    yield f"{function.__qualname__} {function.__defaults__!r} {kernel.is_managed} {_code(function.__code__)!r}"
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if isinstance(value, Kernel):
            if value not in seen:
                yield from _content(value, seen)
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {value.tobytes()!r}"
        elif isinstance(value, (bool, int, float, str, tuple)):
            yield f"{name} {value!r}"
        elif hasattr(value, "_fields"):
            yield f"{name} {value._fields!r}"


def _code(code: CodeType) -> tuple[Any, ...]:
    """Return what code does, without its docstring and its lines."""
    has_docstring_place = bool(code.co_consts) and isinstance(code.co_consts[0], (str, NoneType))
    constants = code.co_consts[1:] if has_docstring_place else code.co_consts
    shown = tuple(_code(value) if isinstance(value, CodeType) else repr(value) for value in constants)
    return code.co_code, shown, code.co_names, code.co_varnames


def _names(code: CodeType) -> set[str]:
    nested = [_names(value) for value in code.co_consts if isinstance(value, CodeType)]
    return set(code.co_names).union(*nested)
