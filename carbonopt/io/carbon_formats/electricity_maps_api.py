"""Electricity Maps' API, version 3 and 4: history, forecast or one object; g/kWh in UTC, average."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.io.carbon_formats.json_format import JsonFormat, Row, measured_or_estimated, number, objects, text
from carbonopt.io.carbon_formats.labels import Labels

_SCOPES = {"lifecycle": "lca", "direct": "direct"}
_ENVELOPES = ("history", "forecast", "data")


def _matches(raw: Any) -> bool:
    return isinstance(raw, dict) and "zone" in raw and any(key in raw for key in (*_ENVELOPES, "carbonIntensity"))


def _rows(raw: dict[str, Any]) -> Iterator[Row]:
    envelope = next((key for key in _ENVELOPES if key in raw), None)
    rows = [("", raw)] if envelope is None else objects(raw[envelope], envelope)
    for place, row in rows:
        scope = text(row.get("emissionFactorType", raw.get("emissionFactorType")))
        status = measured_or_estimated(row.get("isEstimated"))
        labels = Labels(
            "Electricity Maps",
            "average",
            _SCOPES.get(scope, scope),
            "forecast" if envelope == "forecast" else status,
            text(raw.get("updatedAt")) if envelope == "forecast" else "",
            unit="gCO2eq/kWh",
            time_zone="UTC",
        )
        zone = text(row.get("zone", raw["zone"]))
        yield Row(place, zone, text(row.get("datetime")), number(row.get("carbonIntensity")), labels)


ELECTRICITY_MAPS_API = JsonFormat("Electricity Maps' API", _matches, _rows)
