"""How far online policies are from the certified optimum at their own cost and wait, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.simulate import expected_of, policies_of, simulate
from carbonopt.solve import solve

if TYPE_CHECKING:
    import pandas as pd


EMITTED_OR_PAID = ("carbon_kg", "cost_usd")
"""How the names of quantities end that are compared unless told otherwise."""


@dataclass(frozen=True)
class Least:
    """The least of one quantity at given amounts of the others.

    Parameters
    ----------
    bound
        Proven: nobody needs less. None where nothing was proven.
    reached
        Of the best schedule found; None where none was.
    without_loops
        Whether the method did without its compiled loops.
    """

    bound: float | None
    reached: float | None
    without_loops: bool = False

    def excess(self, value: float) -> float | None:
        """Return by how much `value` is above the bound, relative to it; None without a bound above 0."""
        return None if self.bound is None or self.bound <= 0 else value / self.bound - 1


def least(
    instance: Instance,
    metrics: Mapping[str, Any],
    quantity: str = "carbon_kg",
    *,
    model: str | None = None,
    start: Solution | None = None,
    **options: Any,
) -> Least:
    """Bound the least of a quantity that any schedule needs at the amounts of the others in `metrics`.

    Parameters
    ----------
    instance
        The instance.
    metrics
        Of a policy's schedule, or their means over several runs.
    quantity
        E.g. ``carbon_kg`` or ``cost_usd``.
    model
        Under which to optimise, None for the instance's own.
    start
        A schedule that keeps these amounts, such as the policy's own.
    **options
        Of `solve`; the method is ``price``, whose bound has a certificate, unless another one is named.

    Returns
    -------
    Least
        Bound and best value found, with what is the same for all schedules, such as what is prepaid.
    """
    if quantity.startswith("mean_"):
        raise UnsupportedError(f"quantity {quantity!r}: must be a sum over jobs, such as carbon_kg")
    target, metric = problem_of(instance.problem).role("at_equal")(instance, metrics, quantity, model)
    constant = metrics[quantity] - metrics[metric]
    known = None if start is None else _moved(start, target)
    found = solve(target, initial_solution=known, **{"method": "price", **options})
    _require_end(found)
    bound, reached = (None if value is None else value + constant for value in (found.bound, found.objective))
    return Least(bound, reached, found.without_loops)


def excess_table(
    instance: Instance,
    policies: Sequence[str] | None = None,
    *,
    quantities: Sequence[str] | None = None,
    split: bool = False,
    lengths: str = "mean",
    forecast: Any = None,
    seed: int = 0,
    before: Callable[[str], None] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Run policies and measure each against the certified optimum at its own cost and wait.

    Amounts are expected ones where evictions are drawn: what the policy decided, and not its luck.

    Parameters
    ----------
    instance
        The instance; its reserved CPUs must be given.
    policies
        Names, or files ``policy.py:Class``; None for all that the instance has what they need for.
    quantities
        What to compare, each at equal amounts of all others; None for carbon, and cost where there is one.
    split
        Also split the excess carbon into what is due to errors of the forecast, to its window, to unknown
        lengths, to the heuristic itself, and to commitment (jobs that are neither split nor interrupted).
        The five add up to the excess over the loosest model.
    lengths, forecast, seed
        Of `carbonopt.simulate.simulate`.
    before
        Called with what is about to run.
    **options
        Of `solve`, for each bound: ``time_limit`` is that of one bound.

    Returns
    -------
    DataFrame
        One row a policy: its metrics, its saving over the problem's baseline, which its name tells
        (``saving_vs_no_wait``), and for each quantity the proven least at equal amounts (``least_carbon_kg``),
        the best found, and the excess over the proven least. Where a policy's instances take time to start, its row
        has ``startup_hours``: its amounts contain that time, and the proven least does not, so that the excess does.
        ``without_loops`` says whether one of the row's bounds was sought without compiled loops.
        After Ctrl-C, the rows that were done.
    """
    import pandas as pd

    problem = problem_of(instance.problem)
    if "at_equal" not in problem.roles:
        having = [name for name in problem_names() if "at_equal" in problem_of(name).roles]
        raise UnsupportedError(
            f"excess over equal amounts: problem {problem.name!r} has no limits on amounts; those of"
            f" {' and '.join(having)} have. Simulate its policies, and compare its methods"
        )
    baseline, known = problem.baseline, problem.role("quantities")(instance)
    compared = [name for name in known if name.endswith(EMITTED_OR_PAID)] if quantities is None else quantities
    study = _Study(instance, {"lengths": lengths, "forecast": forecast, "seed": seed}, options, before)
    carbon_kg = study.run(baseline).metrics["carbon_kg"]

    def row_of(name: str) -> dict[str, Any]:
        solution = study.run(name)
        row: dict[str, Any] = {"policy": name, **{key: solution.metrics[key] for key in problem.shown}}
        saving = 1 - solution.metrics["carbon_kg"] / carbon_kg if carbon_kg else None
        row[f"saving_vs_{baseline.replace('-', '_')}"] = saving
        row["model"] = solution.info.get("model", getattr(instance, "model", None))
        for quantity in compared:
            row |= study.excess(name, solution, quantity, row["model"])
        if solution.info.get("startup_hours"):
            row["startup_hours"] = solution.info["startup_hours"]
        if split:
            row |= study.split(name, solution)
            if row["excess_over_loosest"] is not None and "excess_carbon_kg" in row:
                row |= _tightened(row, solution.metrics["carbon_kg"])
        return row | {"without_loops": study.did_without_loops(name)}

    rows = []
    for name in policies_of(instance) if policies is None else policies:
        try:
            rows.append(row_of(name))
        except KeyboardInterrupt:
            if not rows:
                raise
            break
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Study:
    """Runs of policies on one instance, and bounds at their own amounts."""

    instance: Instance
    simulation: Mapping[str, Any]
    options: Mapping[str, Any]
    before: Callable[[str], None] | None
    runs: dict[tuple[str, str], Solution] = field(default_factory=dict)
    bounds: dict[tuple[int, str, str | None], Least] = field(default_factory=dict)

    def run(self, policy: str, **changes: Any) -> Solution:
        """Return the checked schedule of a policy."""
        settings = {**self.simulation, **changes}
        key = (policy, repr(settings))
        if key not in self.runs:
            self._say(policy)
            solution = simulate(self.instance, policy, **settings)
            _require_end(solution)
            if not solution.has_solution:
                raise UnsupportedError(f"policy {policy!r} ended {solution.status} without a schedule")
            self.runs[key] = expected_of(self.instance, solution)
        return self.runs[key]

    def excess(self, policy: str, solution: Solution, quantity: str, model: str | None) -> dict[str, Any]:
        """Return the proven least of a quantity, the best found, and the policy's excess."""
        key = (id(solution), quantity, model)
        if key not in self.bounds:
            self._say(f"{policy}: least {quantity} at equal amounts")
            found = least(self.instance, solution.metrics, quantity, model=model, start=solution, **self.options)
            self.bounds[key] = found
        found = self.bounds[key]
        return {
            f"least_{quantity}": found.bound,
            f"reached_{quantity}": found.reached,
            f"excess_{quantity}": found.excess(solution.metrics[quantity]),
        }

    def did_without_loops(self, policy: str) -> bool:
        """Return whether one of the policy's bounds was sought without compiled loops."""
        runs = {id(run) for (name, _), run in self.runs.items() if name == policy}
        return any(found.without_loops for (run, _, _), found in self.bounds.items() if run in runs)

    def split(self, policy: str, solution: Solution) -> dict[str, Any]:
        """Return the parts of the excess carbon over the loosest model."""
        steps = problem_of(self.instance.problem).role("commitments")(solution)
        loosest = steps[-1][1]
        forecast = self.simulation["forecast"]
        runs = [solution]
        runs.append(self.run(policy, forecast=None if forecast is None else forecast.without_errors()))
        runs.append(self.run(policy, forecast=None))
        runs.append(self.run(policy, forecast=None, lengths="true"))
        total = [self._over(policy, run, loosest) for run in runs]
        parts = [_difference(a, b) for a, b in pairwise(total)]
        row = dict(zip(("due_to_forecast_errors", "due_to_forecast_window", "due_to_lengths"), parts, strict=True))
        over = [self._over(policy, runs[-1], model) for _, model in steps[:-1]] + [total[-1]]
        known = [_least(over[place:]) for place in range(len(over))]  # what bounds a looser model bounds this one too
        for (label, _), value, tighter in zip(steps, known, [0.0, *known], strict=False):
            row[f"due_to_{label}"] = _difference(value, tighter)
        return row | {"excess_over_loosest": total[0]}

    def _over(self, policy: str, run: Solution, model: str) -> float | None:
        value: float | None = self.excess(f"{policy} ({model})", run, "carbon_kg", model)["excess_carbon_kg"]
        return value

    def _say(self, text: str) -> None:
        if self.before is not None:
            self.before(text)


def _require_end(found: Solution) -> None:
    """Raise KeyboardInterrupt if the user asked to stop: what came of it is no row."""
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt


def _tightened(row: Mapping[str, Any], carbon_kg: float) -> dict[str, Any]:
    """Return the least carbon and the excess of a row; what bounds a looser model bounds this one too."""
    excess, over = row["excess_carbon_kg"], row["excess_over_loosest"]
    if excess is not None and excess <= over:
        return {}
    return {"least_carbon_kg": carbon_kg / (1 + over), "excess_carbon_kg": over}


def _least(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _moved(solution: Solution, target: Instance) -> Solution:
    """Return the schedule of `solution` as one of `target`, with nothing claimed."""
    return replace(
        solution,
        instance=target.name,
        instance_sha256=target.sha256,
        objective=None,
        bound=None,
        certificate=None,
        metrics={},
        status=Status.FEASIBLE,
    )
