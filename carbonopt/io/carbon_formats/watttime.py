"""WattTime version 3: historical, forecast, and the latest of forecast/historical; lb/MWh in UTC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.carbon_formats.json_format import JsonFormat, Row, field, measured_or_estimated, number, objects, text
from carbonopt.io.carbon_formats.labels import Labels

G_PER_KWH = 0.45359237
"""What 1 lb/MWh is: a pound is 453.59237 g, by its definition of 1959."""
_KINDS = {"co2_moer": "marginal", "co2_aoer": "average"}


def _matches(raw: Any) -> bool:
    return isinstance(field(raw, "meta", "signal_type"), str)


def _rows(raw: dict[str, Any]) -> Iterator[Row]:
    meta = raw["meta"]
    if meta["signal_type"] not in _KINDS:
        raise InputError(Fault("meta.signal_type", "must be co2_moer or co2_aoer", shown(meta["signal_type"])))
    if meta.get("units") != "lbs_co2_per_mwh":
        raise InputError(Fault("meta.units", "must be lbs_co2_per_mwh", shown(meta.get("units"))))
    rows = list(objects(raw.get("data"), "data"))
    issued = text(meta.get("generated_at"))
    forecasts = [(text(row.get("generated_at")), place, row) for place, row in rows if "forecast" in row]
    if forecasts:
        issued, place, row = max(forecasts, key=lambda forecast: forecast[0])
        rows = list(objects(row["forecast"], f"{place}.forecast"))
    for place, row in rows:
        labels = Labels(
            "WattTime",
            _KINDS[meta["signal_type"]],
            status="forecast" if issued else measured_or_estimated(row.get("imputed_data_used")),
            issued_at=issued,
            model_date=text(field(row, "model", "date") or row.get("model_date") or field(meta, "model", "date")),
            unit="lbs_co2_per_mwh",
            time_zone="UTC",
        )
        value = number(row.get("value"), G_PER_KWH)
        yield Row(place, text(meta.get("region")), text(row.get("point_time")), value, labels)


WATTTIME = JsonFormat("WattTime version 3", _matches, _rows)
