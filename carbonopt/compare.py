"""`compare` methods on one instance against the best proven bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from carbonopt.algorithms.kernel import NotCompiledError, requiring_loops
from carbonopt.core.errors import CarbonoptError, RefusedError, TooLargeError
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution, relative_gap
from carbonopt.core.status import Status
from carbonopt.core.versions import installed_versions
from carbonopt.solve import solve

if TYPE_CHECKING:
    import pandas as pd

CONDITIONS = ("seed", "time_limit", "work_limit", "mip_rel_gap")
"""Options that a table of methods holds beside what was measured."""


def compare(instance: Instance, methods: Sequence[str] | None = None, **options: Any) -> pd.DataFrame:
    """Run several methods on an instance and measure each against the best proven bound.

    Parameters
    ----------
    instance
        The instance.
    methods
        Names of methods; None for all that the problem compares.
    **options
        Of `solve`, for each method: ``time_limit`` is that of one method, not of all.

    Returns
    -------
    DataFrame
        One row a method: status, metrics, objective, its own bound, and ``gap`` between its
        objective and the best bound that any of the methods proved. ``certificate_bound`` is what the
        method's certificate proves without a solver, and ``certificate_gap`` the gap to it;
        ``without_loops`` says whether the method did without its compiled loops. Then the conditions
        of the runs: instance, seed, limits and version.
    """
    return gap_table(run(instance, methods, **options))


def run(
    instance: Instance,
    methods: Sequence[str] | None = None,
    before: Callable[[str], None] | None = None,
    compile_first: Callable[[str], object] | None = None,
    **options: Any,
) -> list[Solution]:
    """Run several methods; one that refuses the instance, or would not fit into memory, is a row of status ``error``.

    Parameters
    ----------
    instance, methods, **options
        As in `compare`.
    before
        Called with the name of each method before it runs.
    compile_first
        Called with the name of the problem where a method wants loops that are not compiled yet, to compile them,
        once. The method then begins anew, and its time with it. None: methods compile in their own time, or do without.

    Returns
    -------
    list
        After Ctrl-C, those that were done, the last one with what it had.
    """
    problem = problem_of(instance.problem)
    names = list(problem.compared if methods is None else methods)
    for name in names:
        if name != "auto":
            problem.method(name)  # an unknown one is an error before anything runs
    compile_once = None if compile_first is None else cache(compile_first)
    solutions = []
    for name in names:
        if before is not None:
            before(name)
        try:
            solutions.append(_solved(instance, name, compile_once, options))
        except (TooLargeError, RefusedError) as error:
            solutions.append(not_run(instance, name, error, options))
        except KeyboardInterrupt:  # before the method began, or after it ended
            if not solutions:
                raise
            break
        if solutions[-1].status is Status.INTERRUPTED:
            break
    return solutions


def _solved(
    instance: Instance, method: str, compile_first: Callable[[str], object] | None, options: dict[str, Any]
) -> Solution:
    """Run a method, with its loops compiled before its time begins where somebody compiles them."""
    if compile_first is not None:
        try:
            with requiring_loops():
                return solve(instance, method, **options)
        except NotCompiledError:
            compile_first(instance.problem)
    return solve(instance, method, **options)


def best_bound(solutions: Iterable[Solution]) -> float | None:
    """Return the tightest bound that any of the solutions proved."""
    proven = [(s.bound, s.sense) for s in solutions if s.bound is not None]
    if not proven:
        return None
    bounds = [bound for bound, _ in proven]
    return max(bounds) if proven[0][1] == "min" else min(bounds)


def gap_table(solutions: Sequence[Solution]) -> pd.DataFrame:
    """Return one row a solution, with the gap to the best bound among them."""
    import pandas as pd

    bound = best_bound(solutions)
    rows = [
        {
            "method": s.method,
            "status": str(s.status),
            **s.metrics,
            "objective": s.objective,
            "bound": s.bound,
            "gap": relative_gap(s.objective, bound),
            "certificate_bound": s.certificate_bound,
            "certificate_gap": s.certificate_gap,
            "without_loops": s.without_loops,
            "wall_seconds": s.wall_seconds,
            "instance": s.instance,
            "instance_sha256": s.instance_sha256,
            **{name: s.options.get(name) for name in CONDITIONS},
            "version": installed_versions()["carbonopt"],
        }
        for s in solutions
    ]
    return pd.DataFrame(rows)


def not_run(
    instance: Instance, method: str, error: CarbonoptError, options: Mapping[str, Any] = MappingProxyType({})
) -> Solution:
    """Return what stands for a run that was refused."""
    return Solution(
        problem=instance.problem,
        instance=instance.name,
        instance_sha256=instance.sha256,
        method=method,
        status=Status.ERROR,
        sense=instance.sense,
        info={"message": str(error)},
        options={name: options.get(name) for name in CONDITIONS},
    )
