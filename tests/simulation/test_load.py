"""Policies from files of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from carbonopt.core.errors import PolicyError
from carbonopt.simulation import Policy, load_policy
from carbonopt.simulation.load import is_file_reference

GOOD = """
from dataclasses import dataclass
from carbonopt.simulation import Policy

class Mine(Policy):
    def on_arrival(self, state, job):
        state.start(job)
"""


def told(reference: str) -> str:
    with pytest.raises(PolicyError) as caught:
        load_policy(reference)
    return str(caught.value)


def test_a_class_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(GOOD)
    assert load_policy(f"{path}:Mine").name == "Mine"
    assert isinstance(load_policy(str(path)), Policy)
    assert load_policy(f"{path}:Mine") is not load_policy(f"{path}:Mine")


def test_what_is_a_file() -> None:
    assert is_file_reference("a.py:B")
    assert is_file_reference("a/b.py")
    assert not is_file_reference("carbon-time")


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    assert told(f"{path}:Mine") == f"{path}: no such file, to load a policy from"
    path.write_text(GOOD + "class Other(Mine): pass\nNUMBER = 3\n")
    assert told(f"{path}:Third") == f"{path}: has no 'Third': it has 'Mine' or 'Other'"
    assert told(f"{path}:NUMBER").startswith(f"{path}: 'NUMBER' is not a subclass of carbonopt.simulation.Policy")
    assert told(str(path)).startswith(f"{path}: name the policy, as in {path}:MyPolicy: it has 'Mine' or 'Other'")
    path.write_text("x = 1\n")
    assert "it has no subclass of carbonopt.simulation.Policy" in told(str(path))


def test_the_traceback_of_a_file_that_raises(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("value = 1\nother = undefined_name\n")
    text = told(f"{path}:Mine")
    assert text.startswith(f"{path}: cannot be imported\n")
    assert "line 2" in text
    assert "NameError: name 'undefined_name' is not defined" in text
    path.write_text("def f(:\n")
    assert "SyntaxError" in told(f"{path}:Mine")
    path.write_text(GOOD + "    def __init__(self):\n        raise ValueError('not today')\n")
    assert "ValueError: not today" in told(f"{path}:Mine")
