import numpy as np
import pytest

import carbonopt as co
from carbonopt.plotting.elastic_load import plot_elastic_load
from carbonopt.plotting.figure import new_axes, save


def drawn(axis):
    """Return the heights of each stack of steps by label, without what lies below it."""
    found = {}
    for patch in axis.patches:
        values, _, baseline = patch.get_data()
        found[patch.get_label()] = values if baseline is None else values - np.asarray(baseline)
    return found


def test_servers_by_profile_against_capacity(tiny):
    instance = tiny["rigid_7_5"]
    axis = co.solve(instance, "milp").plot(instance)
    steps = drawn(axis)
    assert steps["two"].tolist() == [2, 0]
    assert steps["one"].tolist() == [0, 1]
    assert steps["capacity"].tolist() == [2, 2]
    assert drawn(axis.figure.axes[1])["carbon intensity"].tolist() == [1, 3]
    assert axis.get_xlabel().startswith("time (UTC) from ")
    assert axis.figure.axes[1].get_ylabel() == "carbon intensity\n[gCO2e/kWh]"
    assert "0.005 kg CO2e" in axis.get_title()


def test_parts_of_slots_are_drawn_as_averages(tiny, tmp_path):
    instance = tiny["gains_10p2_9p24"]
    solution = co.solve(instance, "price")
    axis = new_axes()[0]
    assert plot_elastic_load(instance, solution, ax=axis) is axis
    load = sum(heights for name, heights in drawn(axis).items() if name in ("a", "b"))
    assert load == pytest.approx([3, 1.56, 0])
    save(axis, tmp_path / "load.png")
    assert (tmp_path / "load.png").stat().st_size > 1000


def test_nothing_to_draw_but_the_axes(tiny):
    raw = tiny["printed_none_1"].to_dict()
    raw["jobs"] = {column: [] for column in raw["jobs"]}
    raw["cluster"]["capacity"], raw["carbon"]["g_per_kwh"] = 0, [[0]]
    from carbonopt.problems.elastic.data.file import from_dict

    instance = from_dict(raw)
    solution = co.solve(instance, "carbonflex-greedy")
    assert drawn(solution.plot(instance))["one"].tolist() == [0]
