"""GREEN's figures and tables: on a small cluster all of them, and on the paper's size what is claimed of them."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.papers import green_runs, green_sensitivity, green_sweeps
from carbonopt.papers.figure import FIGURES, Run, figure_of
from carbonopt.papers.green_runs import (
    BASELINE,
    ZONES,
    added_watts,
    as_footprint,
    bound_at_equal,
    completion_hours,
    least_end_minutes,
)
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.online.green_options import GreenOptions

GREEN = [name for name in FIGURES if name.startswith("green")]


@pytest.fixture(scope="module")
def small() -> MlClusterInstance:
    found = co.generate(
        "mlcluster", jobs=8, gpus=2, max_gpus=2, profiles="vgg16", arrival_hours=6, slot_hours=6, seed=1
    )
    assert isinstance(found, MlClusterInstance)
    return found


@pytest.mark.parametrize("name", [name for name in GREEN if name != "green-sensitivity"])
def test_every_figure_has_a_table_a_plot_and_a_note(
    name: str, small: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (green_runs, green_sweeps):
        monkeypatch.setattr(module, "ZONES_YEAR", ("GB", "PL"))
    monkeypatch.setattr(green_runs, "ZONES", ("GB", "PL"))
    monkeypatch.setattr(green_sweeps, "LOADS", (0.5, 1.0))
    figure = figure_of(name)
    table = figure.table(Run([small], {"seed": 1}))
    assert len(table) >= 2
    ours = [column for column in table if not column.startswith("paper")]  # the paper tells no mean of all sizes
    assert not table[ours].isna().any().any()
    assert figure.draw(table).get_figure() is not None
    assert len(figure.note) > 100


def test_those_of_the_paper_but_for_pollux_and_zeus() -> None:
    assert [
        *(f"green-{number}" for number in ("8", "9a", "9b", "10", "12", "13")),
        "green-jct", "green-load", "green-sensitivity",
        *(f"green-table-{number}" for number in (2, 3, 4)),
    ] == GREEN  # fmt: skip


def test_one_synthetic_instance_stands_for_one_in_each_zone(small: co.Instance) -> None:
    assert [instance.zone for instance in green_runs.clusters(Run([small]))] == list(ZONES)
    assert [instance.zone for instance in green_runs.clusters(Run([small, small]))] == ["GB", "GB"]


def test_instances_of_one_zone_are_averaged(small: co.Instance) -> None:
    other = co.generate("mlcluster", jobs=8, gpus=2, max_gpus=2, arrival_hours=6, slot_hours=6, seed=2)
    table = green_runs.by_zone(Run([small, other]), (BASELINE, "green"))
    each = [co.simulate(instance, "green").metrics["mean_jct_hours"] for instance in (small, other)]
    assert list(table["policy"]) == [BASELINE, "green"]
    assert table["jct_hours"][1] == pytest.approx(np.mean(each))
    assert (table["above_bound"] > 0).all()


def test_the_distance_from_the_bound_is_of_the_instances_that_have_one(
    small: co.Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = co.generate("mlcluster", jobs=9, gpus=2, max_gpus=2, arrival_hours=6, slot_hours=6, seed=2)
    alone = green_runs.by_zone(Run([small, small]), (BASELINE,))
    monkeypatch.setattr(green_runs, "BOUNDED", 8 * small.time.slots)
    both = green_runs.by_zone(Run([small, other]), (BASELINE,))
    assert both["added_kg"][0] != alone["added_kg"][0]
    assert both["above_bound"][0] == alone["above_bound"][0]


def test_periods_without_arrivals_have_the_carbon_of_late_jobs() -> None:
    late = co.generate("mlcluster", jobs=30, gpus=1, max_gpus=1, arrival_hours=24, load=9.0, drain_hours=400, seed=1)
    table = figure_of("green-12").table(Run([late, late]))
    first = table.iloc[: len(table) // 2]
    weeks, whole = first[first["period"] != "all"], first[first["period"] == "all"]
    assert weeks["green_jct_hours"].isna().tolist() == [False] + [True] * (len(weeks) - 1)
    metrics = co.simulate(late, "green:mean=day").metrics
    assert len(weeks) > 1
    assert weeks["green_kg"].sum() == pytest.approx(metrics["footprint_kg"])
    assert whole["green_kg"].item() == pytest.approx(metrics["footprint_kg"])
    assert whole["green_tail_hours"].item() == pytest.approx(metrics["p95_jct_hours"])


def test_hourly_power_adds_up_to_the_energy_and_the_carbon(small: MlClusterInstance) -> None:
    solution = co.simulate(small, "green")
    watts = added_watts(small, solution)
    assert watts.sum() * small.slot_minutes / 6e4 == pytest.approx(solution.metrics["added_energy_kwh"], rel=1e-12)
    kg = (watts * small.kg_per_watt_minute).sum() * small.slot_minutes
    assert kg == pytest.approx(solution.metrics["added_carbon_kg"], rel=1e-12)
    assert completion_hours(small, solution).mean() == pytest.approx(solution.metrics["mean_jct_hours"], rel=1e-12)


def test_a_signal_that_ends_before_a_policy_does_is_told() -> None:
    short = co.generate("mlcluster", jobs=12, gpus=1, arrival_hours=6, drain_hours=18, load=1.5, seed=1)
    with pytest.raises(co.UnsupportedError, match="ecovisor does not end within the 24 h of the signal"):
        figure_of("green-8").table(Run([short]))


class TestSensitivity:
    def test_every_option_of_green_has_a_row(self) -> None:
        policies = {policy for pair in green_sensitivity.CHANGES.values() for policy in pair}
        changed = {part.partition("=")[0] for policy in policies for part in policy.partition(":")[2].split(",")}
        ablations = {"footprint"}  # by the names of policies
        assert set(GreenOptions.__dataclass_fields__) <= changed | ablations

    def test_the_table(self, small: co.Instance, monkeypatch: pytest.MonkeyPatch) -> None:
        few = {name: green_sensitivity.CHANGES[name] for name in ("as decided", "mu = 4", "Tiresias on 8 GPUs")}
        monkeypatch.setattr(green_sensitivity, "CHANGES", few)
        figure = figure_of("green-sensitivity")
        table = figure.table(Run([small, small]))
        policies = green_sensitivity.BOUNDED_POLICIES
        assert list(table["change"]) == [*few, *(green_sensitivity.LEAST.format(name) for name in policies)]
        least = table.iloc[len(few)]
        assert -1 < least["added"] <= least["carbon"] <= 0  # jobs add less than the cluster emits
        assert -1 < least["footprint"] <= 0
        assert -1 < least["until_end"] <= 0
        assert (table["above_bound"] >= 0).all()
        assert figure.draw(table).get_figure() is not None

    def test_a_certificate_of_a_near_completion_time_proves_a_weaker_bound(self, small: MlClusterInstance) -> None:
        bounds = green_sensitivity._Bounds(small)
        hours = float(co.simulate(small, "green").metrics["mean_jct_hours"])
        near, far = ({"mean_jct_hours": factor * hours} for factor in (1.04, 1.5))
        assert bounds.at({"mean_jct_hours": hours}) == bound_at_equal(small, {"mean_jct_hours": hours})
        assert 0 < bounds.at(near) <= bound_at_equal(small, near) * (1 + 1e-6)
        assert len(bounds.known) == 1
        assert bounds.at(far) == bound_at_equal(small, far)
        assert len(bounds.known) == 2


def test_the_footprint_is_the_added_carbon_of_a_cluster_that_idles_for_free(small: MlClusterInstance) -> None:
    found = co.simulate(small, "green")
    same = co.simulate(as_footprint(small), "green")
    assert same.metrics["added_carbon_kg"] == pytest.approx(same.metrics["footprint_kg"])
    least = bound_at_equal(as_footprint(small), found.metrics)
    assert 0 < least <= found.metrics["footprint_kg"]
    assert least_end_minutes(small) <= 60 * found.metrics["makespan_hours"]
