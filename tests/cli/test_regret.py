"""`carbonopt regret`: tables, files, refusals and Ctrl-C."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from cli_support import errors, run
from conftest import TINY

import carbonopt as co
from carbonopt.cli import tables
from carbonopt.regret.table import Study

CLOUD = co.generate("purchasing", jobs=6, arrival_hours=8, reserved=1, seed=4)
ZONE = CLOUD.carbon.zones[0]
HEAD = "issue_time,target_time,carbon_intensity_g_per_kwh"


@pytest.fixture(autouse=True)
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CLOUD.write("c.json")


def stamp(slot: int) -> str:
    return CLOUD.time.slot_start(slot).isoformat()


def archive(name: str, issues: dict[int, list[float]]) -> str:
    rows = [f"{stamp(at)},{stamp(at + k)},{value}" for at, values in issues.items() for k, value in enumerate(values)]
    Path(name).write_text("\n".join([HEAD, *rows]))
    return name


def test_the_table_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "terminal_width", lambda: 80)
    done = run("regret", "c.json", "-p", "carbon-time", "--forecast", "error=0.4,window=6", "-t", "inf", "-o", "r.csv")
    assert done.exit_code == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in ("errors first", "lengths first", "the policy itself", "in all", "decides on no job before"):
        assert words in done.stdout
    table = pd.read_csv("r.csv")
    assert len(table) == 2 * 2 * 6
    rows = json.loads(run("regret", "c.json", "-p", "carbon-time", "-t", "inf", "--json").stdout)["rows"]
    assert {row["least"] for row in rows if row["part"] == "errors"} == {0}


def test_a_table_for_readers_is_that_of_the_screen() -> None:
    given = ("regret", "c.json", "-p", "carbon-time,no-wait", "--forecast", "error=0.4", "-t", "inf")
    lines = run(*given, "-o", "r.md").stdout.splitlines()
    shown = [re.split(r" {2,}", line.strip()) for line in lines]
    head, _, *rows = (line.strip("| ").split(" | ") for line in Path("r.md").read_text().splitlines())
    assert head == ["policy", "measure", "lost to", "errors first", "lengths first"]
    assert [row[:2] for row in rows[::6]] == [
        ["carbon-time", "carbon kg"], ["carbon-time", "objective"], ["no-wait", "carbon kg"], ["no-wait", "objective"],
    ]  # fmt: skip
    assert all(row[2:] in shown for row in rows)
    run(*given, "-o", "r.tex")
    text = Path("r.tex").read_text()
    assert text.startswith(f"% {CLOUD.name}: what policies lose\n")
    assert "% carbon-time: unknown arrivals: 0, " in text
    assert r"policy & measure & lost to & errors first & lengths first \\" in text


def test_bad_forecasts() -> None:
    def told(name: str, issues: dict[int, list[float]]) -> str:
        return errors("regret", "c.json", "-p", "carbon-time", "--forecast", archive(name, issues))[0]

    assert "issued by the beginning of slot 0" in told("late.csv", {1: [100.0] * 40})
    assert "ends too early" in told("short.csv", {0: [100.0], 3: [100.0] * 40})
    rows = [f"{stamp(0)},{stamp(k)},100,{m}" for m in (0, 1) for k in range(3 + m)]
    Path("members.csv").write_text("\n".join([f"{HEAD},member", *rows]))
    [line] = errors("regret", "c.json", "-p", "carbon-time", "--forecast", "members.csv")
    assert "equal length" in line


def test_what_has_ended_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Study.rows

    def second_is_stopped(self: Study, policy: str) -> list[dict[str, object]]:
        if policy == "no-wait":
            raise KeyboardInterrupt
        return rows(self, policy)

    monkeypatch.setattr(Study, "rows", second_is_stopped)
    done = run("regret", "c.json", "-p", "carbon-time,no-wait", "-t", "inf", "-o", "r.csv")
    assert done.exit_code == 130
    assert set(pd.read_csv("r.csv")["policy"]) == {"carbon-time"}
    assert "carbon-time loses" in done.stdout


def test_two_signals() -> None:
    grid = CLOUD.time
    lines = [f"{stamp(k)},{ZONE},{400 + 10 * (k % 5)}" for k in range(grid.slots)]
    Path("marginal.csv").write_text("\n".join(["datetime,zone,carbon_intensity_g_per_kwh", *lines]))
    arguments = ("regret", "c.json", "-p", "carbon-time", "--evaluate-under", "marginal.csv", "-t", "inf")
    done = run(*arguments, "-o", "cross.csv")
    assert done.exit_code == 0
    assert "planned for" in done.stdout
    assert len(pd.read_csv("cross.csv")) == 8
    run(*arguments, "-o", "cross.tex")
    assert "planned for & emits under & carbon [kg] & above the least [kg]" in Path("cross.tex").read_text()
    assert "--evaluate-under" in errors(*arguments, "--forecast", "error=0.1")[0]


def test_what_is_wrong_with_forecasts_is_told_once(tmp_path: Path) -> None:
    """All policies read the same file."""
    archive = tmp_path / "none.csv"
    archive.write_text("issued_at,time,zone,g_per_kwh\n")
    (told,) = errors("regret", TINY["shift"], "--forecast", archive)
    assert told.endswith("has a header but no rows")
