"""Carbon files of each format, for the tests of their readers."""

from __future__ import annotations

from pathlib import Path

PLAIN = "datetime,zone,carbon_intensity_g_per_kwh\n"
OLD_EXPORT = (
    "Datetime (UTC),Country,Zone Name,Zone Id,Carbon Intensity gCO₂eq/kWh (direct),"
    "Carbon Intensity gCO₂eq/kWh (LCA),Low Carbon Percentage,Data Source\n"
)
NEW_EXPORT = (
    "Datetime (UTC),Country,Zone name,Zone id,Carbon intensity gCO₂eq/kWh (direct),"
    "Carbon intensity gCO₂eq/kWh (Life cycle),Carbon-free energy percentage (CFE%),Data source\n"
)
EXPORT_ROWS = (
    "2022-01-01 00:00:00,USA,California,US-CAL,209.26,274.07,55.43,x\n"
    "2022-01-01 01:00:00,USA,California,US-CAL,225,291.76,52.7,x\n"
)


def hours(*values: object, zone: str = "DE", day: str = "2022-01-01") -> str:
    """Return plain rows of one zone, one an hour from midnight."""
    return "".join(f"{day}T{hour:02d}:00:00Z,{zone},{value}\n" for hour, value in enumerate(values))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
