"""The numbers that the papers print stand as marks in the figures that are drawn again."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import carbonopt as co
from carbonopt.papers.caspian_sweep import PAPERS_OWN
from carbonopt.papers.figure import Run, figure_of
from carbonopt.papers.marks import mark_bars
from carbonopt.plotting.points import bars


def marks(axis: Any, marker: str = "D") -> list[tuple[float, float]]:
    """Return the points that are drawn with this marker."""
    found = [line.get_xydata() for line in axis.get_lines() if line.get_marker() == marker and len(line.get_xdata())]
    return [(float(x), float(y)) for points in found for x, y in points]


@pytest.fixture(scope="module")
def week() -> co.Instance:
    return co.generate("purchasing", jobs=40, arrival_hours=24, reserved=5, seed=1)


def drawn(name: str, instance: co.Instance) -> tuple[pd.DataFrame, list[tuple[float, float]]]:
    figure = figure_of(name)
    table = figure.table(Run([instance], {"seed": 1}))
    return table, marks(np.atleast_1d(figure.draw(table))[0])


def test_marks_stand_over_their_bars() -> None:
    table = pd.DataFrame({"case": ["a", "b"], "x": [1.0, 2.0], "y": [3.0, 4.0]})
    columns = {"x": "x", "y": "y"}
    axis = bars(table, "case", columns)
    mark_bars(axis, columns, {"y": [np.nan, 5.0]}, "printed")
    assert marks(axis) == [(pytest.approx(1.2), 5.0)]
    bar = axis.containers[1][1]
    assert bar.get_x() + bar.get_width() / 2 == pytest.approx(1.2)
    plt.close(axis.figure)


def test_figure_8_stands_over_our_wait_awhile(week: co.Instance) -> None:
    table, points = drawn("gaia-8", week)
    least = table.set_index("policy")["carbon"]["wait-awhile"]
    values = sorted(value for _, value in points)
    assert values == pytest.approx(sorted([1.16 * least, 1.23 * least, 1.16 / 1.03 * least, 0.5]))


def test_figure_9_has_the_shares_of_short_and_of_long_jobs(week: co.Instance) -> None:
    assert drawn("gaia-9", week)[1] == [(1.0, 0.1), (24.0, 0.925)]


def test_figure_10_keeps_half_of_the_saving_at_a_cost_that_is_21_per_cent_less(week: co.Instance) -> None:
    table, points = drawn("gaia-10", week)
    rows = table.set_index("policy")
    kept = (rows["carbon"]["no-wait"] + rows["carbon"]["carbon-time"]) / 2
    assert [value for _, value in points] == pytest.approx([kept, 0.79 * rows["cost"]["carbon-time"]])


def test_figure_11_has_the_carbon_at_15_and_18_reserved_cpus(week: co.Instance) -> None:
    assert drawn("gaia-11", week)[1] == [(15.0, 0.9), (18.0, 0.94)]


def test_figure_12_has_costs_over_carbon_time_on_demand(week: co.Instance) -> None:
    table, points = drawn("gaia-12", week)
    values = [value / table["cost"][0] for _, value in points]
    assert values == pytest.approx([0.83, 0.83, 0.58, 0.58 * 1.11])


def test_figure_13_has_marks_in_california_alone(week: co.Instance) -> None:
    assert drawn("gaia-13", week)[1] == []
    zone = co.generate("purchasing", jobs=20, arrival_hours=24, zone="US-CAL-CISO", seed=1)
    assert sorted(value for _, value in drawn("gaia-13", zone)[1]) == pytest.approx([0.81, 1 - 0.44 * 0.19])


def test_figure_17_stands_over_our_all_wait_threshold_and_ecovisor(week: co.Instance) -> None:
    table, points = drawn("gaia-17", week)
    cost, carbon = table["cost"][0], table["carbon"][1]
    assert [value for _, value in points] == pytest.approx([2.17 * cost, 1.09 * cost, 1.11 * carbon])


def test_figure_18_has_the_most_that_long_spot_jobs_add(week: co.Instance) -> None:
    table, points = drawn("gaia-18", week)
    row = table[(table["max_spot_hours"] == 6.0) & (table["eviction_chance_per_hour"] == 0.15)]
    assert points == [(24.0, pytest.approx(1.12 * row["carbon"].iloc[0]))]


def test_caspians_ends_savings_and_late_jobs() -> None:
    own = [f"{PAPERS_OWN}, omega_1 = {omega}" for omega in (1, 0)]
    total = pd.DataFrame({"slot": [1, 2], own[0]: [1.0, 6.0], own[1]: [2.0, 10.0]})
    assert marks(figure_of("caspian-5a").draw(total)) == [(2.0, pytest.approx(6.18))]
    late = pd.DataFrame({"ratio": ["0.0+", "late"], own[0]: [0.9, 0.1], own[1]: [1.0, 0.0]})
    assert [value for _, value in marks(figure_of("caspian-5bc").draw(late))] == [0.072, 0.0]
    load = pd.DataFrame({"policy": "a", "cluster": ["x", "x"], "slot": [0, 1], "used": [1, 2]})
    axis = np.atleast_1d(figure_of("caspian-4").draw(load))[0]
    assert {line.get_xdata()[0] for line in axis.get_lines() if len(set(line.get_xdata())) == 1} == {39, 29}


def test_carbonflex_14_has_what_scaling_changes() -> None:
    table = pd.DataFrame(
        {
            "policy": ["vcc", "vcc-scaling", "optimum"],
            "saving": [0.2, 0.3, 0.6],
            "mean_wait_slots": [24.0, 12.0, 0.0],
            "paper_carbon_kg_over_vcc": [np.nan, -0.016, np.nan],
            "paper_mean_wait_slots_over_vcc": [np.nan, -0.36, np.nan],
        }
    )
    points = marks(figure_of("carbonflex-14").draw(table))
    assert [value for _, value in points] == pytest.approx([1 - 0.984 * 0.8, 0.64])


def test_carbonflex_12_has_both_ends_of_its_distance_to_the_oracle() -> None:
    table = pd.DataFrame(
        {"zone": ["a", "b"] * 2, "policy": ["carbonflex"] * 2 + ["oracle"] * 2, "saving": [0.1, 0.2, 0.4, 0.5]}
    )
    points = marks(figure_of("carbonflex-12").draw(table))
    assert [value for _, value in points] == pytest.approx([0.391, 0.491, 0.3369, 0.4369])
    assert [place for place, _ in points] == pytest.approx([-0.2, 0.2] * 2)
