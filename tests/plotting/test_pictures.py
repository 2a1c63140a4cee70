"""Pictures against those that were looked at.

`python tests/plotting/test_pictures.py` draws these anew: look at them before they are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import carbonopt as co
from carbonopt.bench.gaps import COLUMNS
from carbonopt.core.trace import Trace
from carbonopt.pareto import Front
from carbonopt.plotting.figure import image
from carbonopt.plotting.front import plot_front
from carbonopt.plotting.profile import plot_profile
from carbonopt.plotting.progress import plot_progress
from carbonopt.plotting.runs import lanes
from carbonopt.plotting.style import style
from carbonopt.plotting.waterfall import plot_waterfall

KEPT = Path(__file__).parent / "pictures"
TOLERANCE = 12.0
"""Root of the mean square of the difference of pixels, of 255: letters differ a little between versions."""


def gantt() -> Any:
    """Eight jobs on two clusters, one of which is clean at noon."""
    hours = pd.date_range("2024-05-01", periods=12, freq="h")
    carbon = pd.DataFrame({"A": np.abs(np.arange(12.0) - 6) * 80 + 20, "B": 300.0}, index=hours)
    clusters = pd.DataFrame({"zone": ["A", "B"], "capacity.gpu": 3, "watts_per_unit.gpu": 300.0}, index=["sun", "grid"])
    jobs = pd.DataFrame({"arrival": [0, 0, 1, 2, 2, 3, 4, 5], "duration": 3, "deadline": 12, "demand.gpu": 1})
    day = co.MospInstance.from_frames("noon", carbon=carbon, clusters=clusters, jobs=jobs)
    starts = {"cluster": ["sun", "grid"] * 4, "start": [4, 0, 5, 3, 7, 3, 4, 7]}
    return co.evaluate(day, {"job": list(day.jobs.name), **starts}).plot(day, "gantt")


def front() -> Any:
    """A bound ends at the limit, which the point under it may not reach."""
    rows = {
        "limit_cost_usd": [2.0, 3.0, None],
        "cost_usd": [1.9, 2.6, 4.0],
        "carbon_kg": [9.0, 7.0, 5.0],
        "bound": [8.0, 6.5, 5.0],
    }
    return plot_front(Front(("carbon_kg", "cost_usd"), "carbon_kg", pd.DataFrame(rows), ()))


def waterfall() -> Any:
    """8 kg are proven; commitment adds 1, unknown lengths 3."""
    parts = {"due_to_lengths": 0.375, "due_to_heuristic": 0.0, "due_to_preemption": 0.125}
    return plot_waterfall({"policy": "carbon-time", "carbon_kg": 12.0, "excess_over_loosest": 0.5, **parts})


PICTURES: dict[str, tuple[Callable[[], Any], dict[str, str]]] = {
    "gantt": (gantt, {"size": "column", "tz": "Asia/Tokyo"}),
    "front": (front, {"theme": "dark"}),
    "waterfall": (waterfall, {}),
}


def draw(name: str, path: Path) -> Any:
    make, looks = PICTURES[name]
    with style(**looks):
        axes = make()
        axis = axes if hasattr(axes, "figure") else axes[0]
        axis.figure.savefig(path, dpi=60)
    return axes


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was_looked_at(name: str, tmp_path: Path) -> None:
    from matplotlib.testing.compare import compare_images

    draw(name, tmp_path / f"{name}.png")
    kept = tmp_path / f"{name}-kept.png"
    kept.write_bytes((KEPT / f"{name}.png").read_bytes())
    assert compare_images(str(kept), str(tmp_path / f"{name}.png"), TOLERANCE) is None


def test_bounds_end_at_their_limits() -> None:
    steps, edges, _ = front().patches[0].get_data()
    assert steps.tolist() == [8, 6.5, 5]
    assert edges[1:].tolist() == [2, 3, 4]


def test_the_steps_add_up() -> None:
    bars = waterfall().patches
    assert [bar.get_height() for bar in bars] == pytest.approx([8, 12, 1, 0, 3])
    assert [bar.get_y() for bar in bars[2:]] == pytest.approx([8, 9, 9])
    with pytest.raises(co.UnsupportedError, match="split=True"):
        plot_waterfall({"policy": "p", "carbon_kg": 1.0})


def test_a_profile_counts_instances_and_a_gap_closes() -> None:
    runs = [("i", "a", 0.0), ("j", "a", 0.02), ("i", "b", 0.01), ("j", "b", None)]
    table = pd.DataFrame(runs, columns=["instance", "method", "gap_to_best_bound"]).reindex(columns=COLUMNS)
    axis = plot_profile(table)
    axis.figure.canvas.draw()
    assert "0.01" in [label.get_text() for label in axis.get_xticklabels()]
    first, second = (patch.get_data() for patch in axis.patches)
    assert first.values.tolist() == [0, 50, 100]
    assert second.values.tolist() == [0, 50]
    assert second.edges[1] == pytest.approx(1.0)
    with pytest.raises(co.UnsupportedError, match="no run has a gap"):
        plot_profile(table.assign(gap_to_best_bound=np.nan))
    trace = Trace()
    with pytest.raises(co.UnsupportedError, match="reported nothing"):
        plot_progress(trace)
    instance = co.generate("mosp", jobs=5, seed=1)
    trace.end(co.solve(instance, "milp", callback=trace))
    best, bound = plot_progress(trace).lines
    assert best.get_ydata()[-1] == pytest.approx(bound.get_ydata()[-1], rel=1e-3)


def test_a_campaign_draws_its_profile(tmp_path: Path, tiny_mosp) -> None:
    from cli_support import run  # not where the pictures are drawn anew, without the folder of the tests

    instance, name, results = (tmp_path / part for part in ("i.json", "profile.svg", "r.jsonl"))
    tiny_mosp[0].write(instance)
    assert run("bench", instance, "-m", "greedy-clean,lp", "-o", results, "--plot", name).exit_code == 0
    assert "<svg" in name.read_text()
    assert run("bench", instance, "-m", "lp", "-o", results, "--plot", "p.txt").exit_code == 2


def test_each_job_has_a_row_with_its_name() -> None:
    day = co.generate("mosp", jobs=30, seed=1)
    solution = co.solve(day, "greedy-clean")
    axes = solution.plot(day, "gantt")
    named = {axis.get_ylabel(): [label.get_text() for label in axis.get_yticklabels()] for axis in axes}
    rows = solution.schedule
    used = sorted(set(rows["cluster"]))
    assert sorted(named) == used
    for cluster in used:
        mine = rows[rows["cluster"] == cluster]
        assert sorted(named[cluster]) == sorted(mine["job"])
        axis = next(axis for axis in axes if axis.get_ylabel() == cluster)
        begins = [patch.get_x() for patch in axis.patches]
        assert len(begins) == len(mine)
        lanes_of = [patch.get_y() for patch in axis.patches]
        assert [x for _, x in sorted(zip(lanes_of, begins, strict=True))] == sorted(begins)


def test_many_jobs_share_rows_without_names() -> None:
    crowd = co.generate("mosp", jobs=80, seed=1)
    axes = co.solve(crowd, "greedy-clean").plot(crowd, "gantt")
    assert len(axes) > 1
    assert axes[0].figure.get_supylabel() == "jobs at a time"
    for axis in axes:
        assert axis.get_ylabel() in crowd.clusters.name
        assert not {*crowd.jobs.name} & {text.get_text() for text in [*axis.texts, *axis.get_yticklabels()]}


def test_a_cluster_without_runs_has_no_axes(tiny_mosp) -> None:
    instance, _ = tiny_mosp
    jobs = replace(instance.jobs.part(np.array([0])), name=("$a_{$\x07" + 40 * "b",))
    alone = replace(instance, jobs=jobs)
    (axis,) = co.solve(alone, "milp").plot(alone, "gantt")
    assert axis.get_title().endswith("1 run, none on dirty")
    (name,) = (label.get_text() for label in axis.get_yticklabels())
    assert name.startswith("$a_{$")
    assert name.endswith("b…")
    assert "\x07" not in name
    assert image(axis, "svg").rstrip().endswith(b"</svg>")


def test_lanes_are_as_few_as_runs_at_once() -> None:
    generator = np.random.default_rng(1)
    begin = generator.uniform(0, 10, 60)
    end = begin + generator.uniform(0.1, 3, 60)
    lane = np.array(lanes(begin, end))
    assert lane.max() + 1 == max(((begin <= at) & (at < end)).sum() for at in begin)
    for number in range(lane.max() + 1):
        order = np.argsort(begin[lane == number])
        assert (begin[lane == number][order][1:] >= end[lane == number][order][:-1]).all()


if __name__ == "__main__":
    KEPT.mkdir(exist_ok=True)
    for picture in PICTURES:
        draw(picture, KEPT / f"{picture}.png")
