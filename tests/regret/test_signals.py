"""Plans for one signal under another."""

from __future__ import annotations

from dataclasses import replace

import pytest

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.purchasing.data.instance import Queue, Weights


def test_by_hand() -> None:
    """One job of an hour: each signal has its clean hour elsewhere."""
    made = co.generate("purchasing", jobs=1, arrival_hours=1, seed=1)
    grid = co.TimeGrid(5)
    instance = replace(
        made,
        carbon=co.CarbonSignal(("A",), [[300, 100, 200, 400, 400]], grid),
        zone="A",
        jobs=replace(made.jobs, arrival_hours=[0.0], length_hours=[1.0], cpus=[1]),
        weights=Weights(1.0, 0.0, 0.0),
        queues=(Queue("all", float("inf"), 3.0),),
        watts_per_cpu=1e6,
        reserved_cpus=0,
        spot=None,
    )
    other = co.CarbonSignal(("A marginal",), [[500, 700, 600, 800, 800]], grid)
    table = co.cross_regret(instance, other, "lowest-window", time_limit=None)
    cells = table.set_index(["plan", "planned_for", "under"])
    for plan in ("optimised", "lowest-window"):
        assert cells.loc[(plan, "own", "own"), "carbon_kg"] == pytest.approx(100)
        assert cells.loc[(plan, "own", "other"), "carbon_kg"] == pytest.approx(700)
        assert cells.loc[(plan, "other", "other"), "carbon_kg"] == pytest.approx(500)
        assert cells.loc[(plan, "own", "other"), "lost_least_kg"] == pytest.approx(200)
        assert cells.loc[(plan, "other", "own"), "lost_most_kg"] == pytest.approx(200)
    assert (table["lost_least_kg"] >= 0).all()
    with pytest.raises(UnsupportedError, match="must have the slots"):
        co.cross_regret(instance, co.CarbonSignal(("A",), [[1.0]], co.TimeGrid(1)))


@pytest.mark.parametrize(
    ("problem", "sizes", "policy"),
    [
        ("mosp", {"preset": "bench", "jobs": 6, "clusters": 2, "slots": 20, "load": 0.3}, "caspian"),
        pytest.param(
            "elastic", {"jobs": 6, "arrival_hours": 24.0, "model": "fluid"}, "lowest-window", marks=pytest.mark.slow
        ),
        pytest.param("mlcluster", {"jobs": 5}, "carbon-time", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_below_the_least(problem: str, sizes: dict[str, object], policy: str) -> None:
    instance = co.generate(problem, **sizes, seed=3)
    flat = replace(instance.carbon, g_per_kwh=instance.carbon.g_per_kwh[:, ::-1])
    table = co.cross_regret(instance, flat, policy, time_limit=None, mip_rel_gap=1e-3)
    assert len(table) == 8
    assert (table["lost_least_kg"] >= 0).all()
    assert (table["lost_most_kg"] >= table["lost_least_kg"]).all()
