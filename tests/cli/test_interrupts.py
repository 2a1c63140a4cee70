"""A first signal keeps what a command has done, prints it and exits with 130; a second one ends it at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import run
from conftest import ROOT

import carbonopt as co
from carbonopt.core import interrupt
from carbonopt.forecasts import write_archive
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small

SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
TONIGHT = ROOT / "instances/tonight"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with small instances, a forecast and another signal."""
    monkeypatch.chdir(tmp_path)
    night = small("night", [0, 0, 0], 1, {"a": (0, 1, 1)})
    night.write("night.json")
    values = np.array([[[300.0, 100.0, 500.0], [300.0, 450.0, 500.0]]])
    write_archive(ForecastArchive("DE", night.time, np.array([0]), values), "de.csv")
    co.generate("purchasing", jobs=6, arrival_hours=12, reserved=1, seed=1).write("cloud.json")
    hours = (f"2023-01-01T0{hour}:00:00Z,DE,{300 - 100 * hour}" for hour in range(3))
    Path("carbon.csv").write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *hours]))
    return tmp_path


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Handle signals as the command does."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    interrupt.forget()
    interrupt.handle_with(interrupt.ask)
    yield
    interrupt.forget()
    for number, old in before:
        signal.signal(number, old)


def at_call(monkeypatch: pytest.MonkeyPatch, place: str, call: int, number: signal.Signals) -> list[None]:
    """Let a signal come at a call of a function, ``module:name``; return a list of the calls."""
    module, _, name = place.partition(":")
    *owners, name = name.split(".")
    owner: Any = import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    original: Callable[..., Any] = getattr(owner, name)
    calls: list[None] = []

    def signalled(*arguments: Any, **options: Any) -> Any:
        calls.append(None)
        if len(calls) == call:
            os.kill(os.getpid(), number)
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, signalled)
    return calls


DONE = {
    "compare": ("carbonopt.compare:solve", ["compare", "night.json", "-m", "lp,milp"], ["lp", "optimal"]),
    "compare policies": (
        "carbonopt.excess:least",
        ["compare", "cloud.json", "-p", "no-wait,carbon-time", "--work-limit", 0.01],
        ["policies against the proven least"],
    ),
    "simulate": (
        "carbonopt.simulate:judged",
        ["simulate", "cloud.json", "-p", "no-wait,carbon-time"],
        ["no-wait"],
    ),
    "regret": (
        "carbonopt.cli.regret:_print",
        ["regret", "cloud.json", "-p", "no-wait,carbon-time", "-t", 1],
        ["lost to"],
    ),
    "regret under two signals": (
        "carbonopt.regret.signals:solve",
        ["regret", "night.json", "-t", 1, "--evaluate-under", "carbon.csv"],
        ["optimised", "planned for"],
    ),
    "risk": ("carbonopt.uncertainty.solve:columns_of", ["risk", "night.json", "--forecast", "de.csv"], ["expectation"]),
    "pareto": (
        "carbonopt.pareto:solve",
        ["pareto", "cloud.json", "-m", "lp-rounding", "--quantities", "carbon_kg,cost_usd"],
        ["least carbon kg under limits"],
    ),
    "bench": ("carbonopt.cli.campaigns:told", ["bench", "night.json", "-m", "lp,milp"], ["lp", "1 of 2 runs are in"]),
    "reproduce": (
        "carbonopt.papers.figure:simulate",
        ["reproduce", "gaia-8", "cloud.json"],
        ["what had ended", "no-wait"],
    ),
}
CALLS = {"compare policies": 3, "pareto": 3, "bench": 1}
"""At which call the signal comes; at the second where it is not told."""


@SIGNALS
@pytest.mark.parametrize("name", DONE)
def test_what_is_done_is_printed(monkeypatch: pytest.MonkeyPatch, name: str, number: signal.Signals) -> None:
    place, arguments, words = DONE[name]
    at_call(monkeypatch, place, CALLS.get(name, 2), number)
    done = run(*arguments)
    assert done.exit_code == 130, done.output
    for word in words:
        assert word in done.output
    assert "Traceback" not in done.output


@SIGNALS
@pytest.mark.parametrize("call", [1, 2], ids=["of the plan", "of the one at once"])
def test_a_plan_keeps_the_schedule_that_was_found(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, call: int
) -> None:
    at_call(monkeypatch, "carbonopt.solve:_solution", call, number)
    now = ("--now", "2026-11-24T22:00")
    done = run("plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", *now, "-o", "plan.json")
    assert done.exit_code == 130, done.output
    assert "kg from now on" in done.stdout, done.output
    assert co.read_plan("plan.json").kg > 0


