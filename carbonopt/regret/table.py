"""`regret`: what policies lose to errors of the forecast, to its window, to what they do not know, and by themselves.

A policy runs again and again on the same instance, and is told one thing more each time: true values as far as its
forecast looks, true values to the end, all jobs to come, all run times. What a step gains is the part of it. What is
left over the optimum is the heuristic's own. Costs of runs are exact, since the checker evaluates them. The optimum is
known between a proven bound and the best schedule, so the heuristic's part and the whole are intervals. The order of
the steps matters: both orders are in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.instance import Instance
from carbonopt.core.interval import Interval
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.regret.least import Optima, cost_of
from carbonopt.regret.runs import PARTS, PolicyRuns
from carbonopt.simulate import policies_of
from carbonopt.simulation import Policy

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("carbon", "objective")
ORDERS = {"errors first": PARTS, "lengths first": tuple(reversed(PARTS))}
"""In what order a policy is told what it lacks."""
COLUMNS = ("policy", "forecast", "measure", "order", "value", "part", "least", "most", "reason", "without_loops")
Row = dict[str, Any]


def regret(
    instance: Instance,
    policies: str | type[Policy] | Sequence[str | type[Policy]] | None = None,
    *,
    forecast: Any = None,
    mode: str = "paper",
    lengths: str = "mean",
    seed: int = 0,
    past: Instance | None = None,
    knowledge: Any = None,
    before: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> pd.DataFrame:
    """Split what policies lose against the optimum by cause.

    Parameters
    ----------
    instance
        The instance.
    policies
        Names, files ``policy.py:Class``, or classes; None for all that the instance has what they need for.
    forecast
        What they see of the carbon signal, as `carbonopt.simulate` takes it; a list for several draws.
    mode, lengths, seed, past, knowledge
        Of `carbonopt.simulate`.
    before
        Called with what is about to run.
    **options
        Of `carbonopt.solve`, for each optimum: ``time_limit`` is that of one.

    Returns
    -------
    DataFrame
        One row a policy, draw of the forecast, measure (``carbon`` [kg], ``objective``), order and part: ``errors``,
        ``window``, ``arrivals``, ``lengths``, ``heuristic``, and their sum ``whole``. ``value`` is the policy's carbon
        or objective. ``least`` and ``most`` hold the part between them; NaN where nothing is proven on that side.
        ``reason`` says why a part is 0 by construction, ``without_loops`` whether the optimum was sought without
        compiled loops.

    Raises
    ------
    UnsupportedError
        For a problem without policies, and a policy that completes not all jobs.
    InputError
        For a forecast that is none of the instance's signal, or that a decision could not have known.
    """
    import pandas as pd

    if isinstance(policies, str | type | Policy):
        policies = [policies]
    settings = {"mode": mode, "lengths": lengths, "seed": seed, "past": past, "knowledge": knowledge}
    study = Study(instance, forecast if isinstance(forecast, list) else [forecast], settings, options, before)
    names = policies_of(instance) if policies is None else policies
    return pd.DataFrame([row for policy in names for row in study.rows(policy)], columns=list(COLUMNS))


class Study:
    """The regret of policies on one instance, policy by policy.

    Parameters
    ----------
    instance
        The instance.
    forecasts
        One entry a draw.
    settings
        Of `carbonopt.simulate`.
    options
        Of `carbonopt.solve`, for each optimum.
    before
        Called with what is about to run.
    """

    def __init__(
        self,
        instance: Instance,
        forecasts: Sequence[Any],
        settings: Mapping[str, Any],
        options: Mapping[str, Any],
        before: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.problem = problem_of(instance.problem)
        if "covering" not in self.problem.roles:
            having = one_of([name for name in problem_names() if "covering" in problem_of(name).roles])
            words = "says what its policies are measured against" if self.problem.policies else "has online policies"
            raise UnsupportedError(f"regret: problem {instance.problem!r} is none that {words}: must be {having}")
        if not forecasts:
            raise UnsupportedError("forecast = []: must be at least one draw")
        self.instance = instance
        self.forecasts = forecasts
        self.settings = settings
        self.before = before
        self.optima = Optima(instance, options)

    def rows(self, policy: str | type[Policy]) -> list[Row]:
        """Return the rows of one policy."""
        runs = PolicyRuns(self.instance, policy, self.forecasts, self.settings, self.before)
        paths = {
            (draw, order): [runs.run(draw, frozenset(steps[:count])) for count in range(len(steps) + 1)]
            for draw in range(len(self.forecasts))
            for order, steps in ORDERS.items()
        }
        rows = []
        for measure in MEASURES:
            self.before(f"{runs.name}: least {measure}")
            least = self.optima.least(runs.solutions, measure)
            told = {"without_loops": self.optima.without_loops}
            for (draw, order), path in paths.items():
                costs = [cost_of(self.problem, run, measure) for run in path]
                value = costs[0] if measure == "carbon" else path[0].objective
                facts = {"policy": runs.name, "forecast": draw, "measure": measure, "order": order, "value": value}
                for part, lost in split(costs, least, ORDERS[order]).items():
                    reason = runs.absent[draw].get(part, "")
                    ends = {"least": lost.least, "most": lost.most}
                    rows.append({**facts, "part": part, **ends, "reason": reason, **told})
        return rows


def split(costs: Sequence[float], least: Interval, steps: Sequence[str]) -> dict[str, Interval]:
    """Return each part of what the first of some costs is above the least, in the order of `PARTS`.

    Parameters
    ----------
    costs
        Before the first step, and after each.
    least
        What holds the optimum.
    steps
        What the policy is told in each step.

    Examples
    --------
    >>> parts = split([9.0, 8.0, 8.0, 8.0, 7.0], Interval(5.0, 6.0), PARTS)
    >>> [(name, part.least, part.most) for name, part in parts.items() if part.most]
    [('errors', 1.0, 1.0), ('lengths', 1.0, 1.0), ('heuristic', 1.0, 2.0), ('whole', 3.0, 4.0)]
    """
    gained = dict(zip(steps, (first - second for first, second in pairwise(costs)), strict=True))
    parts = {name: Interval(gained[name], gained[name]) for name in PARTS}
    return {**parts, "heuristic": least.below(costs[-1]), "whole": least.below(costs[0])}
