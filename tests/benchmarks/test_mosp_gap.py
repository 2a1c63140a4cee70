"""benchmarks/peers/mosp_gap.py: every line runs or says why not, and what is proven agrees. Times are not tested."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mosp_gap
import mosp_gap_cases
import mosp_gap_tables
import pytest

import carbonopt as co
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.formulation.program import build

TINY = ["--jobs", "8", "--clusters", "2", "--slots", "16", "--time-limit", "100", "--no-warm-up"]
"""Every line ends at once, but for `price` where numba has nothing in its cache."""
CP_SAT = ["cp-sat-boolean", "cp-sat-interval"]
MODELLED = ["pyomo", "linopy"]
EXACT = ["price", "milp", "highs", *MODELLED, *CP_SAT]
NO_PROOF = ["lp-rounding", "lp-rounding-caspian", "greedy-clean", "greedy-random"]
ROUNDING = 1e-5
"""Of 8 jobs, each at most a millionth."""
PEERS = Path(mosp_gap.__file__).parent


def generated(**changes: Any) -> MospInstance:
    size = {"jobs": 8, "clusters": 2, "slots": 16, "seed": 1} | changes
    instance = co.generate("mosp", preset="bench", **size)
    assert isinstance(instance, MospInstance)
    return instance


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The results of all lines, by name."""
    path = tmp_path_factory.mktemp("gap") / "results.json"
    assert mosp_gap.main([*TINY, "-o", str(path)]) == 0
    found = json.loads(path.read_text())
    assert [each["instance"] for each in found["instances"]] == ["mosp-bench070-j0008-t016-z2-s01"]
    return {result["name"]: result for result in found["instances"][0]["results"]}


