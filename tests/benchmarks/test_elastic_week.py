"""benchmarks/peers/elastic_week.py: every line runs, and what must be equal is, or it says so. Times are not tested."""

import json
from pathlib import Path
from typing import Any

import elastic_cases
import elastic_week
import pytest
from elastic_plain import Algorithm1

import carbonopt as co
from carbonopt.problems.elastic.methods.greedy import allocate

TINY = ["--jobs", "4", "--capacity", "4", "--arrival-hours", "12", "--time-limit", "5", "--no-apart"]


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The results of all lines, by name."""
    path = tmp_path_factory.mktemp("week") / "results.json"
    assert elastic_week.main([*TINY, "-o", str(path)]) == 0
    return {result["name"]: result for result in json.loads(path.read_text())["results"]}


class TestTinyRun:
    @pytest.mark.slow
    def test_every_line_is_there_with_numbers(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        assert list(tiny_run) == list(elastic_cases.CASES)
        for result in tiny_run.values():
            assert result["objective"] > 0
            assert result["cpu_s"] >= 0
            assert result["model"] in ("integer", "fluid")
            assert (result["gap"] is None) == (not result["feasible"])

    def test_plain_python_gives_the_same_schedule(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        for plain, own in elastic_week.EQUAL_SCHEDULES:
            assert tiny_run[plain]["schedule_sha256"] == tiny_run[own]["schedule_sha256"]

    def test_fluid_optima_are_equal_and_below_the_integer_one(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        optima = [tiny_run[name]["objective"] for name in elastic_week.EQUAL_OPTIMA]
        assert optima == pytest.approx([optima[0]] * 3, rel=1e-6)
        for name in ("milp", "price-integer", "greedy-corrected"):
            assert tiny_run[name]["objective"] >= optima[0] * (1 - 1e-9)


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize("recompute", [True, False])
def test_plain_python_on_tight_clusters(printed: bool, recompute: bool) -> None:
    for seed in range(6):
        week = co.generate("elastic", jobs=12, utilisation=0.8, arrival_hours=12, profiles="gpu-mix", seed=seed)
        expected = allocate(week, "printed" if printed else "corrected").schedule(week)
        assert Algorithm1(week, printed).run(recompute).schedule == expected


def test_plain_python_stops_when_the_time_is_out() -> None:
    week = co.generate("elastic", jobs=4, arrival_hours=12)
    assert Algorithm1(week, printed=True).run(recompute=True, seconds=0.0).share == 0


@pytest.mark.slow
def test_one_process_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*TINY[:-1], "--cases", "plain-printed,greedy-printed"]
    assert elastic_week.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("elastic-synthetic-j0004-")
    assert lines[1].split()[:3] == ["model", "CPU", "s"]
    assert [line.split("  ")[0] for line in lines[2:]] == ["plain Python, printed, running", "Algorithm 1, printed"]


def test_recomputed_sums_are_left_out_of_large_weeks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elastic_week, "PLAIN_UNITS", 10)
    assert elastic_week.main([*TINY, "--cases", "plain-recomputed,plain-printed"]) == 0
    said = capsys.readouterr()
    assert "plain-recomputed left out" in said.err
    assert "recomputed" not in said.out
    assert elastic_week.main([*TINY, "--cases", "plain-recomputed", "--plain-seconds", "0"]) == 0
    assert "stopped after 0.0% of the units" in capsys.readouterr().out


def test_real_data(data_folder: Path) -> None:
    arguments = ["--trace", str(data_folder / "jobs/azure-100k.csv"), "--time-unit", "hours"]
    arguments += ["--carbon", str(data_folder / "carbon/AU-SA_2022_hourly.csv")]
    size = elastic_week.generated(elastic_week.parse(arguments)).features()
    assert (size["jobs"], size["units"]) == (1259, 713_856)


def _results(**changes: Any) -> list[dict[str, Any]]:
    same = {"objective": 2.0, "schedule_sha256": "a"}
    return [{"name": name} | (same | changes if name == "price-fluid" else same) for name in elastic_cases.CASES]


def test_agreement_up_to_rounding() -> None:
    assert elastic_week.disagreements(_results(objective=2.0 + 1e-9)) == []


def test_differences_are_told() -> None:
    results = _results(objective=2.00001)
    results[0]["schedule_sha256"] = "b"
    assert elastic_week.disagreements(results) == [
        "plain-recomputed and greedy-printed differ in the schedule",
        "lp and price-fluid differ in the fluid optimum: 2.0 and 2.00001",
    ]


def test_fluid_bounds_hold_for_the_integer_model_but_not_the_other_way() -> None:
    results = [
        {"model": "integer", "objective": 4.0, "bound": 3.0, "feasible": True},
        {"model": "fluid", "objective": 2.0, "bound": 1.0, "feasible": True},
        {"model": "integer", "objective": 4.0, "bound": None, "feasible": False},
    ]
    elastic_week.add_gaps(results)
    assert [result["gap"] for result in results] == [0.25, 0.5, None]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--cases", "lp,nothing"], "unknown case 'nothing'"), (["--trace", "t.csv"], "--trace needs --time-unit")],
)
def test_impossible_options(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        elastic_week.main(arguments)
    assert words in capsys.readouterr().err
