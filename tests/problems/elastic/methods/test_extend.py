"""The paper's loop: extend the deadlines of unfinished jobs and repeat, told job by job."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import carbonopt as co
from carbonopt.cli.main import app
from carbonopt.core.options import Options
from carbonopt.core.time import TimeGrid
from carbonopt.problems.elastic import PROBLEM
from carbonopt.problems.elastic.data.instance import Cluster, ElasticInstance, ElasticJobs, Profile
from carbonopt.problems.elastic.methods.extend import extend


def crossing(slots: int = 4, length: float = 2.0, slack: int = 0) -> ElasticInstance:
    """Return the page's false infeasibility: A in [0, 2), B in [1, 3), one server, CI 2, 1, 1."""
    intensity = [2.0, 1.0, 1.0, 5.0, 5.0, 5.0][:slots]
    return ElasticInstance(
        name="crossing",
        carbon=co.CarbonSignal(("A",), np.array([intensity]), TimeGrid(slots)),
        cluster=Cluster(np.array(1.0), "A"),
        profiles=(Profile("p", 1, np.array([1.0]), np.array([1000.0])),),
        jobs=ElasticJobs(("A", "B"), np.array([0, 1]), np.array([1.0, length]), np.array([1, slack]), ("p", "p")),
    )


def test_the_greedy_extends_where_no_extension_is_needed():
    found = extend(crossing(), Options())
    assert (found.job, found.extra_slots, found.rounds, found.needed) == (("B",), (1,), 2, False)
    assert found.instance.jobs.slack.tolist() == [1, 1]
    assert PROBLEM.run("carbonflex-greedy", found.instance, Options()).schedule is not None
    assert co.solve(crossing(), "milp").objective == pytest.approx(4)


def test_an_extension_that_is_needed_is_proven_to_be():
    found = extend(crossing(slots=6, length=3.0).with_slack(np.array([0, 0])), Options())
    assert found.needed is False  # A in slot 0, B in slots 1-3
    tight = replace(crossing(slots=6, length=3.0), jobs=replace(crossing(slots=6, length=3.0).jobs, arrival=[1, 1]))
    found = extend(tight, Options(), step_slots=2)
    assert found.needed is True
    assert found.extra_slots == (2,)


def test_nothing_to_extend():
    found = extend(crossing(length=1.0, slack=1), Options())
    assert (found.job, found.rounds, found.needed) == ((), 1, False)


def test_a_window_cannot_leave_the_horizon():
    with pytest.raises(co.UnsupportedError, match="leaves job 'B' unfinished with a window up to the horizon"):
        extend(crossing(slots=3), Options())
    with pytest.raises(co.UnsupportedError, match="step_slots = 0: must be at least 1"):
        extend(crossing(), Options(), step_slots=0)


def test_command(tmp_path, capsys):
    path, target = tmp_path / "crossing.json", tmp_path / "longer.json"
    crossing().write(path)
    with pytest.raises(SystemExit) as ended:
        app(["extend", str(path), "-o", str(target), "--json"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert told["extensions"] == [{"job": "B", "extra_slots": 1}]
    assert told["needed"] is False
    assert co.read(target).jobs.slack.tolist() == [1, 1]
    with pytest.raises(SystemExit) as ended:
        app(["extend", str(path), "-o", str(target)])
    assert "not needed" in " ".join(capsys.readouterr().out.split())
