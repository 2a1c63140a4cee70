"""Under a limit of addresses (``ulimit -v``) a command ends in one line, and leaves nothing half-written."""

import json
import resource
import subprocess
import sys
from functools import partial

import pytest
from conftest import ROOT

LARGE = ROOT / "instances/bench/mosp-bench070-j1000-t048-z10-s01.json"
MEBIBYTES = (200, 280, 360, 440, 480)
"""From where numpy is hardly loaded to where loops are compiled and a program of 280,000 columns fits."""


def limit(bytes_):
    resource.setrlimit(resource.RLIMIT_AS, (bytes_, bytes_))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep this limit")
@pytest.mark.parametrize("method", ["milp", "price"])
@pytest.mark.parametrize("mebibytes", MEBIBYTES)
def test_a_solve_that_does_not_fit_ends_in_one_line(tmp_path, mebibytes, method):
    target = tmp_path / "s.json"
    target.write_text("{}")
    done = subprocess.run(
        [sys.executable, "-m", "carbonopt", "solve", LARGE, "-m", method, "-t", "0", "-o", target],
        preexec_fn=partial(limit, mebibytes * 2**20),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] != [] or done.returncode == 1
    assert target.read_text() == "{}" or json.loads(target.read_text())["problem"] == "mosp"
    assert list(tmp_path.iterdir()) == [target]


def test_free_memory_is_within_the_limit_of_the_process():
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from carbonopt.core.memory import free_bytes
free = free_bytes()
assert 0 < free < 2**30
assert free_bytes(beside=2**20) == free - 2**20
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0
