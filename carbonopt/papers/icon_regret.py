"""The ICON challenge's plans, made on forecast prices and paid at actual ones: what trusting the forecast costs.

A pair of instances differs in its prices alone. The plan for the forecast costs C at the actual prices. Nobody knows
the least cost at the actual prices, but it lies between a proven bound L and the best plan that was found, U. So the
regret of having trusted the forecast is between C - U and C - L.

Source: Simonis, O'Sullivan, Mehta, Hurley, De Cauwer, "Energy-Cost Aware Scheduling/Forecasting Competition", 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from carbonopt.core.arrays import plain
from carbonopt.core.errors import Fault, InputError, UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.evaluate import evaluate
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.points import bars
from carbonopt.problems.ecas.data.convert import convert
from carbonopt.solve import solve

PRICES = ("forecast", "actual")
"""Of a pair, in this order."""
SHOWN = {"regret_least_percent": "at least", "regret_most_percent": "at most"}


def read_pairs(path: Path) -> list[Instance]:
    """Return forecast and actual instance of a folder of the challenge, or of each folder in it that has both.

    Raises
    ------
    InputError
        If there is none.
    """
    folders = [path] if (path / "instance.txt").is_file() else sorted(part for part in path.glob("*") if part.is_dir())
    complete = [folder for folder in folders if all((folder / f"{name}.txt").is_file() for name in PRICES)]
    if not complete:
        words = "must be a folder with instance.txt, forecast.txt and actual.txt, or hold such folders"
        raise InputError(Fault("", words, file=str(path)))
    return [convert(folder, prices=name) for folder in complete for name in PRICES]


def _pairs(instances: Sequence[Instance]) -> Iterator[tuple[Any, Any]]:
    """Yield forecast and actual of each pair.

    Raises
    ------
    UnsupportedError
        If two that follow each other differ in more than the prices.
    """
    if len(instances) % 2:
        raise UnsupportedError(f"{len(instances)} instances: must be pairs, on forecast and on actual prices")
    for forecast, actual in zip(instances[::2], instances[1::2], strict=True):
        ours, theirs = (plain({**one.data(), "price_per_kwh": None}) for one in (forecast, actual))
        if ours != theirs or forecast.time != actual.time:
            raise UnsupportedError(f"{forecast.name} and {actual.name}: must differ in the prices alone")
        yield forecast, actual


def _regrets(run: Run) -> pd.DataFrame:
    """Return one row a pair."""
    pairs = list(_pairs(run.instances))
    return pd.DataFrame([_regret(run, forecast, actual) for forecast, actual in pairs])


def _regret(run: Run, forecast: Any, actual: Any) -> dict[str, Any]:
    """Return costs and regret of one pair; the search on actual prices begins at the plan for the forecast."""
    search = partial(solve, method="price", seed=run.settings.get("seed", 0), time_limit=run.time_limit)
    run.say(f"{forecast.name}: forecast prices")
    plan = run.keep("forecast", search(forecast))
    run.say(f"{actual.name}: actual prices")
    if not plan.has_solution:
        found = run.keep("actual", search(actual))
        paid = None
    else:
        paid = evaluate(actual, plan.columns)
        found = run.keep("actual", search(actual, initial_solution=paid))
    row: dict[str, Any] = {
        "instance": actual.provenance.get("folder", actual.name),
        "forecast_gap_percent": None if plan.gap is None else 100 * plan.gap,
        "plan_cost": None if paid is None else paid.objective,
        "best_cost": found.objective if found.has_solution else None,
        "bound": found.bound,
    }
    return {**row, **_interval(row["plan_cost"], row["best_cost"], row["bound"])}


def _interval(plan: float | None, best: float | None, bound: float | None) -> dict[str, float | None]:
    """Return the least and the most that the plan costs beyond the optimum, also in percent of it.

    The percentages are of an optimum that is `best` at most and `bound` at least: they have no meaning, and are None,
    where it may be 0 or negative.
    """
    least = None if plan is None or best is None else max(0.0, plan - best)
    most = None if plan is None or bound is None else max(0.0, plan - bound)
    is_positive = bound is not None and bound > 0
    return {
        "regret_least": least,
        "regret_most": most,
        "regret_least_percent": None if least is None or best is None or not is_positive else 100 * least / best,
        "regret_most_percent": None if most is None or bound is None or not is_positive else 100 * most / bound,
    }


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    ax = bars(table, "instance", SHOWN, ax)
    ax.set_ylabel("cost of trusting the forecast [% of the optimum]")
    return ax


REGRET = Figure(
    "ecas",
    "plans on forecast prices, paid at actual ones (ICON challenge 2014)",
    _regrets,
    _draw,
    "The optimum at actual prices lies between bound and best_cost, so the regret lies between regret_least and"
    " regret_most. Each plan has the time limit. Without files: drawn instances whose two prices are drawn apart.",
    tuple(
        {"jobs": 60, "machines": 4, "load": 0.4, "seed": seed, "price_seed": price_seed}
        for seed in (1, 2)
        for price_seed in (seed, 100 + seed)
    ),
    read=read_pairs,
    solves=True,
)
