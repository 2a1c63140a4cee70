"""A campaign: every method on every instance, each finished run on disk before the next begins."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from carbonopt.compare import run
from carbonopt.core.instance import Instance
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.io.read import read

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
        Called with each new solution.
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
        for method in methods if methods is not None else _compared(instance):
            key = (instance.sha256, method, options.get("seed", 0), options.get("time_limit"))
            if key not in done:
                solution = run(instance, [method], **options)[0]
                if solution.status is Status.INTERRUPTED:
                    return
                done[key] = _record(solution, method, options)
                _append(results, done[key])
                if on_solution is not None:
                    on_solution(instance, solution)
            yield done[key]


def read_results(results: Path) -> list[dict[str, Any]]:
    """Return the finished runs in a file; a line that a kill cut short is left out."""
    if not results.exists():
        return []
    records = []
    for line in results.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def count_runs(paths: Iterable[Path], methods: Sequence[str] | None) -> int:
    """Return how many runs a campaign has."""
    return sum(len(methods if methods is not None else _compared(read(path))) for path in paths)


def _compared(instance: Instance) -> tuple[str, ...]:
    from carbonopt.core.registry import problem_of

    return problem_of(instance.problem).compared


def _key(record: dict[str, Any]) -> Key:
    return (record["instance_sha256"], record["method_asked"], record["seed"], record["time_limit"])


def _record(solution: Solution, method: str, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "instance_sha256": solution.instance_sha256,
        "method_asked": method,
        "seed": options.get("seed", 0),
        "time_limit": options.get("time_limit"),
        **solution.summary(),
        "versions": solution.versions,
    }


def _append(results: Path, record: dict[str, Any]) -> None:
    results.parent.mkdir(parents=True, exist_ok=True)
    cut_short = results.exists() and not results.read_bytes().endswith(b"\n") and results.stat().st_size > 0
    with results.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut_short else "") + json.dumps(record, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
