"""What policies of the elastic problem lose, and to what: ten zones, four weeks each, five ensembles a week.

The forecast of each hour is yesterday, repeated, plus past errors of that rule in blocks (see `carbonopt.forecasts`).
A policy sees the mean of an ensemble's members. Weeks are what is drawn independently: the bootstrap draws weeks, and
ensembles within a week.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.time import TimeGrid
from carbonopt.forecasts import ForecastArchive, SeasonalNaive, bootstrap, make_archive
from carbonopt.io.synthetic import published_zones, synthetic_carbon
from carbonopt.papers.figure import Figure, Run
from carbonopt.plotting.points import bars
from carbonopt.problems.elastic.data.instance import ElasticInstance
from carbonopt.regret.runs import PARTS
from carbonopt.regret.table import ORDERS, Study

POLICIES = ("vcc", "carbon-scaler")
"""Of which the first plans with arrivals where it may know them."""
WEEKS = ("2022-01-10", "2022-04-11", "2022-07-11", "2022-10-10")
"""Mondays: one week of each season."""
ENSEMBLES = 5
MEMBERS = 10
HORIZON = 48
"""Hours that a forecast tells of."""
PAST = 336
"""Hours before the week whose errors the ensembles are made of."""
DAY = 24
RELATIVE_GAP = 2e-3
"""At which the search for an optimum stops: the rest of it stands in the table."""
DRAWS = 2000
"""Of the bootstrap."""
LEVEL = 0.9
"""Of its intervals."""
ALL = "all zones"
SHOWN = (*PARTS, "heuristic", "whole")


def past_of(instance: ElasticInstance) -> FloatArray:
    """Return the bundled signal of the hours before an instance [g/kWh], shape (hours,).

    Raises
    ------
    UnsupportedError
        If the instance's signal is not the bundled one: a file has no past to make forecasts of.
    """
    zone = instance.cluster.zone
    seed = instance.provenance.get("seed")
    made = str(instance.provenance.get("carbon_signal", "")).startswith("synthetic")
    if not made or not isinstance(seed, int) or instance.time.slot_hours != 1.0:
        words = (
            "has no past to make forecasts of: take a generated one of whole hours, or `carbonopt regret --forecast`"
        )
        raise UnsupportedError(f"{instance.name}: {words}")
    hours = PAST + DAY
    before = TimeGrid(hours, 1.0, instance.time.start - timedelta(hours=hours))
    return np.asarray(synthetic_carbon([zone], before, seed).g_per_kwh[0])


def ensembles(instance: ElasticInstance, first_seed: int = 1) -> list[ForecastArchive]:
    """Return five ensembles of one zone and week."""
    zone = instance.cluster.zone
    past = past_of(instance)
    points = make_archive(instance.carbon, zone, SeasonalNaive(DAY), past=past, horizon=HORIZON, first=-PAST)
    return [
        bootstrap(points, instance.carbon, past=past, members=MEMBERS, seed=first_seed + draw)
        for draw in range(ENSEMBLES)
    ]


def _table(run: Run) -> pd.DataFrame:
    """Return one row a policy, order, part and zone: mean and interval in percent of the best schedule known."""
    for instance in run.instances:
        assert isinstance(instance, ElasticInstance)
        drawn = ensembles(instance, 1 + run.settings.get("seed", 0))
        options = {"time_limit": run.time_limit, "mip_rel_gap": RELATIVE_GAP}
        study = Study(instance, drawn, {"seed": run.settings.get("seed", 0)}, options)
        for policy in POLICIES:
            run.say(f"{instance.name}, {instance.cluster.zone} from {instance.time.start:%Y-%m-%d}: {policy}")
            facts = {"zone": instance.cluster.zone, "week": f"{instance.time.start:%Y-%m-%d}"}
            run.finished.extend(facts | row for row in study.rows(policy) if row["measure"] == "carbon")
    return pd.DataFrame(list(_summary(pd.DataFrame(run.finished))))


def _summary(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, those of all zones together first."""
    whole = rows[rows["part"] == "whole"].set_index(["zone", "week", "policy", "forecast", "order"])
    keys = list(zip(*(rows[name] for name in whole.index.names), strict=True))
    best = (whole["value"] - whole["least"]).to_dict()
    scale = 100 / np.array([best[key] for key in keys])
    scaled = rows.assign(least=rows["least"] * scale, most=rows["most"] * scale)
    for zone in (ALL, *dict.fromkeys(rows["zone"])):
        some = scaled if zone == ALL else scaled[scaled["zone"] == zone]
        for policy in POLICIES:
            for order in ORDERS:
                for part in SHOWN:
                    chosen = some[(some["policy"] == policy) & (some["order"] == order) & (some["part"] == part)]
                    yield {"zone": zone, "policy": policy, "order": order, "part": part, **_interval(chosen)}


def _interval(rows: pd.DataFrame) -> dict[str, float]:
    """Return the mean of a part over weeks and ensembles, and what holds it in most draws of the bootstrap."""
    weeks = [part for _, part in rows.groupby(["zone", "week"], sort=False)]
    least, most = ([part[name].to_numpy() for part in weeks] for name in ("least", "most"))
    low = np.quantile(resampled(least), (1 - LEVEL) / 2)
    high = np.quantile(resampled(most), (1 + LEVEL) / 2)
    return {
        "least_percent": float(np.mean(np.concatenate(least))),
        "most_percent": float(np.mean(np.concatenate(most))),
        "low_percent": float(low),
        "high_percent": float(high),
    }


def resampled(weeks: Sequence[FloatArray], draws: int = DRAWS, seed: int = 0) -> FloatArray:
    """Return means of weeks drawn with replacement, and of ensembles drawn within each, shape (draws,).

    Parameters
    ----------
    weeks
        Of each week, one value an ensemble; all weeks have as many.
    draws, seed
        Of the bootstrap.
    """
    values = np.array(weeks)
    random = np.random.default_rng(seed)
    week = random.integers(values.shape[0], size=(draws, values.shape[0], 1))
    ensemble = random.integers(values.shape[1], size=(draws, *values.shape))
    return np.asarray(values[week, ensemble].mean(axis=(1, 2)))


def _draw(table: pd.DataFrame, ax: Any = None) -> Any:
    """Draw what the first policy loses, zone by zone, in the first order."""
    first = table[(table["policy"] == POLICIES[0]) & (table["order"] == next(iter(ORDERS)))]
    wide = first.pivot(index="zone", columns="part", values="least_percent").loc[list(dict.fromkeys(first["zone"]))]
    axis = bars(wide.reset_index(), "zone", {part: part for part in SHOWN[:-1]}, ax)
    axis.set_ylabel("carbon lost [% of the best schedule known]")
    return axis


REGRET = Figure(
    "elastic",
    "what policies lose to forecast errors, the forecast's end, arrivals, lengths and themselves, by zone",
    _table,
    _draw,
    "In percent of the carbon of the best schedule known, mean over weeks and ensembles. The true mean of these weeks"
    " lies between least and most, since the optimum is known between two numbers. Between low and high lie 90 % of"
    " the means of weeks and ensembles drawn anew: with four weeks a zone, read them as a hint. Both orders of telling"
    " the policy what it lacks are there; only `heuristic` and `whole` do not depend on it. First all zones together.",
    tuple(
        {"jobs": 40, "zone": zone, "start": f"{monday}T00:00:00Z", "seed": 1 + number}
        for zone in published_zones()
        for number, monday in enumerate(WEEKS)
    ),
    solves=True,
)
