"""Lengths and names in a mosp file: what its columns must share, told from the JSON as it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.core.errors import Fault, one_of
from carbonopt.io.columns import (
    column_faults,
    duplicate_faults,
    names_at,
    part,
    row_faults,
    unknown_faults,
)


def shape_faults(raw: dict[str, Any], slots: int | None) -> Iterator[Fault]:
    """Yield every wrong length, duplicate, and unknown zone, cluster or resource.

    Parameters
    ----------
    raw
        Content of the file.
    slots
        The horizon; None where ``time`` does not tell it.
    """
    yield from column_faults(raw, "clusters", ["zone", "max_starts_per_slot"], ["capacity", "watts_per_unit"])
    yield from column_faults(raw, "jobs", ["arrival", "duration", "deadline", "eligible"], ["demand"])
    yield from duplicate_faults(raw, "clusters", "name")
    yield from duplicate_faults(raw, "jobs", "name")
    yield from _capacity_faults(raw, slots)
    for path in (("clusters", "watts_per_unit"), ("jobs", "demand")):
        yield from _resource_faults(raw, *path)
    if slots is not None:
        yield from row_faults("energy_price.per_kwh", part(raw, "energy_price", "per_kwh"), slots, ", one a slot")
    zones = enumerate(_list(part(raw, "clusters", "zone")))
    yield from unknown_faults("clusters.zone", zones, names_at(raw, "carbon", "zones"), "carbon.zones")
    eligible = [(row, name) for row, names in enumerate(_list(part(raw, "jobs", "eligible"))) for name in _list(names)]
    yield from unknown_faults("jobs.eligible", eligible, names_at(raw, "clusters", "name"), "clusters.name")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _capacity_faults(raw: dict[str, Any], slots: int | None) -> Iterator[Fault]:
    capacity = part(raw, "clusters", "capacity")
    if isinstance(capacity, dict) and slots is not None:
        for resource, rows in capacity.items():
            yield from row_faults(f"clusters.capacity.{resource}", rows, slots, ", one a slot, or be one number")


def _resource_faults(raw: dict[str, Any], *path: str) -> Iterator[Fault]:
    """Yield each resource that ``clusters.capacity`` has and this table lacks, and the other way round."""
    capacity = part(raw, "clusters", "capacity")
    table = part(raw, *path)
    field = ".".join(path)
    if not isinstance(capacity, dict) or not isinstance(table, dict):
        return
    for name in capacity:
        if name and name not in table:
            yield Fault(f"{field}.{name}", "is missing: clusters.capacity has this resource")
    for name in table:
        if name and name not in capacity:
            known = "clusters.capacity is empty"
            if capacity:
                known = f"clusters.capacity has {one_of(list(capacity))}"
            yield Fault(f"{field}.{name}", f"is an unknown resource: {known}")
