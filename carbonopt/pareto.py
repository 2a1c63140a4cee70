"""The Pareto front of an instance's objectives, by epsilon-constraints, each point with its proven bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import is_asked
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import WITHOUT_LOOPS, Solution
from carbonopt.core.status import Status
from carbonopt.solve import solve

if TYPE_CHECKING:
    import pandas as pd

LEAST_RANGE = 1e-6
"""Relative range of a quantity below which it does not vary: one level, without a limit, is enough."""


@dataclass(frozen=True, repr=False)
class Front:
    """Schedules under a grid of limits.

    Parameters
    ----------
    quantities
        Metrics: the one that is minimised, then those that are limited.
    bounded
        The metric that ``bound`` is a bound of: that of the first quantity, without constants.
    table
        One row a point: the limits (``limit_cost_usd``, none where it is missing), the metrics, the proven
        ``bound`` under these limits, ``gap``, ``method`` and whether it did without compiled loops
        (``without_loops``), and whether another point is at least as good in every quantity and better in one
        (``dominated``).
    solutions
        Of each row.
    """

    quantities: tuple[str, ...]
    bounded: str
    table: pd.DataFrame
    solutions: tuple[Solution, ...]

    def __repr__(self) -> str:
        return f"Front({len(self.solutions)} points: {', '.join(self.quantities)})"

    def _repr_html_(self) -> str:
        html: str = self.table.to_html(notebook=True)
        return html


def pareto(
    instance: Instance,
    quantities: Sequence[str] | None = None,
    *,
    levels: int = 5,
    before: Callable[[str], None] | None = None,
    **options: Any,
) -> Front:
    """Minimise one quantity under a grid of limits on the others.

    A schedule that was found under tighter limits is one under looser ones too, and takes the place of a worse one.

    Parameters
    ----------
    instance
        The instance; the weights and limits of its own objective are not used.
    quantities
        The metric to minimise, then those to limit; None for all that the instance has.
    levels
        Limits on each: equal steps from the least that is possible to what the first one takes when it is
        free.
    before
        Called with what is about to run.
    **options
        Of `carbonopt.solve`, for each point: ``time_limit`` is that of one point.

    Returns
    -------
    Front
        Points in the order of the grid; after Ctrl-C those that were done, and the one without limits.

    Raises
    ------
    UnsupportedError
        For fewer than 2 levels, and for a problem or a quantity that cannot be limited.
    """
    import pandas as pd

    if levels < 2:
        raise UnsupportedError(f"levels = {levels}: must be at least 2")
    limited = problem_of(instance.problem).role("limited")
    objectives = problem_of(instance.problem).role("quantities")(instance)
    first, *others = quantities or objectives

    def run(quantity: str, limits: Mapping[str, float]) -> Solution:
        if before is not None:
            before(quantity + "".join(f", {name} <= {value:.6g}" for name, value in limits.items()))
        return solve(limited(instance, quantity, limits), **options)

    free = run(first, {})
    solutions: list[Solution] = []
    rows: list[dict[str, Any]] = []

    def keep(found: Solution, limits: Mapping[str, float]) -> None:
        if found.has_solution:
            solutions.append(found)
            rows.append(_row(found, limits))

    limits: dict[str, float] = {}
    try:
        _require_going(free)
        grid = [_levels(run(name, {}), free, name, levels) for name in others]
        for point in product(*grid):
            limits = {name: value for name, value in zip(others, point, strict=True) if value is not None}
            found = run(first, limits) if limits else free
            keep(_with_best(found, solutions, first, limits), limits)
            _require_going(found)
    except KeyboardInterrupt:
        if limits or not rows:
            keep(free, {})
    table = pd.DataFrame(rows)
    if rows:
        table["dominated"] = dominated(table[[first, *others]].to_numpy(dtype=float))
    return Front((first, *others), objectives[first], table, tuple(solutions))


def _require_going(found: Solution) -> None:
    """Raise KeyboardInterrupt if the user asked to stop in this solve, or right after it."""
    if found.status is Status.INTERRUPTED or is_asked():
        raise KeyboardInterrupt


def _levels(least: Solution, free: Solution, name: str, levels: int) -> list[float | None]:
    """Return limits on a quantity; None, no limit, stands for what the first one takes when it is free."""
    if not (least.has_solution and free.has_solution):
        return [None]
    low = float(least.metrics[name])
    high = float(free.metrics[name])
    if high - low <= LEAST_RANGE * abs(high):
        return [None]
    return [*np.linspace(low, high, levels)[:-1].tolist(), None]


def _with_best(found: Solution, others: Sequence[Solution], first: str, limits: Mapping[str, float]) -> Solution:
    """Return what was found under some limits, or the best other schedule that keeps them, with the same bound."""
    fitting = [other for other in others if all(other.metrics[name] <= most for name, most in limits.items())]
    best = min(fitting, key=lambda other: float(other.metrics[first]), default=found)
    if best is found or (found.has_solution and found.metrics[first] <= best.metrics[first]):
        return found
    missed = {name: why for name, why in found.info.items() if name == WITHOUT_LOOPS}  # of what proves the bound
    info = best.info | missed
    return replace(found, objective=best.objective, metrics=best.metrics, columns=best.columns, info=info)


def _row(found: Solution, limits: Mapping[str, float]) -> dict[str, Any]:
    return {
        **{f"limit_{name}": value for name, value in limits.items()},
        **found.metrics,
        "status": str(found.status),
        "objective": found.objective,
        "bound": found.bound,
        "gap": found.gap,
        "method": found.method,
        "without_loops": found.without_loops,
        "wall_seconds": found.wall_seconds,
    }


def dominated(points: FloatArray) -> BoolArray:
    """Return which points another one equals or beats in every coordinate, and beats in one, shape (P,).

    Examples
    --------
    >>> dominated(np.array([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0]])).tolist()
    [False, False, True]
    """
    no_worse = np.all(points[None, :, :] <= points[:, None, :], axis=2)
    better = np.any(points[None, :, :] < points[:, None, :], axis=2)
    return np.asarray(np.any(no_worse & better, axis=1))