@pytest.mark.slow
class TestTinyRun:
    def test_every_line_is_there(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        assert list(tiny_run) == list(mosp_gap_cases.CASES)
        for name in NO_PROOF:
            assert tiny_run[name]["status"] in ("feasible", "unknown")

    def test_lines_of_absent_tools_say_so(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        for package, names in {"ortools": CP_SAT, "pyomo": ["pyomo"], "linopy": ["linopy"]}.items():
            for name in names:
                if find_spec(package) is None:
                    assert tiny_run[name]["status"] == f"{package} is not installed"
                    assert tiny_run[name]["objective"] is tiny_run[name]["bound"] is tiny_run[name]["gap"] is None

    def test_no_schedule_is_better_than_any_bound(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        bounds = [result["bound"] for result in tiny_run.values() if result["bound"] is not None]
        for result in tiny_run.values():
            assert result["objective"] is None or result["objective"] >= max(bounds) - 1e-9

    def test_all_optima_are_equal(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        left_out = [name for name in EXACT if tiny_run[name]["bound"] is None]
        proven = [name for name in EXACT if name not in left_out]
        assert {"price", "milp", "highs"} <= set(proven)
        assert all("installed" in tiny_run[name]["status"] for name in left_out)
        assert {tiny_run[name]["status"] for name in proven} == {"optimal"}
        for name in proven:
            assert tiny_run[name]["objective"] == pytest.approx(tiny_run["milp"]["objective"], abs=ROUNDING)
            assert tiny_run[name]["bound"] == pytest.approx(tiny_run["milp"]["objective"], abs=2 * ROUNDING)

    def test_the_root_lies_between_the_lp_and_the_optimum(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        lp, root, best = tiny_run["lp"]["bound"], tiny_run["highs-root"]["bound"], tiny_run["milp"]["objective"]
        assert lp - ROUNDING <= root <= best + ROUNDING

    def test_costs_are_numbers(self, tiny_run: dict[str, dict[str, Any]]) -> None:
        for result in tiny_run.values():
            assert result["cpu_s"] >= 0
            assert result["peak_mb"] >= result["rise_mb"] >= 0


def test_jobs_that_may_be_rejected() -> None:
    pytest.importorskip("pyomo")
    crowded = generated(jobs=12, clusters=1, load=2.5)
    root, best = mosp_gap.measure("highs-root", crowded, 5.0), co.solve(crowded, "milp", mip_rel_gap=0.0)
    assert best.metrics["jobs_rejected"] >= 1
    assert best.objective is not None
    assert root["bound"] <= best.objective <= root["objective"] + 1e-9
    for name in MODELLED:
        if mosp_gap_cases.absent(name) is None:
            found = mosp_gap.measure(name, crowded, 5.0)
            assert "no rejection" in found["status"]
            assert found["objective"] is found["bound"] is None


CP_SAT_SCRIPT = """
import json, sys
import carbonopt as co
import mosp_gap_cpsat as cpsat
cases = (cpsat.cp_sat_boolean, cpsat.cp_sat_interval)
found = [[case(co.read(path), 20.0) for case in cases] for path in sys.argv[1:]]
assert "ortools" in sys.modules and "highspy" not in sys.modules
print(json.dumps(found))
"""


@pytest.mark.skipif(find_spec("ortools") is None, reason="needs ortools")
def test_both_forms_of_cp_sat_have_the_optimum_of_milp(tmp_path: Path) -> None:
    paths: list[str] = []
    optima: list[Any] = []
    changes: list[dict[str, Any]] = [{}, {"jobs": 12, "seed": 2}, {"jobs": 12, "clusters": 1, "load": 2.5}]
    for number, change in enumerate([*changes, {"jobs": 9, "load": 1.4}]):
        instance = generated(**change)
        paths.append(str(tmp_path / f"{number}.json"))
        instance.write(paths[-1])
        optima.append(co.solve(instance, "milp", mip_rel_gap=0.0).objective)
    command = [sys.executable, "-c", CP_SAT_SCRIPT, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PEERS)
    for optimum, forms in zip(optima, json.loads(done.stdout), strict=True):
        for found in forms:
            assert found["status"] == "optimal"
            assert optimum - 1e-9 <= found["objective"] <= optimum + 12e-6
            assert optimum - 13e-6 <= found["bound"] <= optimum + 1e-9


def test_bound_and_incumbent_of_a_solve_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at its second schedule, and at once."""
    pytest.importorskip("pyomo")
    from mosp_build import load_arrays
    from mosp_models import carbonopt_arrays

    from carbonopt.core.options import Options

    instance = generated(jobs=60, clusters=3, slots=24)
    form = build(instance, placement_value(instance))
    lp = co.solve(instance, "lp").bound
    highs = load_arrays(carbonopt_arrays(form.program))
    values, found = mosp_gap_cases.run_highs(highs, instance, Options(time_limit=None), mip_max_improving_sols=2)
    assert found["status"] == "root is done"
    assert values is not None
    objective = mosp_gap_cases.checked(instance, form.schedule(values, instance))
    assert objective is not None
    assert lp is not None
    assert lp - 1e-4 <= found["bound"] < objective
    monkeypatch.setattr(Options, "remaining", 1e-9)
    highs = load_arrays(carbonopt_arrays(form.program))
    values, found = mosp_gap_cases.run_highs(highs, instance, Options())
    assert values is None
    assert found["objective"] is None
    assert found["status"] == "time_limit"


@pytest.mark.parametrize("name", MODELLED)
def test_a_build_that_takes_all_the_time(name: str) -> None:
    if mosp_gap_cases.absent(name):
        pytest.skip(f"needs {name}")
    found = mosp_gap_cases.CASES[name](generated(), 1e-6)
    assert found["status"].startswith("out of time: built for")
    assert found["objective"] is found["bound"] is None


def test_an_older_linopy_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mosp_gap_cases, "find_spec", lambda name: name)
    monkeypatch.setattr(mosp_gap_cases, "installed", lambda name: "0.9.1")
    assert mosp_gap_cases.absent("linopy") == "linopy 0.9.1 is installed, 0.10 is needed"
    assert mosp_gap_cases.absent("pyomo") is None


def test_large_models_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import mosp_gap_cpsat

    monkeypatch.setattr(mosp_gap_cpsat, "find_spec", lambda name: name)
    monkeypatch.setattr(mosp_gap_cpsat, "MOST_PLACEMENTS", 100)
    assert mosp_gap_cpsat.cp_sat_boolean(generated(), 1.0)["status"].startswith("too large: 1")
    assert mosp_gap_cpsat.cp_sat_interval(generated(), 1.0)["status"].endswith(" entries in tables of costs")
    monkeypatch.setattr(mosp_gap_cases, "MOST_COLUMNS", {"pyomo": 100})
    assert (mosp_gap_cases.too_large("pyomo", generated()) or "").endswith(" columns")
    assert mosp_gap_cases.too_large("linopy", generated()) is None


def test_a_line_that_crashes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "no-instance.json"
    found = mosp_gap.measure_apart("lp", path, 1.0, warm=False)
    assert found["status"] == "ended with 1"
    mosp_gap_tables.add_gaps([found])
    assert mosp_gap_tables.table([found], mosp_gap_tables.LINE).splitlines()[1].split()[1:8] == ["-"] * 7


def test_what_is_finished_is_kept_after_each_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "results.json"

    def measured(name: str, *_: Any) -> dict[str, Any]:
        if name == "milp":
            raise KeyboardInterrupt
        costs = {"cpu_s": 1.0, "wall_s": 1.0, "peak_mb": 1.0, "rise_mb": 1.0}
        return {"name": name, "objective": 2.0, "bound": 1.0, "status": "feasible", **costs}

    monkeypatch.setattr(mosp_gap, "measure_apart", measured)
    with pytest.raises(KeyboardInterrupt):
        mosp_gap.main([*TINY, "--seeds", "1,2", "--cases", "price,milp", "-o", str(path)])
    found = json.loads(path.read_text())
    assert [result["name"] for result in found["instances"][0]["results"]] == ["price"]
    assert found["instances"][0]["results"][0]["own_gap"] == 0.5


def _line(name: str, objective: float | None, bound: float | None) -> dict[str, Any]:
    return {"name": name, "objective": objective, "bound": bound}


def test_median_and_worst_count_a_missing_gap_as_worst() -> None:
    runs = [
        [_line("a", 4.0, 3.0), _line("b", 5.0, 2.0)],
        [_line("a", 2.0, 2.0), _line("b", 4.0, None)],
        [_line("a", 8.0, 4.0), _line("b", None, 2.0)],
    ]
    for results in runs:
        mosp_gap_tables.add_gaps(results)
    a, b = mosp_gap_tables.summary(runs)
    assert (a["gap_median"], a["gap_worst"], a["schedules"], a["bounds"]) == (0.25, 0.5, "3/3", "3/3")
    assert (b["gap_median"], b["gap_worst"], b["schedules"], b["bounds"]) == (0.5, None, "2/3", "2/3")
    assert (b["own_gap_median"], b["own_gap_worst"]) == (None, None)
    assert (b["bound_gap_median"], b["bound_gap_worst"]) == (0.75, None)
    shown = mosp_gap_tables.table([a, b], mosp_gap_tables.CASE).splitlines()
    assert shown[2].split() == ["b", "2/3", "2/3", "50.0000%", "-", "-", "-", "75.0000%", "-"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--cases", "price,nothing"], "unknown case 'nothing'"), (["--seeds", "1,x"], "must be whole numbers")],
)
def test_impossible_options(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        mosp_gap.main(arguments)
    assert words in capsys.readouterr().err
