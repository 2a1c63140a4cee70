"""How many threads the libraries below numpy take."""

from __future__ import annotations

import os
import sys

import pytest

from carbonopt.core.threads import THREADS, take_one_thread


@pytest.mark.parametrize(("program", "threads"), [("/usr/bin/carbonopt", "1"), ("notebook", None)])
def test_the_command_takes_one_and_a_user_s_own_program_is_left_alone(
    program: str, threads: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(sys, "argv", [program])
    monkeypatch.setattr(sys, "orig_argv", ["python", program])
    take_one_thread()
    assert [os.environ.get(variable) for variable in THREADS] == [threads] * 4


def test_what_the_user_says_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"OPENBLAS_NUM_THREADS": "3"})
    monkeypatch.setattr(sys, "argv", ["carbonopt"])
    take_one_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
