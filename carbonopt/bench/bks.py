"""Best-known values and bounds of the shipped instances, each with date, method and time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from sys import float_info
from typing import Any

from carbonopt.check import check
from carbonopt.core.errors import CarbonoptError, Fault, InputError
from carbonopt.core.files import file_name, locked
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import read_json, write_json
from carbonopt.core.solution import Solution

SOLUTIONS = "solutions"
IMPROVEMENT = 1e-9
"""Relative change below which a value is not better."""


def update(path: Path, instance: Instance, solution: Solution) -> list[str]:
    """Enter a solution's objective and bound where they are better than the best known.

    A better solution is written to the folder ``solutions`` beside `path`, so that anybody can check it.

    Parameters
    ----------
    path
        ``bks.json``; made if it is not there.
    instance, solution
        The solution is checked first.

    Returns
    -------
    list of str
        What improved: ``objective``, ``bound``.

    Raises
    ------
    CarbonoptError
        If the solution is not feasible, or a known value and a known bound cross: then one of
        them is wrong.
    """
    report = check(instance, solution)
    if report.violations:
        raise CarbonoptError(f"{instance.name}: {report.violations[0]}")
    with locked(path.parent):
        return _enter(path, instance, solution, report.objective)


def read_bks(path: Path) -> dict[str, Any]:
    """Return best-known values by instance; none where there is no file.

    Raises
    ------
    InputError
        With every entry that is none: the file is something else.
    """
    known = read_json(path) if path.exists() else {}
    faults = [
        Fault(name, "is no entry of best-known values: choose another file", file=str(path))
        for name, entry in known.items()
        if not _is_entry(entry)
    ]
    if faults:
        raise InputError(faults)
    return known


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("instance_sha256"), str):
        return False
    if entry.get("sense") not in ("min", "max"):
        return False
    return all(field in entry and (entry[field] is None or _is_value(entry[field])) for field in ("objective", "bound"))


def _is_value(known: Any) -> bool:
    value = known.get("value") if isinstance(known, dict) else None
    return isinstance(value, (int, float)) and abs(value) <= float_info.max


def _enter(path: Path, instance: Instance, solution: Solution, value_found: float | None) -> list[str]:
    known = read_bks(path)
    entry = known.get(instance.name)
    if entry is None or entry["instance_sha256"] != instance.sha256:
        entry = {"instance_sha256": instance.sha256, "sense": instance.sense, "objective": None, "bound": None}
    sign = 1.0 if instance.sense == "min" else -1.0
    improved = []
    for field, value, direction in (("objective", value_found, sign), ("bound", solution.bound, -sign)):
        if value is None or not (field == "bound" or solution.has_solution):
            continue
        if _better(value, entry[field], direction):
            entry[field] = _entry(value, solution)
            improved.append(field)
    objective = entry["objective"]
    bound = entry["bound"]
    if objective and bound and sign * (bound["value"] - objective["value"]) > 1e-6 * max(1.0, abs(bound["value"])):
        raise CarbonoptError(f"{instance.name}: bound {bound} and objective {objective} cross: one is wrong")
    if "objective" in improved:
        (path.parent / SOLUTIONS).mkdir(exist_ok=True)
        solution.write(path.parent / SOLUTIONS / f"{file_name(instance.name)}.json")
    if improved:
        write_json(path, dict(sorted((known | {instance.name: entry}).items())))
    return improved


def _better(value: float, known: dict[str, Any] | None, direction: float) -> bool:
    if known is None:
        return True
    return bool(direction * (known["value"] - value) > IMPROVEMENT * max(1.0, abs(known["value"])))


def _entry(value: float, solution: Solution) -> dict[str, Any]:
    return {
        "value": value,
        "method": solution.method,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "wall_seconds": round(solution.wall_seconds, 2),
        "versions": solution.versions,
    }
