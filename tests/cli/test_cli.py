"""The command line as a person or a program uses it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, TINY
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.cli.main import app, command_names
from carbonopt.problems.mlcluster.methods.price import kernels

BENCH = ROOT / "instances/bench/mosp-bench070-j0200-t048-z3-s01.json"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_solve_check_and_json(tmp_path):
    target = tmp_path / "s.json"
    done = run("solve", TINY["crowd"], "-o", target, "--json")
    assert done.exit_code == 0
    summary = json.loads(done.stdout)
    assert set(summary) == {
        "instance", "problem", "method", "status", "sense", "objective", "bound", "gap", "certificate_bound",
        "certificate_gap", "without_loops", "wall_seconds", "work", "metrics",
    }  # fmt: skip
    assert summary["objective"] == pytest.approx(0.7)
    assert run("check", TINY["crowd"], target).exit_code == 0
    wrong = json.loads(target.read_text())
    wrong["schedule"]["start"][0] = 5
    target.write_text(json.dumps(wrong))
    done = run("check", TINY["crowd"], target, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["violations"][0]["constraint"] == "horizon"


@pytest.mark.parametrize(("seconds", "limit"), [([], None), (["-t", 30], 30)])
def test_a_work_limit_takes_the_place_of_the_time_limit(tmp_path, seconds, limit):
    """It is left out unless it is given; what the run has done is in the file."""
    target = tmp_path / "s.json"
    done = run("solve", TINY["crowd"], "-m", "lp-rounding", "--work-limit", 0.01, *seconds, "-o", target)
    assert done.exit_code == 0
    made = json.loads(target.read_text())
    assert (made["options"]["time_limit"], made["options"]["work_limit"]) == (limit, 0.01)
    assert 0 < made["work"] == co.read_solution(target).work


@pytest.mark.parametrize("command", ["compare", "pareto", "bench"])
def test_other_commands_take_a_work_limit(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    instance = TINY["crowd"] if command != "pareto" else tmp_path / "cloud.json"
    co.generate("purchasing", jobs=3, arrival_hours=6).write(tmp_path / "cloud.json")
    assert run(command, instance, "--work-limit", 0.01).exit_code == 0


@pytest.mark.slow
def test_compile_leaves_the_loops_ready():
    done = run("compile", "mlcluster")
    assert done.exit_code == 0
    assert done.stdout.startswith("mlcluster: ready after ")
    assert kernels.cover.is_ready
    assert kernels.soft_cover.is_ready


def test_compile_tells_an_unknown_problem():
    done = run("compile", "mlcluster", "nosp")
    assert done.exit_code == 2
    assert "unknown problem 'nosp': must be 'ecas', 'elastic'" in done.stderr


def test_several_files_go_into_a_folder(tmp_path):
    done = run("solve", TINY["crowd"], TINY["shift"], "-o", tmp_path / "out", "--json")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 2
    assert len(list((tmp_path / "out").glob("*.solution.json"))) == 2


def test_infeasible_is_exit_code_1_and_diagnose_says_why():
    assert run("solve", TINY["infeasible"]).exit_code == 1
    done = run("diagnose", TINY["infeasible"])
    assert done.exit_code == 0
    assert "jobs a, b, c need 96 gpu in slots 4-6 of CA-ON, 32 are there" in done.stdout
    assert json.loads(run("diagnose", TINY["infeasible"], "--json").stdout)["feasible"] is False


def test_compare_prints_the_gap_table(tmp_path):
    done = run("compare", TINY["crowd"], TINY["tradeoff"], "-o", tmp_path / "out")
    assert done.exit_code == 0
    for word in ("method", "status", "carbon kg", "deadlines met", "objective", "bound", "gap", "seconds"):
        assert word in done.stdout
    rows = json.loads(run("compare", TINY["crowd"], "-m", "milp,greedy-clean", "--json").stdout)["rows"]
    assert rows[1]["gap_to_best_bound"] == pytest.approx(0.125)


def test_methods_may_be_given_one_by_one(tmp_path):
    given = ("-m", "milp", "--methods", "lp,greedy-clean")
    rows = json.loads(run("compare", TINY["crowd"], *given, "--json").stdout)["rows"]
    assert [row["method"] for row in rows] == ["milp", "lp", "greedy-clean"]
    lines = run("bench", TINY["crowd"], *given, "-o", tmp_path / "r.jsonl", "--json").stdout.splitlines()
    assert [json.loads(line)["method"] for line in lines] == ["milp", "lp", "greedy-clean"]


def test_compare_leaves_out_what_no_method_has():
    done = run("compare", TINY["rigid_7_5"], "-m", "lp")  # a bound and no schedule
    assert "carbon kg" not in done.stdout
    assert "own bound" in done.stdout
    done = run("compare", TINY["rigid_7_5"], "-m", "lp,milp")
    assert "carbon kg" in done.stdout


def test_convert_warns_of_a_job_that_cannot_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jobs.csv").write_text("arrival_time,length,cpus\n0,3,2\n2,2,8\n3,1,9\n")
    rows = [f"2024-03-01T{hour:02d}:00:00Z,DE,300" for hour in range(24)]
    Path("carbon.csv").write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]))
    given = ("--trace", "jobs.csv", "--time-unit", "hours", "--carbon", "carbon.csv", "--wrap")
    told = run("convert", "mosp", *given, "--capacity", 4, "-o", "tight.json").stderr.splitlines()
    assert told == [
        "warning: tight.json: job 'row1' needs 8 cpu, the largest cluster that may run it has 4, and 1 other job "
        "cannot run either: `carbonopt diagnose` says all"
    ]
    assert run("convert", "mosp", *given, "--capacity", 9, "-o", "room.json").stderr == ""
    for problem in ("elastic", "purchasing", "mlcluster"):
        assert run("convert", problem, *given, "-o", "other.json").stderr == ""


@pytest.mark.filterwarnings("default")
def test_convert_names_a_column_that_may_hold_deadlines_and_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "job_id,arrival_time,length,cpus,latest_end\na,0,3,2,5\nb,2,2,2,9.5\n"
    rows = [f"2024-03-01T{hour:02d}:00:00Z,DE,300" for hour in range(24)]
    Path("carbon.csv").write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]))
    given = ("--trace", "jobs.csv", "--time-unit", "hours", "--carbon", "carbon.csv", "--wrap", "-o", "mine.json")
    Path("jobs.csv").write_text(text)
    (line,) = run("convert", "mosp", *given).stderr.splitlines()
    assert line.startswith("warning: jobs.csv: column 'latest_end' is not read: a deadline is read from 'deadline'")
    Path("jobs.csv").write_text(text.replace("latest_end", "deadline"))
    assert run("convert", "mosp", *given).stderr == ""
    assert json.loads(Path("mine.json").read_text())["jobs"]["deadline"] == [5, 9]


def test_a_share_stands_beside_its_number(tmp_path):
    shown = run("solve", TINY["crowd"]).stdout
    assert shown.count("deadlines met") == 1
    assert "3 (100.00 %)" in shown


def test_the_terms_of_caspian_are_shown_where_they_are_the_objective():
    assert "Caspian's Z" not in run("solve", TINY["crowd"]).stdout
    assert "z1" in json.loads(run("solve", TINY["crowd"], "--json").stdout)["metrics"]
    assert "Caspian's Z1: clean load" in run("solve", TINY["caspian"]).stdout


@pytest.mark.parametrize("method", ["auto", "greedy-clean"])
def test_solve_says_at_once_which_job_fits_no_cluster(tmp_path, method):
    raw = json.loads(TINY["crowd"].read_text())
    raw["jobs"]["demand"]["gpu"][1] = 64
    path = tmp_path / "big.json"
    path.write_text(json.dumps(raw))
    done = run("solve", path, "-m", method)
    why = f"job {raw['jobs']['name'][1]!r} needs 64 gpu, the largest cluster that may run it has 1"
    assert done.exit_code == 1
    assert f": {why}; `carbonopt diagnose` says all" in done.stderr


def test_the_page_of_commands_has_them_all():
    """The options at its end are of `command_names`, and every command is named in a head or a sentence."""
    names = command_names()
    assert ["generate", "mlcluster"] in names
    assert {"plan", "risk", "regret", "pareto", "simulate", "controller", "timetable"} <= {words[0] for words in names}
    page = (ROOT / "docs/cli.md").read_text()
    assert "command_names()" in page
    for words in names:
        assert f"`{words[0]}`" in page or f"carbonopt {' '.join(words)}" in page, words


def test_the_hash_is_whole_on_one_line():
    assert f"\nsha256 {co.read(TINY['crowd']).sha256}\n" in run("info", TINY["crowd"]).stdout


def test_info_reports_a_job_that_no_cluster_can_hold(tmp_path):
    raw = json.loads(TINY["crowd"].read_text())
    raw["jobs"]["demand"]["gpu"][1] = 9
    path = tmp_path / "large.json"
    path.write_text(json.dumps(raw))
    done = run("info", path, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["warnings"] == ["job 'y' needs 9 gpu, the largest cluster that may run it has 1"]
    assert "job 'y' needs 9 gpu" in run("diagnose", path).stdout


def test_generate_convert_export_and_plot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("generate", "mosp", "--preset", "caspian", "--jobs", 20, "--seed", 1)
    assert done.stdout.strip() == "mosp-caspian-j0020-t048-z3-s01.json"
    assert len(co.read(done.stdout.strip()).jobs) == 20
    for suffix in ("lp", "mps"):
        assert run("export", TINY["crowd"], "-o", f"crowd.{suffix}").exit_code == 0
    assert run("solve", TINY["crowd"], "-o", "s.json").exit_code == 0
    assert run("plot", TINY["crowd"], "s.json", "-o", "s.png").exit_code == 0
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    assert run("plot", TINY["crowd"], "s.json", "-o", "s.xyz").exit_code == 2


def test_bench_resumes(tmp_path):
    arguments = ("bench", TINY["crowd"], TINY["shift"], "-m", "milp,lp", "-o", tmp_path / "r.jsonl")
    assert run(*arguments).exit_code == 0
    lines = (tmp_path / "r.jsonl").read_text()
    assert run(*arguments, "--json").exit_code == 0
    assert (tmp_path / "r.jsonl").read_text() == lines


def start(*arguments):
    command = [sys.executable, "-m", "carbonopt.cli.main", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path, process):
    """Wait for the first incumbent."""
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


@pytest.mark.slow
def test_a_gap_that_is_asked_for_ends_the_run_with_incumbent_bound_and_gap():
    done = run("solve", BENCH, "--method", "milp", "--mip-rel-gap", 0.1, "--time-limit", "inf", "--json")
    summary = json.loads(done.stdout)
    assert done.exit_code == 0
    assert summary["objective"] is not None
    assert summary["bound"] <= summary["objective"]
    assert 0 <= summary["gap"] <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
@pytest.mark.parametrize("method", ["milp", "lp-rounding"])
def test_an_interrupt_leaves_a_solution_that_check_accepts(tmp_path, number, method):
    target = tmp_path / "s.json"
    process = start("solve", BENCH, "--method", method, "-o", target, "--time-limit", 60)
    wait_for(target, process)
    process.send_signal(number)
    process.communicate()
    assert process.returncode == 130
    assert run("check", BENCH, target).exit_code == 0


@pytest.mark.slow
def test_ctrl_c_during_the_lp_of_a_rounding_is_an_interrupt(tmp_path):
    """The solver's thread sends the signal, and waits until it is told to stop."""
    target = tmp_path / "s.json"
    code = """
import os, signal
from carbonopt.milp import run
from carbonopt.cli.main import main
begin = run.Run._work
def work(self):
    os.kill(os.getpid(), signal.SIGINT)
    while not self.stopped_by_user:
        self.finished.wait(0.01)
    begin(self)
run.Run._work = work
main()
"""
    arguments = map(str, ("solve", BENCH, "--method", "lp-rounding", "-o", target, "--time-limit", "inf"))
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, check=False)
    assert done.returncode == 130
    assert co.read_solution(target).status == "interrupted"
    assert run("check", BENCH, target).exit_code == 0


