"""The options that every method takes, and what it tells while it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.interrupt import is_asked
from carbonopt.core.parameters import Parameters
from carbonopt.core.work import STEPS_A_UNIT, Work

P = TypeVar("P", bound=Parameters)

NUMBERS: dict[str, tuple[type, int]] = {
    "time_limit": (Real, 0),
    "work_limit": (Real, 0),
    "mip_rel_gap": (Real, 0),
    "mip_abs_gap": (Real, 0),
    "seed": (Integral, 0),
    "threads": (Integral, 1),
}

DEFAULT_SECONDS = 60.0
"""Time limit of a method, unless it has another one or a limit of work [s]."""

TimeLimit = float | Literal["auto"] | None
"""Wall time [s]; None for no limit; ``auto`` for `DEFAULT_SECONDS`, or no limit where work is limited."""

LIMITS = ("time_limit", "work_limit")

Schedule = dict[str, Any]
"""Columns of a schedule, as a solution file holds them."""


def seconds_of(time_limit: TimeLimit, work_limit: float | None) -> float | None:
    """Return a time limit [s], None for none, where ``auto`` is possible."""
    if time_limit == "auto":
        return DEFAULT_SECONDS if work_limit is None else None
    return time_limit


@dataclass(frozen=True)
class Progress:
    """One report of a running method.

    Parameters
    ----------
    seconds, work
        Wall time since the method started [s], and the work done since [work units].
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
    work: float = 0.0
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
    work_limit
        Work of the whole method [work units], see `carbonopt.core.work`; None for no limit. With it, methods divide
        their work as they would divide their time, and ask no clock but for the time limit.
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

    time_limit: float | None = DEFAULT_SECONDS
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
    work_limit: float | None = None
    work: Work = field(default_factory=Work, repr=False)
    started: float = field(default_factory=lambda: time.perf_counter(), repr=False)

    def __post_init__(self) -> None:
        for limit in LIMITS:
            if getattr(self, limit) == float("inf"):
                object.__setattr__(self, limit, None)
        for name, (kind, floor) in NUMBERS.items():
            value: Any = getattr(self, name)
            if value is None and name in (*LIMITS, "threads"):
                continue
            is_number = isinstance(value, kind) and not isinstance(value, bool)
            if not is_number or not value >= floor:
                whole = "a whole number" if kind is Integral else "a number"
                raise UnsupportedError(f"{name} = {shown(value)}: must be {whole}, at least {floor}")
        if self.work_limit is not None and self.threads not in (None, 1):
            raise UnsupportedError(
                f"threads = {self.threads}: must be 1 with a work limit, or work depends on the machine"
            )

    @property
    def seconds(self) -> float:
        """Wall time since these options were made [s]."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Wall time that is left [s], at least 0; infinite without a limit, 0 once the user has asked to stop."""
        if is_asked():
            return 0.0
        if self.time_limit is None:
            return float("inf")
        return max(0.0, self.time_limit - self.seconds)

    @property
    def elapsed(self) -> float:
        """What is used up: work where that is limited [work units], else wall time [s]."""
        return self.seconds if self.work_limit is None else self.work.units

    @property
    def remaining(self) -> float:
        """What is left of the limit, in the unit of `elapsed`, at least 0; infinite without a limit.

        It is 0 once the user has asked to stop, and where work is limited also once the time is out.
        """
        seconds = self.seconds_left
        if self.work_limit is None or seconds == 0:
            return seconds
        return max(0.0, self.work_limit - self.work.units)

    @property
    def steps_left(self) -> float:
        """Loop steps that are left of the work; infinite where it is not limited."""
        return float("inf") if self.work_limit is None else self.remaining * STEPS_A_UNIT

    def part(self, share: float) -> Options:
        """Return the same options with a share of the time that is left, or of the work where that is limited."""
        end = self.elapsed + share * self.remaining
        if self.work_limit is not None:
            return replace(self, work_limit=end)
        return self if self.time_limit is None else replace(self, time_limit=end)

    def keeping_back(self, seconds: float) -> Options:
        """Return the same options with less wall time, at most by half of what is left: for what comes after."""
        if self.time_limit is None:
            return self
        return replace(self, time_limit=self.time_limit - min(seconds, self.seconds_left / 2))

    def spend(self, steps: float) -> None:
        """Count work: so many elementary loop steps, see `carbonopt.core.work`."""
        self.work.add(steps)

    def parameters(self, kind: type[P]) -> P:
        """Return the method's parameters: those given where they are of this kind, else the defaults."""
        return self.params if isinstance(self.params, kind) else kind()

    def report(self, **progress: Any) -> None:
        """Tell the callback, if there is one."""
        if self.callback is not None:
            self.callback(Progress(seconds=self.seconds, work=self.work.units, **progress))

    def to_dict(self) -> Mapping[str, Any]:
        """Return what a solution file records of the options."""
        names = ("time_limit", "work_limit", "mip_rel_gap", "mip_abs_gap", "seed", "threads")
        changes = {} if self.params is None else self.params.changes()
        told = {"params": changes, "solver_options": dict(self.solver_options)}
        return {name: getattr(self, name) for name in names} | {name: value for name, value in told.items() if value}
