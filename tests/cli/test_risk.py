"""`carbonopt risk`: its table and files, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import errors, run

import carbonopt as co
from carbonopt.forecasts import write_archive
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work where one job of an hour may run in three hours, with a forecast of two members."""
    monkeypatch.chdir(tmp_path)
    instance = small("night", [0, 0, 0], 1, {"a": (0, 1, 1)})
    instance.write("night.json")
    values = np.array([[[300.0, 100.0, 500.0], [300.0, 450.0, 500.0]]])
    write_archive(ForecastArchive("DE", instance.time, np.array([0]), values), "de.csv")
    write_archive(ForecastArchive("DE", instance.time, np.array([0]), values[:, :, :2]), "short.csv")
    write_archive(ForecastArchive("DE", instance.time, np.array([1]), values[:, :, 1:]), "late.csv")
    table = pd.read_csv("de.csv")
    table.drop(index=table.index[-1]).to_csv("uneven.csv", index=False)
    co.generate("ecas", jobs=2, machines=1).write("ecas.json")
    return tmp_path


def test_a_row_for_each_measure_and_the_last_plan(folder: Path) -> None:
    done = run("risk", "night.json", "--forecast", "de.csv", "--measure", "expectation", "--measure", "cvar:0.5",
               "--schedule", "plan.csv", "-o", "t.csv")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "plans for 2 scenarios" in done.stdout
    table = pd.read_csv("t.csv")
    assert table["value"].tolist() == pytest.approx([0.275, 0.3])
    assert pd.read_csv("plan.csv")["start"].tolist() == [0]


def test_a_table_for_readers_is_that_of_the_screen(folder: Path) -> None:
    given = ("risk", "night.json", "--forecast", "de.csv", "--measure", "expectation")
    assert run(*given, "-o", "t.tex").exit_code == 0
    text = Path("t.tex").read_text()
    assert r"plan for & mean & mean of worst 10 \% & worst & its measure & bound & gap \\" in text
    assert "expectation & 0.275 &" in text
    assert text.count("&") == 12
    assert run("risk", "night.json", "--forecast", "de.csv", "--measure", "cvar:90").stderr.endswith(
        "must be 'expectation', 'cvar:0.9' (a level below 1) or 'budget:6' (slots)\n"
    )


def test_json_holds_all(folder: Path) -> None:
    told = json.loads(run("risk", "night.json", "--forecast", "DE=de.csv", "--json").stdout)
    assert told["scenarios"] == 2
    assert [row["plan"] for row in told["rows"]] == ["expectation", "cvar:0.9"]


def test_what_proves_the_bound_can_be_checked(folder: Path) -> None:
    done = run("risk", "night.json", "--forecast", "de.csv", "--measure", "expectation", "--work-limit", "1",
               "--proof", "p.json")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert run("check", "p.json", "p.solution.json").exit_code == 0
    assert json.loads(Path("p.json").read_text())["carbon"]["g_per_kwh"] == [[300.0, 275.0, 500.0]]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["night.json", "--forecast", "none.csv"], "no such file"),
        (["night.json", "--forecast", "error=0.2,window=12"], "must be a file, an archive of forecasts with members"),
        (["night.json", "--forecast", "perfect"], "must be a file, an archive of forecasts with members"),
        (["night.json", "--forecast", "FR=de.csv"], "must be of a zone of the instance: DE"),
        (["night.json", "--forecast", "de.csv", "--forecast", "short.csv"], "name one file for all zones"),
        (["night.json", "--forecast", "short.csv"], "ends too early"),
        (["night.json", "--forecast", "de.csv", "--measure", "cvar:1"], "must be 'expectation'"),
        (["night.json", "--forecast", "de.csv", "--level", "1"], "--level 1: must be at least 0 and below 1"),
        (["night.json", "--forecast", "de.csv", "--schedule", "de.csv"], "de.csv"),
        (["night.json", "--forecast", "de.csv", "--schedule", "plan.json"], "must end in .csv"),
        (
            ["night.json", "--forecast", "de.csv", "--measure", "cvar:0.5", "--proof", "p.json"],
            "no single signal proves",
        ),
        (["night.json", "--forecast", "late.csv"], "that was issued by the beginning of slot 0"),
        (["night.json", "--forecast", "uneven.csv"], "members are of equal length"),
        (["ecas.json", "--forecast", "de.csv"], "must be of problem mosp"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(arguments: list[str], words: str) -> None:
    [line] = errors("risk", *arguments)
    assert words in line
