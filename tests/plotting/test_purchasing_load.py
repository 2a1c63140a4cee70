"""The picture of a purchasing schedule shows what the checker counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from purchasing_random import by_hand, continuous

import carbonopt as co
from carbonopt.plotting.purchasing_load import _load
from carbonopt.problems.purchasing.data.instance import Spot, Weights


@pytest.mark.filterwarnings("ignore:.*coefficients span:UserWarning")
@pytest.mark.parametrize("model", ["splitting", "no-split", "suspend-resume"])
def test_areas_are_the_cpu_hours(model: str) -> None:
    for seed in range(6):
        instance = continuous(seed, model, hazard=[None, 0.0][seed % 2])
        solution = co.solve(instance, "milp", time_limit=None, mip_rel_gap=0.1)
        cpus = dict(zip(instance.jobs.name, instance.jobs.cpus.tolist(), strict=True))
        moment, load = _load(solution, cpus, instance.reserved_cpus)
        areas = load[:, :-1] @ np.diff(moment)
        names = ("reserved_cpu_hours", "on_demand_cpu_hours", "spot_cpu_hours")
        assert areas == pytest.approx([solution.metrics[name] for name in names], abs=1e-6)


def test_a_plot(tmp_path) -> None:
    instance = by_hand(
        [1, 2, 3] * 4, [(0, 2, 2), (1, 1, 1)], reserved_cpus=None, spot=Spot(1.0), weights=Weights(1, 1, 0)
    )
    solution = co.solve(instance, "milp")
    axis = solution.plot(instance)
    texts = [text.get_text() for text in axis.get_legend().get_texts()]
    assert texts == [
        "reserved",
        "on-demand",
        "spot",
        f"{solution.info['reserved_cpus']} reserved CPUs",
        "carbon intensity",
    ]
    assert "kg CO2e" in axis.get_title()
    axis.figure.savefig(tmp_path / "load.png")
    empty = replace(solution, columns={"job": [], "start_hours": [], "end_hours": [], "option": []})
    assert empty.plot(instance) is not None
