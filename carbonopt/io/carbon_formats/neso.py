"""UK NESO: national, regional, and by region or postcode; half-hours in UTC, average, g/kWh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.io.carbon_formats.json_format import JsonFormat, Row, field, number, objects, text
from carbonopt.io.carbon_formats.labels import Labels


def _periods(raw: Any) -> Any:
    """Return the rows of half-hours, and the place that messages give them."""
    data = field(raw, "data")
    for rows, place in ((field(data, "data"), "data.data"), (field(data, 0, "data"), "data[0].data")):
        if rows is not None:
            return rows, place
    return data, "data"


def _matches(raw: Any) -> bool:
    first = field(_periods(raw)[0], 0)
    return isinstance(first, dict) and "from" in first and ("intensity" in first or "regions" in first)


def _rows(raw: Any) -> Iterator[Row]:
    rows, place = _periods(raw)
    owner = field(raw, "data", 0) if place == "data[0].data" else field(raw, "data")
    name = text(field(owner, "shortname")) or "GB"
    for at, period in objects(rows, place):
        zones = objects(period["regions"], f"{at}.regions") if "regions" in period else [(at, period)]
        for where, zone in zones:
            actual = field(zone, "intensity", "actual")
            value = field(zone, "intensity", "forecast") if actual is None else actual
            status = "forecast" if actual is None else "measured"
            labels = Labels("NESO", "average", status=status, unit="gCO2/kWh", time_zone="UTC")
            yield Row(where, text(zone.get("shortname")) or name, text(period.get("from")), number(value), labels)


NESO = JsonFormat("UK NESO", _matches, _rows)
