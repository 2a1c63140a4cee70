"""A solver that does not stop at its limit is left behind: what it has reported by then is the result."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from tests_support import hard_knapsack

import carbonopt as co
from carbonopt.core import leftover
from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import run
from carbonopt.milp.highs import solve


@pytest.fixture
def stuck(monkeypatch):
    """Let HiGHS report a point and a bound, and then neither stop nor call anything until the test is over."""
    release = threading.Event()

    def work(self):
        size = self.highs.getNumCol()
        point = SimpleNamespace(
            mip_solution=np.zeros(size), objective_function_value=0.0, mip_dual_bound=9.0, mip_node_count=0
        )
        self._on_improvement(SimpleNamespace(data_out=point))
        self._on_interrupt_check(SimpleNamespace(data_out=point, data_in=SimpleNamespace()))
        release.wait()
        self.finished.set()

    monkeypatch.setattr(run.Run, "_work", work)
    monkeypatch.setattr(run, "GRACE_SECONDS", 0.0)
    yield release
    release.set()
    leftover.wait()


def test_what_was_reported_is_the_result(stuck):
    program = hard_knapsack()
    result = solve(program, Options(time_limit=0.0))
    assert result.status is Status.TIME_LIMIT
    assert result.values is not None
    assert result.values.tolist() == [0.0] * program.columns
    assert (result.objective, result.bound) == (0.0, 9.0)
    assert "left behind" in result.info["highs_status"]


def test_a_first_ctrl_c_is_enough(stuck):
    def press(progress):
        raise KeyboardInterrupt

    result = solve(hard_knapsack(), Options(time_limit=None, callback=press))
    assert result.status is Status.INTERRUPTED
    assert result.values is not None


def test_the_next_solve_waits_for_it(stuck, tiny):
    assert co.solve(tiny["crowd"], "milp", time_limit=0.0).status == "time_limit"
    waiting = threading.Thread(target=leftover.wait)
    waiting.start()
    assert waiting.is_alive()
    stuck.set()
    waiting.join()


@pytest.mark.parametrize("code", [0, 3])
def test_a_command_does_not_wait_for_it(code):
    """A thread that never ends would keep a process that exits as usual."""
    lines = f"""
import threading
from carbonopt.core import leftover
thread = threading.Thread(target=threading.Event().wait, daemon=True)
thread.start()
leftover.leave(thread)
print("written")
leftover.exit_with({code})
"""
    done = subprocess.run([sys.executable, "-c", lines], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (code, "written\n")
