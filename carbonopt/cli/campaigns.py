"""What a campaign needs beside its options: seeds, parts, where runs are made, what becomes of one, and the tables."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carbonopt.cli import console, tables
from carbonopt.core import display
from carbonopt.core.errors import CarbonoptError, Fault, InputError, UnsupportedError, one_line, shown
from carbonopt.core.files import file_name, is_device
from carbonopt.core.jsonfile import write_json
from carbonopt.core.solution import shown_method

if TYPE_CHECKING:
    import pandas as pd

    from carbonopt.bench.campaign import Execute
    from carbonopt.bench.runs import Answer, Row, Run

MOST_SEEDS = 10_000
CLOSING = ["root_gap", "primal_integral", "seconds_to_1_percent", "seconds_to_0.1_percent"]
"""Columns that say how the gap closed; they have a table of their own."""


def numbers(text: str) -> list[int]:
    """Return the seeds that an option names, each once.

    Examples
    --------
    >>> numbers("1-3,7")
    [1, 2, 3, 7]
    """
    seeds: dict[int, None] = {}
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", part.strip(), re.ASCII)
        if found is None:
            raise UnsupportedError(f"--seeds {shown(text)}: must be numbers and ranges, e.g. 1-5 or 1,4,7")
        first = int(found[1])
        last = first if found[2] is None else int(found[2])
        if last < first or last - first >= MOST_SEEDS:
            raise UnsupportedError(f"--seeds {shown(part)}: must be a range of 1 to {MOST_SEEDS} seeds")
        seeds |= dict.fromkeys(range(first, last + 1))
    return list(seeds)


def part(text: str | None) -> tuple[int, int] | None:
    """Return K and N of ``K/N``, which begin at 1.

    Examples
    --------
    >>> part("3/10")
    (3, 10)
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise UnsupportedError(f"--array-task {shown(text)}: must be K/N with 1 <= K <= N, e.g. 3/10")
    return int(found[1]), int(found[2])


def part_file(results: Path, number: int, count: int) -> Path:
    """Return where one part of a campaign writes: no two machines write to one file.

    Examples
    --------
    >>> part_file(Path("results.jsonl"), 3, 10).name
    'results.3-of-10.jsonl'
    """
    return results.with_name(f"{results.stem}.{number}-of-{count}{results.suffix}")


def execute(workers: int, cluster: str | None) -> Execute:
    """Return where runs are made: in processes of this machine, or on a cluster."""
    from carbonopt.bench.processes import on_processes

    if cluster is None:
        return partial(on_processes, workers=workers)
    from carbonopt.bench.cluster import on_cluster

    return on_cluster(cluster, console.say)


def kill_seconds(time_limit: float | None, kill_after: float | None) -> float | None:
    """Return after how many seconds a run is ended: as given, or what leaves a method time to keep its limit."""
    if kill_after is None:
        return None if time_limit is None else 2 * time_limit + 30.0
    return console.unlimited(kill_after)


def require_file(results: Path) -> None:
    """Refuse a device or pipe: a campaign reads what it has written.

    Raises
    ------
    InputError
        It names the results.
    """
    if is_device(results):
        raise InputError(Fault("", "is no file, and could not be gone on with", file=str(results)))


def runs(files: list[Path], methods: list[str] | None, seeds: list[int]) -> tuple[list[Run], int]:
    """Return the runs on the files that are instances, and the exit code for those that are not."""
    from carbonopt.bench.runs import runs_on

    found: list[Run] = []
    worst = 0
    for path in files:
        try:
            found += runs_on(path, methods, seeds)
        except InputError as error:  # the other files go on; an unknown method ends all
            console.say("\n".join(f"error: {line}" for line in error.in_file(path).lines()))
            worst = console.USAGE
    return found, worst


def enter(run: Run, answer: Answer, bks: Path | None, solutions: Path | None, results: Path) -> int:
    """Write the solution of a run, and enter it among the best-known values; return the exit code."""
    if "solution" not in answer:
        return 0
    if solutions is not None and answer["solution"]["schedule"] is not None:
        name = file_name(f"{run.instance}-{run.sha256[:8]}-{run.method}-s{run.seed}")
        path = solutions / f"{name}.json"
        write_json(path, answer["solution"])
        answer["row"]["solution"] = os.path.relpath(path, results.parent)
    return 0 if bks is None else _improve(bks, run, answer)


def _improve(bks: Path, run: Run, answer: Answer) -> int:
    """Enter a solution among the best-known values; one that is refused is told, and the campaign goes on."""
    from carbonopt.bench.bks import update
    from carbonopt.io.read import read
    from carbonopt.io.solution import solution_from_dict

    try:
        improved = update(bks, read(run.path), solution_from_dict(answer["solution"]))
    except InputError:  # the file cannot be written: no run is recorded whose solution would be lost
        raise
    except CarbonoptError as error:
        console.say(f"error: {error}")
        return 1
    if improved:
        console.say(f"{run.instance}: {answer['row']['method']} improves {' and '.join(improved)}")
    return 0


def told(row: Row) -> int:
    """Say what is wrong with a new run, if anything is, and return the exit code."""
    from carbonopt.bench.runs import FAILED

    message = row.get("message")
    failed = row["status"] in FAILED
    if isinstance(message, str):
        word = f"{row['status'].replace('_', ' ')}: " if failed else ""
        console.say(f"warning: {row['instance']}: {row['method']}: {word}{one_line(message)}")
    return 1 if failed else 0


def show(table: pd.DataFrame, json_output: bool) -> None:
    """Print all runs as JSON, or the tables for a person."""
    from carbonopt.bench.gaps import by_method

    if json_output:
        for row in table.to_dict(orient="records"):
            console.print_json({str(key): None if value != value else value for key, value in row.items()})
        return
    methods = zip(table["method"], table["without_loops"], strict=True)
    told = table.assign(method=[shown_method(name, without) for name, without in methods])
    closing = told[["instance", "method", *CLOSING]]
    own = told.drop(columns=[*CLOSING, "without_loops"])
    for title, frame in (("runs", own), ("how gaps closed", closing), ("by method", by_method(table))):
        columns = [column.replace("_", " ") for column in frame.columns]
        tables.print_table(title, columns, [_cells(row) for row in frame.to_dict(orient="records")])


def _cells(row: dict[Any, Any]) -> list[str]:
    return [display.percent(value) if "gap" in str(key) else display.number(value) for key, value in row.items()]
