"""Why a method stopped."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Why a method stopped; whether there is a schedule is `Solution.has_solution`.

    ``optimal``
        The gap between objective and bound is at most ``mip_rel_gap`` (or ``mip_abs_gap``).
        For a method that only bounds: the relaxation was solved to the end.
    ``feasible``
        A heuristic ran to its end; its schedule passed the checker.
    ``time_limit``, ``interrupted``
        Stopped early, by the clock or by the user, with or without an incumbent.
    ``infeasible``
        Proven: no schedule exists.
    ``unknown``
        Ran to its end without a schedule and without a proof that there is none.
    ``error``
        The solver failed, or its schedule or bound did not survive the checker.
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    TIME_LIMIT = "time_limit"
    INFEASIBLE = "infeasible"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"
    ERROR = "error"
