"""Rows of a report: each run of a campaign, measured against the best bound of its instance."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carbonopt.bench.gaps import with_best_bounds
from carbonopt.bench.results import conditions, key_of, read_results, require_conditions
from carbonopt.bench.runs import AS_PLANNED, SIMULATED, Row
from carbonopt.core.errors import Fault, InputError, one_line
from carbonopt.core.solution import relative_gap, shown_method
from carbonopt.core.trace import Point, points_of

NOTHING = 1.0
"""Gap that counts for a run without a schedule: 100 %."""
MOMENTS = 40
"""Points of a curve of gaps over time."""
FIRST_MOMENT = 0.01
"""At which such curves begin [s]."""
LAST_MOMENT = 1e7
"""At which they end at the latest: four months [s]."""
MEASURED = ("best_bound", "root_gap", "primal_integral", "seconds_to_1_percent", "seconds_to_0.1_percent")
HEADS = {
    "time_limit": "time limit [s]",
    "work_limit": "work limit [units]",
    "mip_rel_gap": "relative gap",
    "threads": "threads",
    "memory_mib": "memory [MiB]",
    "kill_seconds": "killed after [s]",
}
"""What options of a campaign are called on the page."""
OWN = ("instance", "method", "seed", "status", "objective", "bound", "wall_seconds", "date", "message")
"""What is shown of a run as its row has it."""


def read_rows(files: Sequence[Path]) -> list[Row]:
    """Return the rows of files of results, each run once.

    Raises
    ------
    InputError
        If a file is missing, holds no runs or something else, or is of another campaign than the first.
    """
    rows: dict[Any, Row] = {}
    for path in files:
        if not path.exists():
            raise InputError(Fault("", "no such file", file=str(path)))
        found = read_results(path)
        if not found:
            raise InputError(Fault("", "holds no finished run", file=str(path)))
        first = next(iter(rows.values()), found[0])
        require_conditions(path, found, conditions(first))
        for row in found:
            rows.setdefault(key_of(row), row | {"folder": path.parent})
    return _in_order(list(rows.values()))


def _in_order(rows: list[Row]) -> list[Row]:
    """Return rows by instance, method and seed: they are in the order in which they ended."""
    instances = {row["instance_sha256"]: place for place, row in reversed(list(enumerate(rows)))}
    methods = {row["method_asked"]: place for place, row in reversed(list(enumerate(rows)))}

    def place(row: Row) -> tuple[str, int, int, float]:
        problem = str(row.get("problem"))
        return (problem, instances[row["instance_sha256"]], methods[row["method_asked"]], row["seed"] or 0)

    return sorted(rows, key=place)


def report_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return what the page shows of each run, as JSON.

    ``counted`` is the gap to the best bound that enters means: `NOTHING` without a schedule, None where no bound of the
    instance is proven. ``gaps`` are those at each of `moments`.
    """
    table = with_best_bounds(rows).to_dict(orient="records")
    grid = moments(rows)
    return [_row(number, row, measured, grid) for number, (row, measured) in enumerate(zip(rows, table, strict=True))]


def moments(rows: Sequence[Row]) -> list[float]:
    """Return the moments at which curves over time are drawn [s]: even on a logarithmic axis."""
    last = min(LAST_MOMENT, max([10 * FIRST_MOMENT, *(float(row["wall_seconds"]) for row in rows)]))
    factor = (last / FIRST_MOMENT) ** (1 / (MOMENTS - 1))
    return [FIRST_MOMENT * factor**i for i in range(MOMENTS - 1)] + [last]


def _row(number: int, row: Row, measured: dict[Any, Any], grid: Sequence[float]) -> dict[str, Any]:
    shown: dict[str, Any] = {name: _plain(row.get(name)) for name in OWN}
    shown |= {name: _plain(measured[name]) for name in MEASURED}
    shown["method"] = shown_method(row["method"], measured["without_loops"])  # no mean mixes the two
    if shown["status"] == "time_limit" and row["time_limit"] is None:  # one status for both
        shown["status"] = "work_limit"
    shown["wall_seconds"] = max(0.0, row["wall_seconds"])
    shown["problem"] = one_line(str(row.get("problem", "unknown")))
    shown["gap"] = _plain(measured["gap_to_best_bound"])
    shown["counted"] = NOTHING if row["objective"] is None else shown["gap"]
    if shown["best_bound"] is None:
        shown["counted"] = None
    points = points_of(row)
    shown["gaps"] = None
    if points is not None and shown["best_bound"] is not None and row["objective"] is not None:
        shown["gaps"] = _gaps_at(points, shown["best_bound"], grid)
    shown["command"] = command_of(row)
    shown["id"] = number
    shown["case"] = f"{row['instance_sha256']} {row['seed']}"
    return shown


def _gaps_at(points: Sequence[Point], best_bound: float, grid: Sequence[float]) -> list[float]:
    """Return the gap of the incumbent at each moment; `NOTHING` before there is one, and at most that."""
    seconds = [point[0] for point in points]
    gaps = []
    for moment in grid:
        last = bisect_right(seconds, moment) - 1
        gap = None if last < 0 else relative_gap(points[last][1], best_bound)
        gaps.append(float(f"{min(NOTHING, NOTHING if gap is None else gap):.4g}"))
    return gaps


def command_of(row: Row) -> str:
    """Return the command that makes a run again."""
    from shlex import quote

    method, limit = row["method_asked"], row["time_limit"]
    file, seed = str(row.get("instance_file") or "INSTANCE"), str(row["seed"])
    if method.startswith(SIMULATED):
        words = ["carbonopt", "simulate", file, "-p", method.removeprefix(SIMULATED), "--seed", seed]
    else:
        words = [
            "carbonopt",
            "solve",
            file,
            "-m",
            method,
            "--seed",
            seed,
            "-t",
            "inf" if limit is None else f"{limit:g}",
        ]
        if _is_number(row.get("work_limit")):
            words += ["--work-limit", f"{row['work_limit']:g}"]
        if isinstance(row.get("threads"), int):
            words += ["--threads", str(row["threads"])]
    return one_line(" ".join(map(quote, words)))


def conditions_shown(rows: Sequence[Row]) -> dict[str, str]:
    """Return what all runs have in common, for a person."""
    given = conditions(rows[0])
    shown = {head: f"{value:g}" for name, head in HEADS.items() if _is_number(value := given.get(name))}
    days = sorted({one_line(str(row["date"])) for row in rows if row.get("date")})
    if days:
        shown["made"] = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    machines = sorted({one_line(str(row["machine"])) for row in rows if row.get("machine")})
    if machines:
        shown["on"] = "; ".join(machines)
    versions = {name: one_line(str(value)) for name, value in given.items() if name not in AS_PLANNED}
    return shown | versions


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it, on one line where it is text."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else one_line(str(value))
