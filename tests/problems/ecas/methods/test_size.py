"""A day of a large data centre: bound and schedule stay within a gigabyte.

Linux counts in `ru_maxrss` what a process held before it began another program: all of the tests before. `VmHWM` is
what this program holds at most.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

LARGEST_MB = 1000
PROGRAM = """
import pathlib
import carbonopt as co

instance = co.generate("ecas", jobs=10_000, machines=200, resources=4, load=0.75, seed=1)
solution = co.solve(instance, "price", time_limit=None, params={"search": {"moves_per_job": 0}, "bound": {"steps": 20}})
assert co.check(instance, solution).feasible
assert solution.bound is not None
lines = pathlib.Path('/proc/self/status').read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith('VmHWM')))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is there on Linux alone")
def test_ten_thousand_jobs_on_two_hundred_machines() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < LARGEST_MB
