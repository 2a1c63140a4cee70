"""What a notebook and a prompt show of each object, and instances made of pandas tables."""

from __future__ import annotations

import runpy
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pandas as pd
import pytest
from conftest import ROOT

import carbonopt as co
from carbonopt.problems.mosp.data.objectives import CaspianObjective

HOURS = pd.date_range("2024-05-01", periods=3, freq="30min", tz="Europe/Berlin")
CARBON = pd.DataFrame({"DE": [400.0, 300.0, 100.0]}, index=HOURS)
CLUSTERS = pd.DataFrame({"zone": "DE", "capacity.gpu": 2, "watts_per_unit.gpu": 1000.0}, index=["c"])
JOBS = pd.DataFrame({"arrival": [0, 1], "duration": 1, "deadline": 3, "demand.gpu": [1, 2]}, index=["a", "b"])


@pytest.fixture(scope="module")
def mine() -> co.MospInstance:
    return co.MospInstance.from_frames("<mine>", carbon=CARBON, clusters=CLUSTERS, jobs=JOBS)


class Balance(HTMLParser):
    """Tags that are open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_every_object_has_one_line_and_a_card(mine) -> None:
    solution = co.solve(mine, "milp")
    broken = replace(solution, columns={**solution.columns, "start": [0, 0]})
    shown = [mine, mine.jobs, mine.carbon, solution, co.check(mine, broken), co.diagnose(mine), co.formulate(mine)]
    for item in shown:
        assert "\n" not in repr(item)
        assert len(repr(item)) < 160
        page = Balance()
        page.feed(item._repr_html_().replace("<style scoped>", "<style>"))
        assert page.open == []
    assert "<mine>" not in mine._repr_html_()
    assert "&lt;mine&gt;" in mine._repr_html_()
    # b takes the last slot: 2 kW x 0.5 h x 100 g; a the middle one: 1 kW x 0.5 h x 300 g; they complete at 3 and 2
    assert repr(solution).startswith("Solution(milp on '<mine>': optimal, objective 0.275, bound 0.275, gap ")
    assert "release" in co.check(mine, broken)._repr_html_()
    assert "Caspian" not in solution._repr_html_()
    caspian = co.solve(mine.with_objective(CaspianObjective()), "milp")
    assert "Caspian's Z1: clean load" in unescape(caspian._repr_html_())


def test_frames_make_what_a_file_holds(mine) -> None:
    assert mine.time.slot_hours == 0.5
    assert mine.time.start.isoformat() == "2024-04-30T22:00:00+00:00"
    assert mine.jobs.name == ("a", "b")
    assert mine.jobs.demand.tolist() == [[1], [2]]
    assert mine.carbon.to_frame()["DE"].tolist() == [400, 300, 100]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"carbon": CARBON.reset_index(drop=True)}, "carbon.index = RangeIndex: must be a DatetimeIndex"),
        ({"carbon": CARBON.iloc[[0, 2, 1]]}, r"carbon.index\[2\] = .*00:30:00.*: must be 1.0 h after"),
        ({"carbon": CARBON.iloc[::-1]}, "must be -0.5 h after the moment before, as the first step is, and later"),
        ({"carbon": CARBON.iloc[:1]}, "must hold two moments or more"),
        ({"carbon": {"DE": [1]}}, "carbon = dict: must be a DataFrame"),
        ({"carbon": CARBON * float("nan")}, r"g_per_kwh\[0\]\[0\] = nan"),
        ({"jobs": JOBS.assign(deadline=[None, 3])}, r"jobs.deadline\[0\] = nan"),
        ({"jobs": JOBS.assign(demand=1)}, "demand = .*there twice|demand: is there twice"),
        ({"jobs": JOBS.drop(columns="duration")}, "jobs.duration: is missing"),
        ({"jobs": JOBS.assign(arrival=HOURS[:2])}, r"jobs.arrival\[0\] = '2024-05-01"),
        ({"clusters": CLUSTERS.assign(zone="FR")}, r"clusters.zone\[0\] = 'FR': is unknown"),
        ({"colour": 1}, "colour"),
    ],
)
def test_wrong_frames_are_told_by_field(change, said) -> None:
    with pytest.raises(co.InputError, match=said):
        co.MospInstance.from_frames("x", **{"carbon": CARBON, "clusters": CLUSTERS, "jobs": JOBS} | change)


def test_every_problem_takes_frames() -> None:
    sample = {"arrival_hours": [0.0], "length_hours": [1.0], "cpus": [2]}
    week = pd.Series(range(1, 169), index=pd.date_range("2024-05-01", periods=168, freq="h"), name="DE")
    cloud = co.PurchasingInstance.from_frames("p", carbon=week, jobs=pd.DataFrame(sample), zone="DE")
    assert [queue.name for queue in cloud.queues] == ["short", "long"]
    for name in ("elastic", "mlcluster", "ecas"):
        made = co.generate(name, jobs=4)
        raw = made.to_dict()
        sections = {key: raw[key] for key in raw if key not in ("schema_version", "problem", "name", "time", "carbon")}
        sections["jobs"] = pd.DataFrame(raw["jobs"]) if name != "ecas" else raw["jobs"]
        again = type(made).from_frames(made.name, carbon=made.carbon.to_frame(), **sections)
        assert again.sha256 == made.sha256


def test_a_file_is_of_the_class_that_was_asked_for(mine, tmp_path) -> None:
    mine.write(tmp_path / "day.json")
    assert co.read(tmp_path / "day.json", co.MospInstance).sha256 == mine.sha256
    with pytest.raises(co.InputError, match="problem = 'mosp': must be 'ecas'"):
        co.read(tmp_path / "day.json", co.EcasInstance)
    with pytest.raises(AttributeError):
        co.NoInstance  # noqa: B018


def test_the_typed_example_runs(capsys) -> None:
    runpy.run_path(str(ROOT / "docs/typed_example.py"), run_name="__main__")
    assert "jobs wait" in capsys.readouterr().out
