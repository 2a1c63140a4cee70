"""A campaign: every method on every instance, each finished run on disk before the next begins."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from sys import float_info
from typing import Any

from carbonopt.compare import run
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import parse_json, read_text
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.trace import Trace, seconds_to
from carbonopt.io.read import read

TEXTS = ("instance_sha256", "method_asked", "sense", "instance", "method", "status")
NUMBERS = ("seed", "time_limit", "bound", "objective", "wall_seconds")
BEGINNING = '{"'
"""Of every line that `run_campaign` writes, and of what a kill leaves of one."""
Key = tuple[str, str, int, float | None]


def run_campaign(
    paths: Sequence[Path],
    methods: Sequence[str] | None,
    results: Path,
    on_solution: Callable[[Instance, Solution], None] | None = None,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Run every method on every instance that `results` does not hold yet.

    Parameters
    ----------
    paths
        Instance files.
    methods
        None for those that each problem compares.
    results
        A file of one JSON object a line, appended to; a campaign that was killed goes on where it
        stopped.
    on_solution
        Called with each new solution, before its record is written.
    **options
        Of `solve`; seed and time limit are part of what makes a run the same.

    Yields
    ------
    dict
        One record a run, old and new.
    """
    done = {_key(record): record for record in read_results(results)}
    for path in paths:
        instance = read(path)
        for method, key in _runs(instance, methods, options):
            if key not in done:
                trace = Trace()
                solution = run(instance, [method], callback=trace, **options)[0]
                if solution.status is Status.INTERRUPTED:
                    return
                if on_solution is not None:  # first: a run that is recorded is not made again
                    on_solution(instance, solution)
                trace.end(solution)
                done[key] = _record(solution, method, options, trace)
                _append(results, done[key])
            yield done[key]


def read_results(results: Path) -> list[dict[str, Any]]:
    """Return the finished runs in a file; a line that a kill cut short is left out.

    Raises
    ------
    InputError
        If a line is neither a finished run nor the beginning of one: the file is something else.
    """
    if not results.exists():
        return []
    records = []
    for number, line in enumerate(read_text(results).split("\n"), start=1):
        try:
            record = parse_json(line)
        except json.JSONDecodeError:
            if line.startswith(BEGINNING) or BEGINNING.startswith(line):
                continue
            record = None
        except InputError as error:
            raise InputError(replace(fault, file=str(results), line=number) for fault in error.faults) from None
        if not _is_run(record):
            words = "is no finished run: choose another file for the results"
            raise InputError(Fault("", words, file=str(results), line=number))
        records.append(record)
    return records


def _is_run(record: Any) -> bool:
    """Return whether a line holds all that is read of a finished run, each of its own type."""
    if not isinstance(record, dict):
        return False
    texts = all(isinstance(record.get(name), str) for name in TEXTS)
    numbers = all(name in record and _is_number_or_none(record[name]) for name in NUMBERS)
    return texts and numbers and record["sense"] in ("min", "max") and record["wall_seconds"] is not None


def _is_number_or_none(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value is None
    return -float_info.max <= value <= float_info.max


def count_runs(paths: Iterable[Path], methods: Sequence[str] | None, results: Path, **options: Any) -> tuple[int, int]:
    """Return how many runs a campaign has, and how many of them `results` does not hold yet."""
    done = {_key(record) for record in read_results(results)}
    keys = [key for path in paths for _, key in _runs(read(path), methods, options)]
    return len(keys), sum(key not in done for key in keys)


def _runs(instance: Instance, methods: Sequence[str] | None, options: dict[str, Any]) -> list[tuple[str, Key]]:
    names = problem_of(instance.problem).compared if methods is None else methods
    seed = options.get("seed", 0)
    limit = options.get("time_limit")
    return [(name, (instance.sha256, name, seed, limit)) for name in names]


def _key(record: dict[str, Any]) -> Key:
    return (record["instance_sha256"], record["method_asked"], record["seed"], record["time_limit"])


def _record(solution: Solution, method: str, options: dict[str, Any], trace: Trace) -> dict[str, Any]:
    points = trace.points()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "instance_sha256": solution.instance_sha256,
        "method_asked": method,
        "seed": options.get("seed", 0),
        "time_limit": options.get("time_limit"),
        **solution.summary(),
        "root_bound": solution.info.get("root_bound"),
        "seconds_to_1_percent": seconds_to(points, 1e-2),
        "seconds_to_0.1_percent": seconds_to(points, 1e-3),
        "trajectory": [list(point) for point in points],
        "versions": solution.versions,
    }


def _append(results: Path, record: dict[str, Any]) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    cut_short = results.exists() and not results.read_bytes().endswith(b"\n") and results.stat().st_size > 0
    with results.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut_short else "") + json.dumps(record, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
