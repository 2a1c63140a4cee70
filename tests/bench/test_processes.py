"""Runs in processes: limits, crashes, and where the results go."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from cli_support import errors, run
from conftest import ROOT, TINY
from hostile.kills import METHODS, killed_campaign

from carbonopt.bench import forks
from carbonopt.bench.processes import Isolated, on_processes
from carbonopt.bench.results import key_of, read_results
from carbonopt.bench.runs import job_of, runs_on
from carbonopt.core.errors import InputError

OPTIONS = {"time_limit": None, "threads": 1, "memory_mib": None, "kill_seconds": None}


def job(**limits):
    return job_of(runs_on(TINY["crowd"], ["milp"], [0])[0], OPTIONS | limits, keep_solution=False)


@pytest.fixture(scope="module")
def isolated():
    one = Isolated()
    yield one
    one.close()


def test_a_run_ends_with_its_row_or_with_what_ended_it(isolated):
    assert isolated(job())["row"]["objective"] == pytest.approx(0.7)
    killed = isolated(job(kill_seconds=0.0))
    assert (killed["failed"], killed["message"]) == ("killed", "took more than 0 s")
    large = isolated(job(memory_mib=1.0))
    assert (large["failed"], large["message"]) == ("memory_limit", "took more than 1 MiB of memory")
    gone = isolated(job() | {"path": "no.json"})
    assert "no such file" in gone["refused"]
    crashed = isolated(job() | {"seed": "x"})
    assert crashed["failed"] == "crashed"
    assert isolated(job())["row"]["objective"] == pytest.approx(0.7)


def test_a_signal_is_told(monkeypatch):
    """In this process, which forks itself: what a run dies of is what the operating system says."""
    monkeypatch.setattr("carbonopt.bench.perform.perform", lambda job: os.kill(os.getpid(), signal.SIGUSR2))
    reading, writing = os.pipe()
    kept = os.dup(0)
    os.dup2(reading, 0)  # pytest's own is closed, which would mean that nobody asks
    try:
        answer = forks.supervised(job())
    finally:
        os.dup2(kept, 0)
        for number in (kept, reading, writing):
            os.close(number)
    assert answer["failed"] == "crashed"
    assert "signal 12" in answer["message"]


def test_a_watcher_that_was_killed_is_a_crashed_run_and_the_next_one_is_made(isolated):
    isolated(job())
    os.kill(isolated._server.pid, signal.SIGKILL)
    assert isolated(job()).keys() & {"row", "failed"}
    assert isolated(job())["row"]["objective"] == pytest.approx(0.7)


def test_two_processes_make_each_run_once():
    answers = list(on_processes([job() for _ in range(5)], workers=2))
    assert sorted(number for number, _ in answers) == list(range(5))
    assert all("row" in answer for _, answer in answers)


def test_a_killed_run_is_a_row_and_is_not_made_again(tmp_path):
    arguments = (
        "bench",
        TINY["crowd"],
        "-m",
        "lp",
        "--seeds",
        "1-2",
        "--memory-limit",
        "1",
        "-o",
        tmp_path / "r.jsonl",
    )
    for _ in range(2):
        done = run(*arguments)
        assert [row["status"] for row in read_results(tmp_path / "r.jsonl")] == ["memory_limit"] * 2
    assert "memory_limit" in done.stdout


def test_rows_of_other_options_or_versions_are_not_mixed(tmp_path):
    path = tmp_path / "r.jsonl"
    assert run("bench", TINY["crowd"], "-m", "lp", "-t", "5", "-o", path).exit_code == 0
    told = run("bench", TINY["crowd"], "-m", "lp", "-t", "6", "-o", path)
    assert (told.exit_code, told.stderr) == (
        2,
        f"error: {path}: holds runs with time_limit 5.0, and not with 6.0: they cannot be compared\n",
    )
    row = json.loads(path.read_text())
    path.write_text(json.dumps(row | {"versions": row["versions"] | {"carbonopt": "0.0.1"}}) + "\n")
    told = run("bench", TINY["crowd"], "-m", "lp", "-t", "5", "-o", path)
    assert "holds runs with carbonopt '0.0.1'" in told.stderr


@pytest.mark.slow
def test_the_parts_of_an_array_make_the_whole(tmp_path):
    common = ("-m", "lp,greedy-clean", "--seeds", "1-2", "-t", "5")
    for number in (1, 2, 3):
        done = run("bench", TINY["crowd"], *common, "--array-task", f"{number}/3", "-o", tmp_path / "r.jsonl")
        assert done.exit_code == 0
    parts = [read_results(path) for path in sorted(tmp_path.iterdir())]
    assert [len(part) for part in parts] == [2, 1, 1]
    assert len({key_of(row) for part in parts for row in part}) == 4


def test_policies_run_beside_methods(tmp_path):
    given = ("bench", TINY["cleanhour_2"], "-m", "simulate:carbon-time,milp", "-o", tmp_path / "r.jsonl")
    assert run(*given).exit_code == 0
    policy, exact = read_results(tmp_path / "r.jsonl")
    assert policy["method"] == "simulate:carbon-time"
    assert policy["objective"] >= exact["objective"]
    (told,) = errors("bench", TINY["cleanhour_2"], "-m", "simulate:no-policy", "-o", tmp_path / "r.jsonl")
    assert told.startswith("unknown policy 'no-policy'")


def test_solutions_are_kept_beside_the_results(tmp_path):
    done = run("bench", TINY["crowd"], "-m", "milp", "--solutions", tmp_path / "s", "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 0
    (row,) = read_results(tmp_path / "r.jsonl")
    assert run("check", TINY["crowd"], tmp_path / row["solution"]).exit_code == 0


def test_results_that_cannot_be_read_again_are_refused():
    assert errors("bench", TINY["crowd"], "-o", "/dev/full") == ["/dev/full: is no file, and could not be gone on with"]


@pytest.mark.parametrize(
    "given",
    [
        ("--seeds", "5-1"),
        ("--seeds", "x"),
        ("--seeds", "0-999999999"),
        ("--array-task", "0/3"),
        ("--array-task", "4/3"),
        ("--cluster", "tcp://here"),
    ],
)
def test_what_makes_no_campaign_is_told_in_one_line(tmp_path, given):
    done = run("bench", TINY["crowd"], *given, "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {given[0]} ")
    assert done.stderr.count("\n") == 1


def test_an_instance_that_changes_meanwhile_is_refused(tmp_path):
    from carbonopt.bench.campaign import run_campaign

    path = tmp_path / "i.json"
    path.write_text(TINY["crowd"].read_text())
    runs = runs_on(path, ["lp"], [0])
    path.write_text(TINY["tradeoff"].read_text())
    with pytest.raises(InputError, match="has changed"):
        list(run_campaign(runs, tmp_path / "r.jsonl", time_limit=None))


@pytest.mark.slow
def test_nothing_runs_on_after_a_kill(tmp_path):
    """Whatever forks runs ends with the campaign that asked for them."""
    large = ROOT / "instances/bench/mosp-bench070-j0200-t048-z3-s01.json"
    command = [sys.executable, "-m", "carbonopt", "bench", large, "-m", "milp", "-t", "300", "--workers", "2"]
    process = subprocess.Popen([*command, "--seeds", "1-2", "-o", tmp_path / "r.jsonl"], cwd=ROOT)
    whole = psutil.Process(process.pid)
    while len(found := whole.children(recursive=True)) < 4:
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    gone, alive = psutil.wait_procs(found, timeout=30)
    assert len(gone) == 4
    assert not alive


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice_when_the_campaign_is_killed(tmp_path):
    counts = killed_campaign(tmp_path, instances=6, seeds=2, kills=2, cluster=None)
    assert len(counts) == 6 * 2 * len(METHODS)
    assert set(counts.values()) == {1}
