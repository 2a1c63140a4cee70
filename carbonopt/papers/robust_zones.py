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
SECONDS = 20.0
"""Time limit of a plan [s]."""


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
        limit = min(SECONDS, run.time_limit or SECONDS)
        options: dict[str, Any] = {"time_limit": limit, "mip_rel_gap": RELATIVE_GAP, "seed": seed}
        cases = [("point", point, Expectation()), *((str(risk), planned, risk) for risk in RISKS)]
        row: dict[str, Any] = {"zone": instance.cluster.zone}
        for name, scenarios, risk in cases:
            plan = solve_under_risk(instance, scenarios, risk, **options)
            grams = np.quantile(objectives_of(instance, judged, plan.schedule), QUANTILE)
            if name == "point":
                row["point g"] = float(grams)
            else:
                row[f"{name} %"] = float(100 * (grams / row["point g"] - 1))
        run.finished.append(row)
    return pd.DataFrame(run.finished)


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
    " the plans for 20 other members, in percent above it. Below 0 the plan for scenarios is better.",
    tuple(
        {"jobs": 12, "arrival_hours": 24, "zone": zone, "start": "2022-01-10T00:00:00Z", "seed": 1 + number}
        for number, zone in enumerate(published_zones())
    ),
    solves=True,
)
