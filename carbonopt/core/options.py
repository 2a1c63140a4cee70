"""The options that every method takes, and what it tells while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, TypeVar

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.interrupt import is_asked
from carbonopt.core.parameters import Parameters

P = TypeVar("P", bound=Parameters)

NUMBERS: dict[str, tuple[type, int]] = {
    "time_limit": (Real, 0),
    "mip_rel_gap": (Real, 0),
    "mip_abs_gap": (Real, 0),
    "seed": (Integral, 0),
    "threads": (Integral, 1),
}

Schedule = dict[str, Any]
"""Columns of a schedule, as a solution file holds them."""


@dataclass(frozen=True)
class Progress:
    """One report of a running method.

    Parameters
    ----------
    seconds
        Wall time since the method started [s].
    incumbent, bound
        Objective of the best schedule so far, and the proven bound; None where there is none yet.
    schedule
        Makes the incumbent's schedule: ``progress.schedule()``. A callback of `carbonopt.solve` has it as soon as
        there is an incumbent; a method gives it where it is new.
    info
        What the checker needs to know beside the incumbent's schedule, as in `Outcome`.
    certificate
        Makes what proves a bound, and states it under ``bound``; None where nothing is new since the last report.
    """

    seconds: float
    incumbent: float | None = None
    bound: float | None = None
    schedule: Callable[[], Schedule] | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    certificate: Callable[[], dict[str, Any] | None] | None = None


@dataclass(frozen=True)
class Options:
    """Options of `solve`, under the names that the field uses.

    Parameters
    ----------
    time_limit
        Wall time [s] of the whole method; None for no limit.
    mip_rel_gap, mip_abs_gap
        Stop when the gap to the proven bound is at most this.
    seed
        Of everything that is drawn at random. Same seed, same answer, as long as no limit is hit.
    threads
        Of the solver; None lets it choose.
    verbose, log_file
        Show the solver's log, and keep it in a file.
    start
        A schedule that the checker passed, to start from.
    callback
        Called with `Progress` a few times a second, in the calling thread.
    params
        Of the method; None for its defaults.
    solver_options
        Of HiGHS, under its own names.
    """

    time_limit: float | None = 60.0
    mip_rel_gap: float = 1e-4
    mip_abs_gap: float = 0.0
    seed: int = 0
    threads: int | None = None
    verbose: bool = False
    log_file: str | os.PathLike[str] | None = None
    start: Schedule | None = field(default=None, repr=False)
    callback: Callable[[Progress], None] | None = field(default=None, repr=False)
    params: Parameters | None = None
    solver_options: Mapping[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter, repr=False)

    def __post_init__(self) -> None:
        if self.time_limit == float("inf"):
            object.__setattr__(self, "time_limit", None)
        for name, (kind, floor) in NUMBERS.items():
            value: Any = getattr(self, name)
            if value is None and name in ("time_limit", "threads"):
                continue
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            if not is_number or not value >= floor:
                whole = "a whole number" if kind is Integral else "a number"
                raise UnsupportedError(f"{name} = {shown(value)}: must be {whole}, at least {floor}")

    @property
    def elapsed(self) -> float:
        """Wall time since these options were made [s]."""
        return time.perf_counter() - self.started

    @property
    def remaining(self) -> float:
        """Wall time that is left [s], at least 0; infinite without a limit, 0 once the user has asked to stop."""
        if is_asked():
            return 0.0
        if self.time_limit is None:
            return float("inf")
        return max(0.0, self.time_limit - self.elapsed)

    def part(self, share: float) -> Options:
        """Return the same options with a share of the time that is left."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=self.elapsed + share * self.remaining)

    def parameters(self, kind: type[P]) -> P:
        """Return the method's parameters: those given where they are of this kind, else the defaults."""
        return self.params if isinstance(self.params, kind) else kind()

    def report(self, **progress: Any) -> None:
        """Tell the callback, if there is one."""
        if self.callback is not None:
            self.callback(Progress(seconds=self.elapsed, **progress))

    def to_dict(self) -> Mapping[str, Any]:
        """Return what a solution file records of the options."""
        names = ("time_limit", "mip_rel_gap", "mip_abs_gap", "seed", "threads")
        changes = {} if self.params is None else self.params.changes()
        told = {"params": changes, "solver_options": dict(self.solver_options)}
        return {name: getattr(self, name) for name in names} | {name: value for name, value in told.items() if value}
