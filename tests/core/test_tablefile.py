"""A table is written as its name says, and nothing in it becomes a command of the format."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli_support import run
from conftest import ROOT, TINY

import carbonopt as co
from carbonopt.core import display
from carbonopt.core.tablefile import write_table

TABLE = pd.DataFrame({"method": ["a|b_50%", "=1+1\nx", "<b>"], "gap": [0.123456789, None, 2.0]})
WANTED = {
    "csv": "method,gap\na|b_50%,0.123456789\n'=1+1\\nx,\n<b>,2.0\n",
    "md": "| method | gap |\n|---|--:|\n| a\\|b_50% | 0.123457 |\n| =1+1\\nx | - |\n| <b> | 2 |\n",
    "tex": "\\begin{tabular}{lr}\n\\toprule\nmethod & gap \\\\\n\\midrule\na|b\\_50\\% & 0.123457 \\\\\n"
    "=1+1\\textbackslash{}nx & -- \\\\\n$<$b$>$ & 2 \\\\\n\\bottomrule\n\\end{tabular}\n",
}


@pytest.mark.parametrize("ending", WANTED)
def test_the_ending_is_the_format(ending, tmp_path) -> None:
    write_table(tmp_path / f"t.{ending}", TABLE)
    assert (tmp_path / f"t.{ending}").read_text() == WANTED[ending]


def test_html_holds_no_tags_of_the_data(tmp_path) -> None:
    write_table(tmp_path / "t.html", TABLE)
    text = (tmp_path / "t.html").read_text()
    assert "&lt;b&gt;" in text
    assert set(re.findall(r"</?(\w+)", text)) == {"meta", "table", "tr", "th", "td"}


def test_compare_writes_the_columns_of_the_screen_and_csv_all(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    heads = "method & status & objective & own bound & gap & seconds & carbon [kg] & deadlines met"
    assert run("compare", TINY["crowd"], "-m", "greedy-clean,milp", "-o", "t.tex").exit_code == 0
    text = (tmp_path / "t.tex").read_text()
    assert heads in text
    assert "{llrrrrrr}" in text
    notes = [line for line in text.splitlines() if line.startswith("% ")]
    assert notes[0].startswith("% instance mosp-tiny_crowd")
    assert notes[1] == "% time limit 20 s a method, relative gap asked 0.0001, seed 0"
    assert any(r"\input{t.tex}" in line for line in notes)
    assert text.index("\\begin{tabular}") > max(text.index(line) for line in notes)
    assert "12.50 \\% &" in text
    run("compare", TINY["crowd"], "-m", "greedy-clean,milp", "-o", "t.csv")
    table = pd.read_csv("t.csv")
    assert {"completion_ratio", "z1", "gap"} <= {*table}
    assert {"instance", "instance_sha256", "seed", "time_limit", "version"} <= {*table}
    assert table["time_limit"].tolist() == [20.0, 20.0]
    assert table["gap"].max() == pytest.approx(0.125)


def test_commands_write_what_the_suffix_says_or_refuse(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("compare", TINY["crowd"], "-m", "greedy-clean,lp", "-o", "t.md").exit_code == 0
    assert (tmp_path / "t.md").read_text().startswith("| method | status |")
    refused = run("compare", TINY["crowd"], "-m", "lp", "-o", "t.docx")
    assert refused.exit_code == 2
    assert "t.docx: must end in .json or .csv or .md or .tex or .html" in refused.stderr


TONIGHT = ROOT / "instances/tonight"
TABLES = {
    "info": (["info", TINY["crowd"]], "| feature | value |"),
    "instances list": (["instances", "list", "--difficulty", "toy"], "| instance | problem | jobs | difficulty |"),
    "simulate": (["simulate", TINY["reservedpulls_3"], "-p", "no-wait"], "| policy | "),
}


@pytest.mark.parametrize("name", TABLES)
def test_each_table_is_written_as_its_suffix_says(name, tmp_path) -> None:
    command, head = TABLES[name]
    first = head.split()[1]
    for ending, start in (("md", head), ("tex", "\\begin{tabular}"), ("html", "<!DOCTYPE html>"), ("csv", f"{first},")):
        target = tmp_path / f"t.{ending}"
        assert run(*command, "-o", target).exit_code == 0
        assert target.read_text().startswith(start)
    refused = run(*command, "-o", tmp_path / "t.docx")
    assert refused.exit_code == 2
    assert "t.docx: must end in " in refused.stderr


def screen(*command: object) -> list[list[str]]:
    """Return the cells of the tables that a command prints: no cell of these holds two spaces."""
    done = run(*command)
    assert done.exit_code == 0, done.output
    return [re.split(r" {2,}", line.strip()) for line in done.stdout.splitlines()]


def written(path: Path) -> list[list[str]]:
    """Return the cells of a table in Markdown, without its rule."""
    lines = path.read_text().splitlines()
    return [line.strip("| ").split(" | ") for line in (lines[0], *lines[2:])]


def test_plan_writes_the_columns_of_the_screen_and_csv_all(tmp_path) -> None:
    command = ["plan", TONIGHT / "squeue.json", "--carbon", TONIGHT / "forecast_21h.csv", "--now", "2026-11-24T22:00"]
    target = {ending: tmp_path / f"t.{ending}" for ending in ("md", "tex", "html", "csv")}
    shown = screen(*command, "-o", target["md"])
    head, *rows = written(target["md"])
    assert head == ["job", "cluster", "begin", "end", "carbon kg", "saved kg"]
    assert len(rows) == 11
    assert all(row in shown for row in (head, *rows))
    for ending in ("tex", "html", "csv"):
        assert run(*command, "-o", target[ending]).exit_code == 0
    tex = target["tex"].read_text()
    assert tex.startswith("% 11 jobs from Tue 24 Nov 22:00 UTC\n\\begin{tabular}{llllrr}")
    assert "job & cluster & begin & end & carbon [kg] & saved [kg]" in tex
    assert target["html"].read_text().startswith("<!DOCTYPE html>")
    table = pd.read_csv(target["csv"])
    assert [*table] == ["id", "name", "state", "cluster", "begin", "end", "kg", "kg_at_once", "saving_kg", "moved"]
    refused = run(*command, "-o", tmp_path / "t.docx")
    assert (refused.exit_code, "t.docx: must end in " in refused.stderr) == (2, True)


def test_pareto_writes_the_columns_of_the_screen_and_csv_all(tmp_path) -> None:
    command = ["pareto", TINY["tradeoff"], "--quantities", "carbon_kg,tardiness_slots", "--levels", 2, "-m", "milp"]
    shown = screen(*command, "-o", tmp_path / "t.md")
    head, *rows = written(tmp_path / "t.md")
    assert head == ["limit tardiness slots", "carbon kg", "proven bound", "gap", "tardiness slots", "dominated"]
    assert all(row in shown for row in (head, *([cell for cell in row if cell] for row in rows)))
    run(*command, "-o", tmp_path / "t.tex")
    text = (tmp_path / "t.tex").read_text()
    assert "limit tardiness [slots] & carbon [kg] & proven bound & gap & tardiness [slots] & dominated" in text
    assert r"\\" + "\n-- & " in text  # the point without a limit
    run(*command, "-o", tmp_path / "t.csv")
    table = pd.read_csv(tmp_path / "t.csv")
    assert {"completion_ratio", "objective", "wall_seconds", "method", "without_loops"} <= {*table}


def test_reproduce_writes_the_columns_of_the_screen_and_csv_all(tmp_path) -> None:
    co.generate("purchasing", jobs=5, arrival_hours=6, reserved=1, seed=1).write(tmp_path / "day.json")
    command = ["reproduce", "gaia-8", tmp_path / "day.json"]
    shown = screen(*command, "-o", tmp_path / "t.md")
    table = written(tmp_path / "t.md")
    assert all(row in shown for row in table)
    run(*command, "-o", tmp_path / "t.tex")
    text = (tmp_path / "t.tex").read_text()
    assert text.startswith("% gaia-8: ")
    run(*command, "-o", tmp_path / "t.csv")
    exact = pd.read_csv(tmp_path / "t.csv")
    assert [display.head(name) for name in exact] == table[0]
    assert [[display.number(cell) for cell in row] for row in exact.itertuples(index=False)] == table[1:]


def test_a_table_of_best_known_values(tmp_path) -> None:
    (tmp_path / "bks.json").write_text("{}\n")
    assert run("bks", "verify", tmp_path / "bks.json", "-o", tmp_path / "t.csv").exit_code == 1
    head, row = (tmp_path / "t.csv").read_text().splitlines()
    assert head == "instance,faults,first fault"
    assert row.startswith("bks.json,1,is not written as carbonopt writes it")
    assert run("bks", "verify", tmp_path / "bks.json", "-o", tmp_path / "t.docx").exit_code == 2


def test_a_table_of_policies_is_of_one_instance(tmp_path) -> None:
    refused = run("simulate", TINY["reservedpulls_3"], TINY["reservedpulls_3"], "-o", tmp_path / "t.md")
    assert (refused.exit_code, "is a table of one instance" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("carbonopt solve -m milp", {"milp"}),
        ("carbonopt compare -m milp,lp-rounding-", {"milp,lp-rounding-caspian"}),
        ("carbonopt simulate -p wait-", {"wait-awhile"}),
        ("carbonopt lesson st", {"start"}),
    ],
)
def test_a_shell_completes_names(words, found) -> None:
    from os import environ

    asked = {"_CARBONOPT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    command = [sys.executable, "-m", "carbonopt"]
    done = subprocess.run(command, env=environ | asked, capture_output=True, text=True, check=False)
    assert set(done.stdout.split()) == found, done.stderr
