"""Columns of an instance file as they stand in the JSON: their lengths, and the names that they hold.

Looked at apart from the values, so that a wrong value in one place does not hide a wrong length or
name in another. What is not a list, or not text, is the schema's to tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from carbonopt.core.errors import Fault, one_of, shown


def part(raw: Any, *path: str) -> Any:
    """Return what stands at `path`, None where nothing does."""
    for key in path:
        raw = raw.get(key) if isinstance(raw, dict) else None
    return raw


def names_at(raw: Any, *path: str) -> list[str] | None:
    """Return the list of names at `path`; None where something else stands there."""
    names = part(raw, *path)
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    return None


def column_faults(raw: Any, section: str, columns: Collection[str], tables: Collection[str]) -> Iterator[Fault]:
    """Yield a fault for each list in a section that is not as long as its column ``name``.

    `columns` are lists themselves, `tables` hold one list in each of their fields.
    """
    names = part(raw, section, "name")
    if not isinstance(names, list):
        return
    lists = {f"{section}.{column}": part(raw, section, column) for column in columns}
    for table in tables:
        found = part(raw, section, table)
        if isinstance(found, dict):
            lists |= {f"{section}.{table}.{key}": values for key, values in found.items()}
    for field, values in lists.items():
        if isinstance(values, list) and len(values) != len(names):
            words = f"must have one entry for each of the {len(names)} {section}"
            yield Fault(field, words, f"{len(values)} entries")


def row_faults(field: str, rows: Any, length: int, what: str) -> Iterator[Fault]:
    """Yield a fault for each row that is a list of another length."""
    for number, row in enumerate(rows if isinstance(rows, list) else ()):
        if isinstance(row, list) and len(row) != length:
            yield Fault(field, f"must have {length} values{what}", f"{len(row)} values", number)


def duplicate_faults(raw: Any, *path: str) -> Iterator[Fault]:
    """Yield a fault for each name that stands in the same column before."""
    names = part(raw, *path)
    seen = dict[str, int]()
    for row, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name and seen.setdefault(name, row) != row:
            yield Fault(".".join(path), f"is a duplicate of row {seen[name]}", shown(name), row)


def unknown_faults(
    field: str, names: Iterable[tuple[int, Any]], known: list[str] | None, where: str
) -> Iterator[Fault]:
    """Yield a fault for each (row, name) that is not `known`; None where that could not be read."""
    if known is not None:
        listed = f"{where} has {one_of(known)}" if known else f"{where} is empty"
        index = set(known)
        for row, name in names:
            if isinstance(name, str) and name and name not in index:
                yield Fault(field, f"is unknown: {listed}", shown(name), row)


def carbon_faults(raw: Any, slots: int | None) -> Iterator[Fault]:
    """Yield what is wrong with the shape and the names of the field ``carbon``; `slots` None if unknown."""
    zones = part(raw, "carbon", "zones")
    rows = part(raw, "carbon", "g_per_kwh")
    yield from duplicate_faults(raw, "carbon", "zones")
    if isinstance(zones, list) and isinstance(rows, list) and len(zones) != len(rows):
        words = f"must have one row for each of the {len(zones)} zones"
        yield Fault("carbon.g_per_kwh", words, f"{len(rows)} rows")
    if slots is not None:
        yield from row_faults("carbon.g_per_kwh", rows, slots, ", one a slot (time.slots)")
