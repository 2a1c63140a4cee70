"""The least that any schedule as free as some runs costs or emits: between a bound and the best known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from carbonopt.check import on_its_side
from carbonopt.core.errors import CarbonoptError, UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.interval import Interval
from carbonopt.core.registry import Problem, problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.solve import solve


@dataclass
class Optima:
    """Optima of the instances that cover runs; each is sought once.

    Parameters
    ----------
    instance
        That was simulated.
    options
        Of `carbonopt.solve`, for each.

    Attributes
    ----------
    without_loops
        Whether the last optimum was sought without compiled loops.
    """

    instance: Instance
    options: Mapping[str, Any]
    without_loops: bool = field(init=False, default=False)
    _found: dict[str, Solution] = field(init=False, default_factory=dict)

    def least(self, runs: Sequence[Solution], measure: str) -> Interval:
        """Return between what the least cost lies that a schedule has, one as free as the runs.

        Parameters
        ----------
        runs
            Checked schedules of the instance.
        measure
            ``carbon`` or ``objective``; the cost is its value, or minus its value where it is maximised.

        Returns
        -------
        Interval
            From a proven bound to the best schedule known, that of a run included.
        """
        problem = problem_of(self.instance.problem)
        target, unit = problem.role("covering")(self.instance, runs, measure == "carbon")
        found = self._solved(target)
        self.without_loops = found.without_loops
        bound = found.bound
        if "covering_bound" in problem.roles:
            bound = problem.role("covering_bound")(target, runs, found)
        if target.sense == "max":
            unit = -unit
        best = min(cost_of(problem, run, measure) for run in runs)
        if found.objective is not None:
            best = min(best, unit * found.objective)
        if bound is None:
            return Interval(None, best)
        if not on_its_side("min", unit * bound, best):
            words = f"{found.method} claims that no schedule is below {unit * bound:.9g}, and one has {best:.9g}"
            raise CarbonoptError(f"{self.instance.name}: {words}: please report it")
        return Interval(min(unit * bound, best), best)

    def _solved(self, target: Instance) -> Solution:
        if target.sha256 not in self._found:
            found = solve(target, **self.options)
            if found.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
            self._found[target.sha256] = found
        return self._found[target.sha256]


def carbon_metric(problem: Problem) -> str:
    """Return the metric that a problem's tables show as carbon: without what is the same for all schedules."""
    return next(name for name in problem.shown if name.endswith("carbon_kg"))


def cost_of(problem: Problem, run: Solution, measure: str) -> float:
    """Return what is to be small: carbon [kg], or the objective, or minus the objective where it is maximised."""
    if measure == "carbon":
        return float(run.metrics[carbon_metric(problem)])
    if run.objective is None:
        raise UnsupportedError(f"{run.method} has no objective")
    return -run.objective if run.sense == "max" else run.objective
