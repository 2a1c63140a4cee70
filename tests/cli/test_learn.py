"""`carbonopt learn`, and policies that are told of a past."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import errors, run

import carbonopt as co


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    size = {"capacity": 5, "model": "fluid"}
    co.generate("elastic", jobs=20, arrival_hours=72, seed=5, **size).write("past.json")
    co.generate("elastic", jobs=8, arrival_hours=24, seed=6, **size).write("week.json")
    co.generate("purchasing", jobs=5, arrival_hours=5, seed=1).write("cloud.json")
    return tmp_path


def carbonflex(*options: str) -> dict[str, object]:
    done = run("simulate", "week.json", "-p", "carbonflex", "--json", "-o", "s.json", *options)
    assert done.exit_code == 0
    assert run("check", "week.json", "s.json").exit_code == 0
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_base_from_learn_is_what_the_past_itself_teaches() -> None:
    done = run("learn", "past.json", "--window-hours", "48", "-o", "base.json")
    assert done.exit_code == 0
    assert done.stdout.startswith("base.json: ")
    assert run("learn", "past.json", "-o", "week-long.json").exit_code == 0
    told = carbonflex("--past", "past.json", "--knowledge", "week-long.json")["objective"]
    assert told == carbonflex("--past", "past.json")["objective"]
    assert told != carbonflex()["objective"]


def test_what_learns_nothing_says_so() -> None:
    assert "no policy of purchasing learns" in errors("learn", "cloud.json", "-o", "base.json")[0]
    assert "no policy of purchasing is told" in errors("simulate", "cloud.json", "--past", "week.json")[0]
    assert "is of purchasing" in errors("simulate", "week.json", "--past", "cloud.json")[0]
