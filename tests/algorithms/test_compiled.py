import importlib
import subprocess
import sys

import numpy as np

from carbonopt.algorithms.compiled import PLAIN_STEPS, compiled


@compiled
def weighted_sum(values, weight):
    """Return the weighted sum."""
    total = 0
    for value in values:
        total += weight * value
    return total


def test_a_kernel_runs_compiled_and_plain():
    values = np.arange(10)
    assert weighted_sum(values, 2) == weighted_sum.plain(values, 2) == 90
    assert weighted_sum.__doc__ == "Return the weighted sum."


def test_few_steps_are_run_plain():
    assert weighted_sum.choose(PLAIN_STEPS - 1) is weighted_sum.plain
    assert weighted_sum.choose(PLAIN_STEPS) is weighted_sum.machine


def test_a_function_without_a_file_is_compiled_without_a_cache():
    names: dict = {}
    exec("def twice(value):\n    return 2 * value", names)
    assert compiled(names["twice"])(21) == 42


def test_a_tiny_case_needs_no_numba():
    code = """
import sys
from carbonopt.algorithms.network import window_network
from carbonopt.algorithms.polymatroid import greedy
from carbonopt.algorithms.transversal import TransversalOracle
import carbonopt.algorithms.polymatroid_reference
greedy([2.0, 1.0], TransversalOracle(window_network([1, 1], [1], [0], [2], 1)))
assert not {"numba", "networkx"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_kernel_is_ready_once_it_is_compiled(tmp_path, monkeypatch):
    source = "from carbonopt.algorithms.compiled import compiled\n\n\n@compiled\ndef twice(x):\n    return 2 * x\n"
    (tmp_path / "kernel_of_a_test.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    twice = importlib.import_module("kernel_of_a_test").twice
    assert not twice.is_ready
    assert twice(2) == 4
    assert twice.is_ready
    again = importlib.reload(importlib.import_module("kernel_of_a_test")).twice
    assert again.is_ready
