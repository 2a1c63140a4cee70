"""The checker of mosp: imports no solver, no formulation and no heuristic."""

from __future__ import annotations

from typing import Any

from carbonopt.core.report import Report
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.verify.pieces import check_pieces
from carbonopt.problems.mosp.verify.whole_runs import check_runs


def check(instance: MospInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job``, ``cluster`` (names) and ``start`` (slot); a job without a row does not run. Of a simulation
        also ``end``, one row a piece.
    info
        ``pieces`` of a simulation: how jobs may be interrupted, one of `carbonopt.problems.mosp.verify.pieces.RULES`.
        ``normalizers`` of the caspian objective where the instance does not fix them.

    Returns
    -------
    Report
        Every violated constraint, the objective, and the metrics.
    """
    info = info or {}
    rule = info.get("pieces")
    if rule is None:
        return check_runs(instance, schedule, info)
    return check_pieces(instance, schedule, rule, info)
