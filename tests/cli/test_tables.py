"""Tables on the terminal: at every width each number stands whole."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from cli_support import run
from conftest import ROOT

from carbonopt.cli import tables
from carbonopt.forecasts import write_archive
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.lessons.instances import small

HEADS = ["method", "status", "objective", "own bound", "gap", "seconds", "carbon kg", "deadlines met"]
ROWS = [
    ["lp-rounding-caspian", "time_limit", "69.43722123", "55.87239", "19.44 %", "0.22", "39.7442", "76.00 %"],
    ["価格", "optimal", "-1.23456e-12", "-", "<0.0001 %", "1234.56", "1.5e+16", "100.00 %"],
]
LONGEST_HASH = "c1052205b1d98f7977565dc905339d7480baf4b7a74a6a6058e5b4a4a6a6058e"


def printed(monkeypatch, capsys, width: int, title: str, heads: list[str], rows: list[list[str]]) -> list[str]:
    monkeypatch.setattr(tables, "terminal_width", lambda: width)
    tables.print_table(title, heads, rows)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200, tables.PIPED_WIDTH])
def test_no_number_is_cut(monkeypatch, capsys, width):
    lines = printed(monkeypatch, capsys, width, "an instance", HEADS, ROWS)
    assert all(len(line.rstrip()) <= width for line in lines)
    text = "\n".join(lines)
    assert "…" not in text
    for row in ROWS:
        for cell in row[1:]:
            assert cell in text
    for word in " ".join(HEADS).split():
        assert word in text


TONIGHT = ROOT / "instances/tonight"
PLAN = ("plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", "--now", "2026-11-24T22:00")
REPLAN = ("replan", "plan.json", "--carbon", TONIGHT / "forecast_23h.csv", "--now", "2026-11-24T23:00")
COMMANDS = {
    "risk": ("risk", "night.json", "--forecast", "de.csv"),
    "replan": REPLAN,
    "lesson start": ("lesson", "start", "3"),
    "lesson check": ("lesson", "check", "3", "answer3.json"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    night = small("night", [0, 0, 0], 1, {"a": (0, 1, 1)})
    night.write(made / "night.json")
    values = np.array([[[300.0, 100.0, 500.0], [300.0, 450.0, 500.0]]])
    write_archive(ForecastArchive("DE", night.time, np.array([0]), values), made / "de.csv")
    assert run(*PLAN, "-o", made / "plan.json").exit_code == 0
    assert run("lesson", "start", "3", "-o", made).exit_code == 0
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_prints_whole_tables_at_every_width(monkeypatch, folder, name) -> None:
    monkeypatch.chdir(folder)
    printing = tables.print_table
    drawn: list[str] = []
    cells: list[str] = []

    def recording(title, columns, rows) -> None:
        with redirect_stdout(StringIO()) as text:
            printing(title, columns, rows)
        drawn.append(text.getvalue())
        cells.extend(cell for row in rows for cell in row if re.fullmatch(r"[-+<\d.e %]+", cell))

    monkeypatch.setattr(tables, "print_table", recording)
    for width in (60, 80, 100, 200, tables.PIPED_WIDTH):
        drawn.clear()
        monkeypatch.setattr(tables, "terminal_width", lambda width=width: width)
        run(*COMMANDS[name])
        assert drawn
        text = "\n".join(drawn)
        assert "…" not in text
        assert max(len(line.rstrip()) for line in text.splitlines()) <= width
        assert all(cell in text for cell in cells)


def test_a_wide_terminal_has_one_part_and_a_narrow_one_repeats_the_names(monkeypatch, capsys):
    wide = printed(monkeypatch, capsys, 200, "t", HEADS, ROWS)
    assert sum("lp-rounding-caspian" in line for line in wide) == 1
    narrow = printed(monkeypatch, capsys, 60, "t", HEADS, ROWS)
    assert sum("lp-rounding-caspian" in line for line in narrow) == 2


def test_a_long_text_goes_on_in_the_next_line(monkeypatch, capsys):
    lines = printed(monkeypatch, capsys, 60, "features", ["feature", "value"], [["sha256", LONGEST_HASH]])
    joined = "".join(line.split()[-1] for line in lines[3:])
    assert joined == LONGEST_HASH


def test_a_table_in_a_pipe_is_as_wide_as_it_needs(capsys):
    heads = ["name", *(f"quantity {number}" for number in range(40))]
    tables.print_table("piped", heads, [["row", *(f"{number}.123456789" for number in range(40))]])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split() == ["row", *(f"{number}.123456789" for number in range(40))]


def test_escape_sequences_of_names_are_spelled_out(monkeypatch, capsys):
    lines = printed(monkeypatch, capsys, 80, "a\x1b[31mb", ["method", "status"], [["\x1b]0;x\x07", "[bold]ok[/bold]"]])
    assert "\x1b" not in "\n".join(lines)
    assert "[bold]ok[/bold]" in "\n".join(lines)


def test_the_second_column_is_repeated_where_the_first_names_several_rows(monkeypatch, capsys):
    heads = ["instance", "policy", "carbon kg", "cost $"]
    rows = [["a", "no-wait", "1.25", "9"], ["a", "ecovisor", "1.5", "8"], ["b", "no-wait", "3.75", "7"]]
    lines = printed(monkeypatch, capsys, 30, "weeks", heads, rows)
    assert [line.split() for line in lines if line.startswith(("a", "b"))] == [
        [*row[:2], row[column]] for column in (2, 3) for row in rows
    ]
