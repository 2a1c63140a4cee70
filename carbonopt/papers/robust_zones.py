"""What a robust plan is worth outside the scenarios that it was made for: ten zones, elastic jobs of a day.

The forecast is yesterday, repeated, and its errors come in blocks of past ones (see `carbonopt.forecasts`). One
ensemble is planned for. Another one, of more members, is what may happen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from carbonopt.forecasts import SeasonalNaive, bootstrap, make_archive
from carbonopt.io.synthetic import published_zones
from carbonopt.papers.figure import Figure, Run
from carbonopt.papers.regret_table import DAY, PAST, past_of
from carbonopt.plotting.points import bars
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.uncertainty.costs import objectives_of
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation
from carbonopt.uncertainty.scenarios import Scenarios
from carbonopt.uncertainty.solve import solve_under_risk

PLANNED = 20
"""Members of the ensemble that is planned for."""
JUDGED = 200
"""Members of the other one."""
QUANTILE = 0.9
RELATIVE_GAP = 1e-3
RISKS = (Expectation(), CVaR(QUANTILE), Budget(4))
WORK = 6.0
"""Of a plan [work units]: with a limit of time, each machine would have plans of its own."""
OWN = "own"
"""Of a column: under the members that were planned for, and not under the others."""


def drawn(instance: ElasticInstance, seed: int) -> tuple[Scenarios, Scenarios, Scenarios]:
    """Return the forecast of the first slot itself, an ensemble to plan for, and one to judge by."""
    zone = instance.cluster.zone
    past = past_of(instance)
    horizon = instance.time.slots
    points = make_archive(instance.carbon, zone, SeasonalNaive(DAY), past=past, horizon=horizon, first=-PAST)
    planned, judged = (
        bootstrap(points, instance.carbon, past=past, members=members, seed=own)
        for members, own in ((PLANNED, 2 * seed), (JUDGED, 2 * seed + 1))
    )
    return tuple(Scenarios.of_archives(instance, [archive]) for archive in (points, planned, judged))  # type: ignore[return-value]  # three of them


def _table(run: Run) -> pd.DataFrame:
    """Return one row a zone: the quantile of each plan, in percent above that of the plan for the point forecast."""
    seed = run.settings.get("seed", 0)
    for instance in run.instances:
        assert isinstance(instance, ElasticInstance)
        run.say(f"{instance.name}, {instance.cluster.zone}")
        point, planned, judged = drawn(instance, seed)
        options: dict[str, Any] = {"work_limit": WORK, "mip_rel_gap": RELATIVE_GAP, "seed": seed}
        plan = solve_under_risk(instance, point, Expectation(), **options).schedule
        least, own_least = (quantile(instance, members, plan) for members in (judged, planned))
        row: dict[str, Any] = {"zone": instance.cluster.zone, "point g": least}
        cases = [(str(risk), planned, risk) for risk in RISKS]
        cases += [(f"centred {risk}", centred(planned, point), risk) for risk in RISKS[:2]]
        for name, scenarios, risk in cases:
            plan = solve_under_risk(instance, scenarios, risk, **options).schedule
            row[f"{name} %"] = 100 * (quantile(instance, judged, plan) / least - 1)
            row[f"{name} {OWN} %"] = 100 * (quantile(instance, planned, plan) / own_least - 1)
        run.finished.append(row)
    return pd.DataFrame(run.finished)


def quantile(instance: ElasticInstance, members: Scenarios, plan: Any) -> float:
    """Return the quantile of a plan's carbon over members [g]."""
    return float(np.quantile(objectives_of(instance, members, plan), QUANTILE))


def centred(members: Scenarios, point: Scenarios) -> Scenarios:
    """Return members moved so that their mean is the point forecast, and cut at 0."""
    moved = members.g_per_kwh - members.mean + point.mean
    return Scenarios(members.zones, np.maximum(moved, 0.0))


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    """Draw how far each plan's quantile is above that of the point plan."""
    axis = bars(table, "zone", {f"{risk} %": str(risk) for risk in RISKS}, ax)
    axis.set_ylabel("90 % quantile above the point plan's [%]")
    return axis


ROBUST = Figure(
    "elastic",
    "whether plans for scenarios are better than a plan for the point forecast under errors that neither has seen",
    _table,
    _draw,
    "The 90 % quantile of carbon over 200 members that no plan has seen: of the plan for the point forecast [g], and of"
    " the plans for 20 other members, in percent above it. Below 0 the plan for scenarios is better. `own`: under the"
    " 20 members themselves. `centred`: members moved so that their mean is the point forecast.",
    tuple(
        {"jobs": 12, "arrival_hours": 24, "zone": zone, "start": "2022-01-10T00:00:00Z", "seed": 1 + number}
        for number, zone in enumerate(published_zones())
    ),
    solves=True,
)
