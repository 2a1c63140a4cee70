"""A figure with several seeds or on several groups of instances: the same tables as one by one, none lost or twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from typer.testing import CliRunner

import carbonopt as co
from carbonopt.bench.results import append
from carbonopt.bench.runs import Answer
from carbonopt.cli.main import app
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.papers.campaign import key_of, make, records, run_tables, table_runs
from carbonopt.papers.figure import Run, figure_of
from carbonopt.papers.joined import joined, mean_over_seeds

JOBS = 6


def here(tasks):
    """Make tables in this process."""
    for number, task in enumerate(tasks):
        yield number, make(task)


@pytest.fixture
def weeks():
    return [co.generate("purchasing", jobs=JOBS, seed=seed) for seed in (1, 2)]


def command(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], catch_exceptions=False)


def test_tables_are_those_that_are_made_one_by_one(tmp_path, weeks):
    runs = table_runs("gaia-8", weeks, [0, 3])
    assert [(run.group, run.seed) for run in runs] == [(0, 0), (0, 3), (1, 0), (1, 3)]
    rows = {key_of(row): row for row in run_tables(runs, tmp_path / "r.jsonl", here)}
    for run in runs:
        alone = figure_of("gaia-8").table(Run(run.instances, {"seed": run.seed, "mode": "paper"}))
        assert rows[run.key]["rows"] == records(alone)
    whole = joined(runs, rows)
    assert list(whole.columns[:2]) == ["instance", "seed"]
    assert len(whole) == 4 * len(alone)


def test_a_campaign_goes_on_where_it_was(tmp_path, weeks):
    runs = table_runs("gaia-8", weeks, [0, 1])
    results = tmp_path / "r.jsonl"
    first = run_tables(runs, results, here)
    before = [next(first), next(first)]
    first.close()
    results.write_text(results.read_text() + '{"figure": "gaia-8", "inst')  # a kill cut the line short
    made = []

    def counted(tasks):
        for number, answer in here(tasks):
            made.append(number)
            yield number, answer

    rows = list(run_tables(runs, results, counted))
    assert len(made) == 2
    assert rows[:2] == before
    assert {key_of(row) for row in rows} == {run.key for run in runs}
    lines = [json.loads(line) for line in results.read_text().splitlines() if line.endswith("}")]
    assert len(lines) == len(runs)


def test_tables_of_other_options_or_files_are_refused(tmp_path, weeks):
    runs = table_runs("gaia-8", weeks[:1], [0])
    results = tmp_path / "r.jsonl"
    list(run_tables(runs, results, here))
    with pytest.raises(InputError, match="holds tables of gaia-8 with mode 'paper', and not with 'artifact'"):
        list(run_tables(runs, results, here, mode="artifact"))
    results.write_text('{"instance": "a"}\n')
    with pytest.raises(InputError, match="is no finished run"):
        list(run_tables(runs, results, here))


def test_a_table_whose_process_died_is_a_row_that_says_so(tmp_path, weeks):
    def dies(tasks):
        for number, _ in enumerate(tasks):
            yield number, Answer(failed="crashed", message="signal 9", seconds=1.0)

    runs = table_runs("gaia-8", weeks, [0])
    rows = list(run_tables(runs, tmp_path / "r.jsonl", dies))
    assert [row["message"] for row in rows] == ["crashed: signal 9"] * 2
    assert joined(runs, {key_of(row): row for row in rows}).empty


def test_instances_are_grouped_as_a_table_shows_them():
    weeks = [co.generate("elastic", jobs=3, seed=seed) for seed in range(4)]
    assert [len(run.instances) for run in table_runs("carbonflex-6", weeks, [0])] == [2, 2]
    assert [len(run.instances) for run in table_runs("carbonflex-6", weeks[:1], [0])] == [1]
    assert [len(run.instances) for run in table_runs("carbonflex-11", weeks, [0])] == [4]
    with pytest.raises(UnsupportedError, match="3 instances: must be one week, or pairs"):
        table_runs("carbonflex-6", weeks[:3], [0])
    with pytest.raises(UnsupportedError, match="gaia-8 runs on purchasing, not on elastic"):
        table_runs("gaia-8", weeks, [0])


@pytest.mark.parametrize("name", ["gaia-2", "gaia-8", "green-8", "caspian-6", "carbonflex-2", "icon-regret"])
def test_without_instances_each_seed_draws_its_own(name):
    first, second = (run.instances for run in table_runs(name, [], [0, 2]))
    for one, other in zip(first, second, strict=True):
        assert other.provenance["seed"] - one.provenance["seed"] == 2
        assert other.sha256 != one.sha256


def test_the_mean_is_of_equal_rows_alone(weeks):
    runs = table_runs("gaia-8", weeks[:1], [0, 1])
    tables = [
        [{"policy": "a", "x": 1.0}, {"policy": "b", "x": 2}],
        [{"policy": "a", "x": 3.0}, {"policy": "b", "x": 3}],
    ]
    rows = {run.key: {"rows": table} for run, table in zip(runs, tables, strict=True)}
    mean = mean_over_seeds(runs, rows)
    assert mean is not None
    assert mean.to_dict(orient="records") == [{"policy": "a", "x": 2.0}, {"policy": "b", "x": 2.5}]
    tables[1].reverse()
    assert mean_over_seeds(runs, rows) is None


def test_one_command_for_seeds_weeks_and_workers(tmp_path, weeks, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, week in zip("ab", weeks, strict=True):
        week.write(f"{name}.json")
    done = command("gaia-8", "a.json", "b.json", "--seeds", "0-1", "--workers", 2, "-o", "t.csv")
    assert done.exit_code == 0
    assert "4 tables, each kept in gaia-8.jsonl" in done.stderr
    assert "mean of 2 seeds" in done.stdout
    table = pd.read_csv("t.csv")
    assert table.groupby(["instance", "seed"]).size().nunique() == 1
    again = command("gaia-8", "a.json", "b.json", "--seeds", "0-1", "-o", "u.csv")
    assert pd.read_csv("u.csv").equals(table)
    assert len((tmp_path / "gaia-8.jsonl").read_text().splitlines()) == 4
    assert again.exit_code == 0
    for wrong, words in (
        (["--plot", "p.png"], "draws one table"),
        (["--results", "a.json"], "a.json"),
        (["--seeds", "x"], "must be numbers and ranges"),
        (["--array-task", "3/2"], "must be K/N"),
    ):
        refused = command("gaia-8", "a.json", "b.json", *wrong)
        assert refused.exit_code == 2
        assert words in refused.stderr


def test_parts_of_an_array_make_all_tables_once(tmp_path, weeks, monkeypatch):
    monkeypatch.chdir(tmp_path)
    weeks[0].write("a.json")
    for part in (1, 2):
        assert command("gaia-8", "a.json", "--seeds", "0-2", "--array-task", f"{part}/2").exit_code == 0
    rows = [line for part in (1, 2) for line in (tmp_path / f"gaia-8.{part}-of-2.jsonl").read_text().splitlines()]
    assert sorted(json.loads(row)["seed"] for row in rows) == [0, 1, 2]


def test_a_stopped_campaign_keeps_its_tables(tmp_path, weeks):
    """It is stopped once the first table is on disk."""
    weeks[0].write(tmp_path / "a.json")
    line = [sys.executable, "-m", "carbonopt", "reproduce", "gaia-8", "a.json", "--seeds", "0-400"]
    process = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    results = tmp_path / "gaia-8.jsonl"
    while process.poll() is None and not (results.exists() and results.stat().st_size):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert process.returncode == 130
    assert "the same command goes on" in told
    assert all(json.loads(row)["rows"] for row in results.read_text().splitlines())


def test_an_interrupt_right_after_a_table_is_written_tells_it(tmp_path, weeks, monkeypatch):
    """The file holds it, though it was not told yet."""
    weeks[0].write(tmp_path / "a.json")
    monkeypatch.chdir(tmp_path)

    def interrupted(results, row):
        append(results, row)
        raise KeyboardInterrupt

    monkeypatch.setattr("carbonopt.papers.campaign.append", interrupted)
    found = command("gaia-8", "a.json", "--seeds", "0-2")
    assert found.exit_code == 130
    assert "interrupted: 1 of 3 tables are in gaia-8.jsonl; the same command goes on" in found.stderr
