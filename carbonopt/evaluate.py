"""`evaluate` a schedule that was made elsewhere: the checker's verdict as a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from carbonopt.check import check
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.io.schedule import solution_of


def evaluate(instance: Instance, schedule: Any, *, info: Mapping[str, Any] | None = None) -> Solution:
    """Return the checked solution that a schedule from elsewhere is.

    Parameters
    ----------
    instance
        That the schedule is for.
    schedule
        A `pandas.DataFrame`, a mapping of columns, or the path of a CSV file, with the columns of the problem's
        solution files: ``job``, ``cluster``, ``start`` for ``mosp``.
    info
        What the checker needs beside the schedule, as solution files hold it: ``{"normalizers": ...}`` of a mosp
        instance that does not fix them.

    Returns
    -------
    Solution
        Method ``given``, status ``feasible``; objective and metrics are the checker's. It has no bound.

    Raises
    ------
    InputError
        With every violated constraint. `carbonopt.check` returns them in the place of raising.
    """
    given = solution_of(instance, schedule, info)
    report = check(instance, given)
    if report.violations or report.objective is None:
        told = [Fault("", str(violation)) for violation in report.violations]
        raise InputError(told or [Fault("", "the schedule has no objective")])
    return replace(given, objective=report.objective, metrics=report.metrics)
