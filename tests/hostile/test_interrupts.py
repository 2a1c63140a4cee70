"""A signal ends a run, whenever it comes: at imports, as a solver ends, or where code of others swallows it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

import carbonopt as co
from carbonopt.core import interrupt
from carbonopt.core.options import Options
from carbonopt.milp import run as milp_run


@pytest.fixture
def asked():
    """Let a test set what a signal sets, and undo it."""
    yield
    interrupt.forget()


def test_a_signal_as_the_first_lp_ends_stops_the_run(monkeypatch, tiny):
    def work(self):
        self.highs.run()
        os.kill(os.getpid(), signal.SIGINT)  # HiGHS has made its last check by now
        while not self.stopped_by_user:
            time.sleep(0.01)
        self.finished.set()

    runs = []
    begin = milp_run.Run.to_the_end
    monkeypatch.setattr(milp_run.Run, "_work", work)
    monkeypatch.setattr(milp_run.Run, "to_the_end", lambda self: (runs.append(self), begin(self)))
    solution = co.solve(tiny["crowd"], "milp", time_limit=None)
    assert solution.status is co.Status.INTERRUPTED
    assert len(runs) == 1


@pytest.mark.parametrize("place", ["_is_late", "_poll"])
def test_a_signal_between_two_waits_stops_the_solver_too(monkeypatch, tiny, place):
    """Its thread would run on while the process ends, which aborts it."""
    runs = []
    original = getattr(milp_run.Run, place)
    work = milp_run.Run._work

    def signalled(self):
        runs.append(self)
        if len(runs) == 1:
            raise KeyboardInterrupt
        return original(self)

    def begun_late(self):
        while not self.stopped_by_user:
            time.sleep(0.01)
        work(self)

    monkeypatch.setattr(milp_run.Run, place, signalled)
    monkeypatch.setattr(milp_run.Run, "_work", begun_late)
    assert co.solve(tiny["crowd"], "milp", time_limit=None).status is co.Status.INTERRUPTED
    assert runs[0].finished.is_set()


def test_a_signal_that_was_swallowed_still_ends_what_is_asked_next(asked, tiny):
    with pytest.raises(KeyboardInterrupt):
        interrupt.ask(signal.SIGINT, None)
    assert Options(time_limit=None).remaining == 0
    solution = co.solve(tiny["crowd"], "greedy-clean")
    assert solution.status is co.Status.INTERRUPTED


PHASES = {
    "read": ("carbonopt", "read"),
    "check the start": ("carbonopt.check", "report_on"),
    "choose": ("carbonopt.core.registry", "Problem.choose"),
    "load the loops": ("carbonopt.problems.mosp.methods.price.method", "loops"),
    "pass a program": ("carbonopt.milp.highs", "scaling_of"),
    "solve, in the calling thread": ("carbonopt.milp.run", "Run.to_the_end"),
    "solve, in the solver's thread": ("carbonopt.milp.run", "Run._work"),
    "take the result": ("carbonopt.milp.highs", "_result"),
    "judge": ("carbonopt.judge", "report_on"),
    "write": ("carbonopt.core.solution", "write_json"),
}
SIGNALLED = """
import importlib, os
from carbonopt.cli.main import main
owner = importlib.import_module({module!r})
*owners, name = {name!r}.split(".")
for part in owners:
    owner = getattr(owner, part)
original = getattr(owner, name)
def signalled(*arguments, **options):
    os.kill(os.getpid(), {number})
    return original(*arguments, **options)
setattr(owner, name, signalled)
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
@pytest.mark.parametrize("phase", PHASES)
def test_a_signal_at_any_phase_of_the_command_ends_it_with_130(tmp_path, tiny, number, phase):
    module, name = PHASES[phase]
    file, start = tmp_path / "i.json", tmp_path / "start.json"
    tiny["crowd"].write(file)
    co.solve(tiny["crowd"], "greedy-clean").write(start)
    method = {"load the loops": "price", "choose": "auto"}.get(phase, "milp")
    code = SIGNALLED.format(module=module, name=name, number=int(number))
    command = [sys.executable, "-c", code, "solve", file, "-m", method, "-t", "inf", "-o", "s.json", "--start", start]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "s.json").exists() or co.read_solution(tmp_path / "s.json").has_solution


def test_threads_beyond_the_processors_are_not_started(tiny):
    assert co.solve(tiny["crowd"], "milp", threads=100_000).objective == pytest.approx(0.7)


@pytest.mark.parametrize("module", ["numpy", "pydantic", "typer"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_modules_are_imported_is_told_in_one_line(tmp_path, module, number):
    """Also where the module makes an error of its own of any exception, as numpy does."""
    lines = [
        "import os",
        "try:",
        f"    os.kill(os.getpid(), {int(number)})",
        "except BaseException:",
        "    raise ImportError",
    ]
    (tmp_path / f"{module}.py").write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, "-m", "carbonopt", "info"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
