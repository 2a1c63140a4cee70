"""Best-known values and bounds of instances: who found each, with what, and the file that shows it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from sys import float_info
from typing import Any

from carbonopt.check import check
from carbonopt.core.errors import CarbonoptError, Fault, InputError
from carbonopt.core.files import file_name, locked, write_bytes
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import content_hash, read_json, to_text, write_json
from carbonopt.core.report import Report
from carbonopt.core.solution import Solution
from carbonopt.core.versions import machine

FOLDERS = {"objective": "solutions", "bound": "bounds"}
"""Where the solution file that shows a value, or whose certificate proves a bound, is kept beside ``bks.json``."""
IMPROVEMENT = 1e-9
"""Relative change below which a value is not better."""
WORK = ("simplex_iterations", "ipm_iterations", "nodes", "moves", "iterations", "pricings")
"""What `info` of a solution counts of the work that found it."""


def update(path: Path, instance: Instance, solution: Solution) -> list[str]:
    """Enter a solution's objective and proven bound where they are better than the best known.

    The solution file is written to the folder ``solutions`` or ``bounds`` beside `path`, so that anybody can check it.

    Parameters
    ----------
    path
        ``bks.json``; made if it is not there.
    instance, solution
        The solution is checked first. A bound is entered as far as its certificate proves it, and no further.

    Returns
    -------
    list of str
        What improved: ``objective``, ``bound``.

    Raises
    ------
    CarbonoptError
        If the solution is not feasible, says not which version of carbonopt made it, or its objective is of numbers
        that it claims itself; and if a known value and a known bound cross: then one of them is wrong.
    """
    report = check(instance, solution)
    if report.violations:
        raise CarbonoptError(f"{instance.name}: {report.violations[0]}")
    if report.assumes:
        words = f"its objective is of the {' and '.join(report.assumes)} that the solution claims"
        raise CarbonoptError(f"{instance.name}: {words}: must be fixed in the instance, so that values compare")
    if solution.versions.get("carbonopt", "unknown") == "unknown":
        raise CarbonoptError(f"{instance.name}: versions.carbonopt is unknown: must say what made the solution")
    with locked(path.parent):
        return _enter(path, instance, solution, report)


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


def sealed(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with the hash of all else that it holds, by which a changed digit is seen."""
    bare = {name: value for name, value in entry.items() if name != "sha256"}
    return {**bare, "sha256": content_hash(bare)}


def _is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("instance_sha256"), str):
        return False
    if entry.get("sense") not in ("min", "max"):
        return False
    return all(field in entry and (entry[field] is None or _is_value(entry[field])) for field in ("objective", "bound"))


def _is_value(known: Any) -> bool:
    value = known.get("value") if isinstance(known, dict) else None
    return isinstance(value, (int, float)) and abs(value) <= float_info.max


def _enter(path: Path, instance: Instance, solution: Solution, report: Report) -> list[str]:
    known = read_bks(path)
    entry = known.get(instance.name)
    if entry is None or entry["instance_sha256"] != instance.sha256:
        entry = {"instance_sha256": instance.sha256, "sense": instance.sense, "objective": None, "bound": None}
    values = {"objective": report.objective if solution.has_solution else None, "bound": report.proven_bound}
    improved = [field for field, value in values.items() if is_better(field, value, entry)]
    text = to_text(solution.to_dict())
    for field in improved:
        entry = {**entry, field: _record(field, values[field], solution, text)}
    if crosses(entry):
        values = {field: entry[field]["value"] for field in FOLDERS}
        raise CarbonoptError(f"{instance.name}: bound and objective cross, so one is wrong: {values}")
    for field in improved:
        target = path.parent / entry[field]["file"]
        target.parent.mkdir(exist_ok=True)
        write_bytes(target, text.encode())
    if improved:
        write_json(path, dict(sorted((known | {instance.name: sealed(entry)}).items())))
    return improved


def is_better(field: str, value: float | None, entry: dict[str, Any]) -> bool:
    """Return whether a value is better than what an entry has as its ``objective`` or ``bound``."""
    known = entry[field]
    if value is None or known is None:
        return value is not None
    lower_is_better = (entry["sense"] == "min") == (field == "objective")
    difference = known["value"] - value if lower_is_better else value - known["value"]
    return bool(difference > IMPROVEMENT * max(1.0, abs(known["value"])))


def crosses(entry: dict[str, Any]) -> bool:
    """Return whether an entry's bound is beaten by its objective."""
    objective, bound = entry["objective"], entry["bound"]
    if objective is None or bound is None:
        return False
    sign = 1.0 if entry["sense"] == "min" else -1.0
    return bool(sign * (bound["value"] - objective["value"]) > 1e-6 * max(1.0, abs(bound["value"])))


def _record(field: str, value: float | None, solution: Solution, text: str) -> dict[str, Any]:
    """Return who found a value, with what, and where the file is that shows it."""
    return {
        "value": value,
        "file": f"{FOLDERS[field]}/{file_name(solution.instance)}.json",
        "file_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "method": solution.method,
        "version": solution.versions["carbonopt"],
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "work": {name: solution.info[name] for name in WORK if name in solution.info} | {"units": solution.work},
        "wall_seconds": round(solution.wall_seconds, 2),
        "machine": machine(),
    }
