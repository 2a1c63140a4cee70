"""wattnet: one list of [time, value] pairs a series, g/kWh."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.io.carbon_formats.json_format import JsonFormat, Row, field, number, text
from carbonopt.io.carbon_formats.labels import Labels


def _matches(raw: Any) -> bool:
    return isinstance(field(raw, 0, "series", 0, "values"), list)


def _rows(raw: Any) -> Iterator[Row]:
    if len(raw) > 1 or len(raw[0]["series"]) > 1:
        raise InputError(Fault("", "must be one series: write each zone's to a file of its own", "several series"))
    labels = Labels("wattnet", unit="gCO2/kWh")
    for at, pair in enumerate(raw[0]["series"][0]["values"]):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(Fault("[0].series[0].values", "must be [time, value]", shown(pair), at))
        yield Row(f"[0].series[0].values[{at}]", "", text(pair[0]), number(pair[1]), labels)


WATTNET = JsonFormat("wattnet", _matches, _rows)
