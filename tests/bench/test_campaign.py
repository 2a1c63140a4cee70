import json
import subprocess
import sys

import pytest
from conftest import ROOT, TINY
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.bench.bks import update
from carbonopt.bench.campaign import run_campaign
from carbonopt.bench.gaps import by_method, with_best_bounds
from carbonopt.bench.results import append, read_results
from carbonopt.bench.runs import runs_on
from carbonopt.cli.main import app
from carbonopt.core.errors import CarbonoptError
from carbonopt.core.files import locked
from carbonopt.core.jsonfile import write_json
from carbonopt.core.options import Progress
from carbonopt.core.trace import MOST_POINTS, Trace

METHODS = ["milp", "greedy-clean", "lp"]
PATHS = [TINY["crowd"], TINY["tradeoff"]]


def campaign(paths, methods, results, *more, **options):
    runs = [run for path in paths for run in runs_on(path, methods, [0])]
    return run_campaign(runs, results, *more, **options)


def test_a_campaign_goes_on_where_it_stopped(tmp_path):
    results = tmp_path / "results.jsonl"
    runs = campaign(PATHS, METHODS, results, time_limit=None)
    for _ in range(2):
        next(runs)
    assert len(read_results(results)) == 2
    with results.open("a") as file:
        file.write('{"cut short')
    fresh = []
    records = list(campaign(PATHS, METHODS, results, lambda *pair: fresh.append(pair), time_limit=None))
    assert len(records) == 6
    assert len(fresh) == 4
    assert len(read_results(results)) == 6
    assert len(list(campaign(PATHS, METHODS, results, lambda *pair: pytest.fail("ran again"), time_limit=None))) == 6


def test_an_interrupt_right_after_a_run_is_written_tells_it(tmp_path, monkeypatch):
    """The file holds it, though it was not told yet."""
    results = tmp_path / "r.jsonl"

    def interrupted(results, row):
        append(results, row)
        raise KeyboardInterrupt

    monkeypatch.setattr("carbonopt.bench.campaign.append", interrupted)
    line = ["bench", str(PATHS[0]), "--methods", "lp,milp", "-o", str(results)]
    found = CliRunner().invoke(app, line, catch_exceptions=False)
    assert found.exit_code == 130
    assert f"interrupted: 1 of 2 runs are in {results}; the same command goes on" in found.stderr
    assert len(read_results(results)) == 1


def test_gaps_are_against_the_best_bound_of_the_instance(tmp_path):
    table = with_best_bounds(list(campaign(PATHS[:1], METHODS, tmp_path / "r.jsonl", time_limit=None)))
    row = table.set_index("method").loc["greedy-clean"]
    assert row["best_bound"] == pytest.approx(0.7)
    assert row["gap_to_best_bound"] == pytest.approx((0.8 - 0.7) / 0.8)
    summary = by_method(table).set_index("method")
    assert summary.loc["milp", "median_gap"] == pytest.approx(0, abs=1e-9)


def test_best_known_values_only_improve(tmp_path, tiny):
    path = tmp_path / "bks.json"
    instance = tiny["crowd"]
    assert update(path, instance, co.solve(instance, "greedy-clean")) == ["objective"]
    assert update(path, instance, co.solve(instance, "price")) == ["objective", "bound"]
    assert update(path, instance, co.solve(instance, "greedy-clean")) == []
    entry = json.loads(path.read_text())[instance.name]
    assert entry["objective"]["value"] == pytest.approx(0.7)
    assert entry["objective"]["method"] == "price"
    assert entry["bound"]["date"]
    best = co.read_solution(tmp_path / "solutions" / f"{instance.name}.json")
    assert co.check(instance, best).objective == entry["objective"]["value"]


def test_a_bound_without_certificate_is_not_entered(tmp_path, tiny):
    from dataclasses import replace

    solution = co.solve(tiny["crowd"], "greedy-clean")
    assert update(tmp_path / "bks.json", tiny["crowd"], replace(solution, bound=0.75)) == ["objective"]


def test_a_value_that_crosses_a_bound_is_an_error(tmp_path, tiny):
    path = tmp_path / "bks.json"
    update(path, tiny["crowd"], co.solve(tiny["crowd"], "price"))
    known = json.loads(path.read_text())
    known[tiny["crowd"].name]["bound"]["value"] = 0.75
    known[tiny["crowd"].name]["objective"]["value"] = 0.8
    write_json(path, known)
    with pytest.raises(CarbonoptError, match="cross"):
        update(path, tiny["crowd"], co.solve(tiny["crowd"], "milp"))


def test_no_finished_run_is_an_empty_table():
    assert by_method(with_best_bounds([])).empty


@pytest.mark.slow
def test_a_results_file_that_another_campaign_writes_is_left_to_it(tmp_path):
    results = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "carbonopt", "bench", *PATHS, "-m", "lp", "-o", results]
    with locked(results):
        second = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert second.returncode == 2
    assert second.stderr == f"error: {results}: another process writes to it: wait for its end\n"
    assert results.read_text() == ""
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False, cwd=ROOT).returncode == 0


@pytest.mark.slow
def test_two_campaigns_at_once_make_every_run_once(tmp_path):
    """Whichever comes second is refused or finds all done; asked again, it finds all done."""
    results = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "carbonopt", "bench", *PATHS, "-m", ",".join(METHODS), "-t", "inf", "-o", results]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert sorted({each.wait() for each in both}) in ([0], [0, 2])
    assert subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode == 0
    runs = [(record["instance"], record["method_asked"]) for record in read_results(results)]
    assert len(runs) == len(set(runs)) == 6


def test_a_record_keeps_how_the_gap_closed(tmp_path):
    records = list(campaign(PATHS[:1], ["milp", "price", "greedy-clean"], tmp_path / "r.jsonl", time_limit=20.0))
    for record in records:
        seconds = [point[0] for point in record["trajectory"]]
        assert seconds == sorted(seconds)
        assert tuple(record["trajectory"][-1][1:]) == (record["objective"], record["bound"])
    milp, _, greedy = records
    assert milp["root_bound"] == pytest.approx(0.7)
    assert milp["seconds_to_0.1_percent"] <= milp["wall_seconds"]
    assert greedy["seconds_to_1_percent"] is None
    assert with_best_bounds(read_results(tmp_path / "r.jsonl")).equals(with_best_bounds(records))


def test_old_and_broken_trajectories_leave_their_columns_empty(tmp_path):
    (record,) = campaign(PATHS[:1], ["greedy-clean"], tmp_path / "r.jsonl", time_limit=None)
    assert with_best_bounds([record])["primal_integral"].notna().all()
    for broken in (None, 3, [], [[0.0, 1.0]], [["a", None, None]], [[float("nan"), 1.0, 1.0]]):
        row = with_best_bounds([record | {"trajectory": broken, "root_bound": "x"}]).iloc[0]
        assert row["primal_integral"] is None or row["primal_integral"] != row["primal_integral"]


def test_a_long_trajectory_is_thinned_to_changes_and_keeps_its_ends():
    trace = Trace()
    for number in range(1000):
        trace(Progress(float(number), incumbent=1000.0 - number // 2, bound=0.0))
    points = trace.points()
    assert len(points) <= MOST_POINTS
    assert points[0] == (0.0, 1000.0, 0.0)
    assert points[-1] == (999.0, 501.0, 0.0)
