"""Recheck best-known values and bounds from their files alone, without a solver."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from carbonopt.bench.bks import FOLDERS, crosses, read_bks, sealed
from carbonopt.check import check
from carbonopt.core.errors import InputError
from carbonopt.core.files import file_name, read_bytes
from carbonopt.core.instance import Instance
from carbonopt.core.jsonfile import read_json, read_text, to_text
from carbonopt.io.read import read, read_solution


def verify(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Recheck every schedule and every certificate of a file of best-known values.

    Parameters
    ----------
    path
        ``bks.json``. The instances, and the folders ``solutions`` and ``bounds``, are beside it.

    Yields
    ------
    tuple
        Name of an instance, and what is wrong with its entry: nothing where all is as it says.

    Raises
    ------
    InputError
        If the file is none of best-known values.
    """
    raw = read_json(path)
    known = read_bks(path)
    if to_text(raw) != read_text(path):
        yield path.name, ["is not written as carbonopt writes it: a digit may have changed"]
    for name, entry in known.items():
        yield name, list(_entry_faults(path.parent, name, entry))


def instance_named(folder: Path, name: str) -> Instance:
    """Return the instance of that name in one of the folders in `folder`.

    Raises
    ------
    InputError
        If there is none, or its file is not sound.
    """
    file = f"{file_name(name)}.json"
    found = [path for path in sorted(folder.glob(f"*/{file}")) if path.parent.name not in FOLDERS.values()]
    return read(found[0] if found else folder / file)


def _entry_faults(folder: Path, name: str, entry: dict[str, Any]) -> Iterator[str]:
    if sealed(entry) != entry:
        yield "the entry is not what was entered (its hash differs)"
    try:
        instance = instance_named(folder, name)
    except InputError as error:
        yield from error.lines()
        return
    if instance.sha256 != entry["instance_sha256"]:
        yield "the instance is another one (its hash differs)"
        return
    if entry["sense"] != instance.sense:
        yield f"sense {entry['sense']!r}: the instance's is {instance.sense!r}"
    for field in FOLDERS:
        if entry[field] is not None:
            yield from _record_faults(folder, instance, field, entry[field])
    if crosses(entry):
        yield "bound and objective cross: one is wrong"


def _record_faults(folder: Path, instance: Instance, field: str, record: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a best-known value or bound, and with the file that shows it."""
    path = folder / FOLDERS[field] / f"{file_name(instance.name)}.json"
    try:
        if hashlib.sha256(read_bytes(path)).hexdigest() != record.get("file_sha256"):
            yield f"{field}: {path.name} is not the file that was entered (its hash differs)"
        solution = read_solution(path)
    except InputError as error:
        yield from (f"{field}: {line}" for line in error.lines())
        return
    report = check(instance, solution)
    yield from (f"{field}: {violation}" for violation in report.violations)
    yield from (f"{field}: is of the {name} that its file claims" for name in report.assumes)
    shown = report.objective if field == "objective" else report.proven_bound
    if shown is None or abs(shown - record["value"]) > 1e-9 * max(1e-6, abs(shown)):
        yield f"{field}: {record['value']} is said, the file shows {shown}"