@pytest.mark.slow
def test_a_kill_leaves_the_last_incumbent(tmp_path):
    target = tmp_path / "s.json"
    process = start("solve", BENCH, "--method", "milp", "-o", target, "--time-limit", 60)
    wait_for(target, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert run("check", BENCH, target).exit_code == 0
    assert co.read_solution(target).status == "interrupted"


def test_version():
    assert run("--version").stdout.strip() == co.__version__


def test_files_that_are_written_are_told_in_json(tmp_path):
    done = run("generate", "mosp", "--jobs", 12, "-o", tmp_path / "i.json", "--json")
    told = json.loads(done.stdout)
    assert told == {
        "file": str(tmp_path / "i.json"),
        "instance": "mosp-caspian-j0012-t048-z3-s01",
        "sha256": told["sha256"],
    }
    told = json.loads(run("export", tmp_path / "i.json", "-o", tmp_path / "i.lp", "--json").stdout)
    assert told["columns"] > 0


def test_the_tables_of_getting_started_become_an_instance(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/getting_started.md").read_text()
    for name in ("jobs.csv", "carbon.csv"):
        lines = page.partition(f"`{name}`:\n\n```text\n")[2].partition("```")[0]
        (tmp_path / name).write_text(lines.removesuffix("...\n"))
    told = page.partition("$ carbonopt convert ")[2].partition("\n")[0].split()
    assert run("convert", *told, "--wrap").exit_code == 0
    assert len(co.read("mine.json").jobs) == 3


def test_several_carbon_files_stand_behind_one_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jobs.csv").write_text("arrival_time,length,cpus\n0,1,2\n")
    for name, zone in (("a.csv", "DE"), ("b.csv", "FR")):
        rows = (f"2024-03-01T{hour:02d}:00:00Z,{zone},300" for hour in range(8))
        (tmp_path / name).write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *rows]))
    told = ("--jobs", "jobs.csv", "--time-unit", "hours", "--carbon", "a.csv", "b.csv", "--wrap", "-o", "i.json")
    assert run("convert", "mosp", *told).exit_code == 0
    assert co.read("i.json").carbon.zones == ("DE", "FR")