@SIGNALS
def test_a_plan_that_is_made_again_keeps_the_schedule_that_was_found(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    now = ("--now", "2026-11-24T22:00")
    planned = run("plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", *now, "-o", "plan.json")
    assert planned.exit_code == 0
    at_call(monkeypatch, "carbonopt.planning.replan:judged", 1, number)
    later = ("--carbon", TONIGHT / "forecast_23h.csv", "--now", "2026-11-24T23:00")
    done = run("replan", "plan.json", *later, "-o", "again.json")
    assert done.exit_code == 130, done.output
    assert "kg from now on" in done.stdout, done.output
    assert co.read_plan("again.json").kg > 0


@SIGNALS
def test_a_knowledge_base_keeps_the_windows_that_were_replayed(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    co.generate("elastic", jobs=12, arrival_hours=72, seed=5, capacity=5, model="fluid").write("past.json")
    learn = ("learn", "past.json", "--window-hours", 24, "--step-hours", 12, "-o")
    assert run(*learn, "whole.json").exit_code == 0
    at_call(monkeypatch, "carbonopt.problems.elastic.online.learn:replayed", 3, number)
    done = run(*learn, "part.json")
    assert done.exit_code == 130, done.output
    cases = [int(line.split()[1]) for line in (done.stdout, run(*learn, "whole.json").stdout)]
    assert 0 < cases[0] < cases[1]


PHASES = {
    "read": "carbonopt.core.files:_bounded",
    "load": "carbonopt.core.registry:import_module",
    "solve": "carbonopt.core.registry:Problem.run",
    "check": "carbonopt.judge:report_on",
    "print": "carbonopt.cli.tables:print_table",
    "write": "carbonopt.core.files:replace_file",
    "put in place": "carbonopt.core.files:os.replace",
}
WHOLE = {
    "compare": ["compare", "night.json", "-m", "lp,milp", "-o", "t.csv"],
    "bench": ["bench", "night.json", "-m", "lp,milp", "-o", "r.jsonl", "--bks", "bks.json"],
    "simulate": ["simulate", "cloud.json", "-p", "no-wait,carbon-time", "-o", "t.csv"],
    "regret": ["regret", "cloud.json", "-p", "no-wait", "-t", "inf", "-o", "t.csv"],
    "risk": ["risk", "night.json", "--forecast", "de.csv", "-o", "t.csv"],
    "pareto": ["pareto", "night.json", "-m", "milp", "--levels", 2, "-o", "t.csv"],
    "reproduce": ["reproduce", "gaia-8", "cloud.json", "-o", "t.csv"],
    "plan": ["plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", "--now", "2026-11-24T22:00",
             "-m", "greedy-clean", "-o", "p.json"],
}  # fmt: skip
NOT_REACHED = {(name, "solve") for name in ("simulate", "bench", "reproduce", "risk")} | {
    ("bench", "check"), ("plan", "print"), ("reproduce", "print"), ("reproduce", "read"),
}  # fmt: skip
"""What a command does without, or in processes of its own."""


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", WHOLE)
def test_a_signal_in_any_phase_ends_a_command_and_leaves_whole_files(
    monkeypatch: pytest.MonkeyPatch, name: str, phase: str
) -> None:
    number = signal.SIGINT if len(phase) % 2 else signal.SIGTERM
    calls = at_call(monkeypatch, PHASES[phase], 1, number)
    done = run(*WHOLE[name])
    if not calls:
        assert (name, phase) in NOT_REACHED
        return
    assert done.exit_code == 130, done.output
    assert "Traceback" not in done.output
    assert not [path.name for path in Path().iterdir() if ".part" in path.name]
    assert all(path.read_text().endswith("\n") for path in Path().glob("t.csv"))
    assert all(json.loads(path.read_text()) for path in Path().glob("*.json"))


WHOLE_OR_NOT = {
    "report": ("carbonopt.report.page:pictures", ["report", "results.jsonl", "-o"], "page.html"),
    "fetch-signal": (
        "carbonopt.live.fetch:_asked",
        ["fetch-signal", "neso", "GB", "--max-age-minutes", 0, "-o"],
        "signal.csv",
    ),
}


@SIGNALS
@pytest.mark.parametrize("output", ["kept.json", None])
def test_solve_says_where_the_incumbent_is(
    monkeypatch: pytest.MonkeyPatch, output: str | None, number: signal.Signals
) -> None:
    """With ``-o`` it is there, without it in a file named after the instance."""
    at_call(monkeypatch, "carbonopt.solve:_solution", 1, number)
    done = run("solve", "night.json", "-m", "milp", *(() if output is None else ("-o", output)))
    file = output or "night.interrupted.json"
    assert (done.exit_code, co.read_solution(file).status) == (130, "interrupted"), done.output
    assert f"interrupted: the incumbent is in {file}\n" in done.stderr


@SIGNALS
@pytest.mark.parametrize("name", WHOLE_OR_NOT)
def test_a_file_that_is_written_at_the_end_stays_as_it_was(
    monkeypatch: pytest.MonkeyPatch, name: str, number: signal.Signals
) -> None:
    place, arguments, file = WHOLE_OR_NOT[name]
    assert run("bench", "night.json", "-m", "lp", "-o", "results.jsonl").exit_code == 0
    Path(file).write_text("as it was")
    at_call(monkeypatch, place, 1, number)
    done = run(*arguments, file)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (130, "interrupted"), done.output
    assert Path(file).read_text() == "as it was"


SECOND = """
import importlib, os, signal, time
from carbonopt.cli.main import main
from carbonopt.core import interrupt
def twice(*arguments):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        interrupt._asked[0] -= interrupt.ONE_REQUEST_SECONDS
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    finally:
        print("kept")
importlib.import_module('carbonopt.simulate').judged = twice
main()
"""


def test_a_second_signal_stops_at_once() -> None:
    command = [sys.executable, "-c", SECOND, "simulate", "cloud.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_signals_of_one_moment_are_one_request() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt.ask(signal.SIGTERM, None)
    interrupt.ask(signal.SIGTERM, None)  # of `timeout`, to the process and to its group
