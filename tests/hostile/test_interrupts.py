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
        time.sleep(0.2)
        self.finished.set()

    runs = []
    begin = milp_run.Run.to_the_end
    monkeypatch.setattr(milp_run.Run, "_work", work)
    monkeypatch.setattr(milp_run.Run, "to_the_end", lambda self: (runs.append(self), begin(self)))
    solution = co.solve(tiny["crowd"], "milp", time_limit=8)
    assert solution.status is co.Status.INTERRUPTED
    assert len(runs) == 1


def test_a_signal_that_was_swallowed_still_ends_what_is_asked_next(asked, tiny):
    with pytest.raises(KeyboardInterrupt):
        interrupt.ask(signal.SIGINT, None)
    assert Options(time_limit=None).remaining == 0
    solution = co.solve(tiny["crowd"], "greedy-clean")
    assert solution.status is co.Status.INTERRUPTED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_of_the_command_ends_with_130(tmp_path, number):
    code = "from carbonopt.cli.main import main; print('on', flush=True); main()"
    file = ROOT / "instances/paper/mosp-caspian-j0200-t048-z3-s01.json"
    command = [sys.executable, "-c", code, "solve", str(file), "-m", "milp", "-t", "100"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert running.stdout is not None
    assert running.stdout.readline() == "on\n"
    time.sleep(2.5)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, (out, err)
    assert "Traceback" not in err


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
