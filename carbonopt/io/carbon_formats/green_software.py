"""Green Software Foundation's Carbon Aware SDK: command line, WebAPI and file; g/kWh, no label, -1 is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.core.errors import Fault, InputError
from carbonopt.io.carbon_formats.json_format import JsonFormat, Row, field, number, objects, text
from carbonopt.io.carbon_formats.labels import Labels

_NAMES = (("location", "Location"), ("timestamp", "time", "Time"), ("value", "rating", "Rating"))


def _table(raw: Any) -> tuple[Any, str, str]:
    """Return the rows, the place that messages give them, and when a forecast was issued."""
    if field(raw, "Emissions") is not None:
        return raw["Emissions"], "Emissions", ""
    if field(raw, 0, "forecastData") is not None:
        return raw[0]["forecastData"], "[0].forecastData", text(raw[0].get("generatedAt"))
    if field(raw, "forecastData") is not None:
        return raw["forecastData"], "forecastData", text(raw.get("generatedAt"))
    return raw, "", ""


def _matches(raw: Any) -> bool:
    first = field(_table(raw)[0], 0)
    return isinstance(first, dict) and all(any(name in first for name in names) for names in _NAMES)


def _rows(raw: Any) -> Iterator[Row]:
    if field(raw, 0, "forecastData") is not None and len(raw) > 1:
        problem = "must be one forecast: write each location's to a file of its own"
        raise InputError(Fault("", problem, f"{len(raw)} forecasts"))
    rows, place, issued = _table(raw)
    labels = Labels("Carbon Aware SDK", status="forecast" if issued else "", issued_at=issued, unit="gCO2/kWh")
    for at, row in objects(rows, place):
        zone, time, rating = (next((row[name] for name in names if name in row), None) for names in _NAMES)
        value = rating if isinstance(rating, str) else number(rating)
        yield Row(at, text(zone), text(time), "" if value.strip() in ("-1", "-1.0") else value, labels)


GREEN_SOFTWARE = JsonFormat("Green Software Foundation's SDK", _matches, _rows)
