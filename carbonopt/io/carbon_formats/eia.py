"""EIA-930, the hourly grid monitor of the United States, as published and as gridstatus returns it.

The column says no unit: it is lb of CO2 for each kWh. ``UTC time`` is the end of the hour.
"""

from carbonopt.io.carbon_formats.format import INTENSITIES, CarbonFormat
from carbonopt.io.carbon_formats.labels import AVERAGE, Labels

_VALUE = dict.fromkeys(INTENSITIES, ("CO2 Emissions Intensity for Consumed Electricity",))
_LABELS = Labels("EIA-930", AVERAGE, scope="direct", status="estimated", unit="lb/kWh", time_zone="UTC")
_G_PER_LB = 453.59237

EIA_930 = CarbonFormat(
    title="EIA-930",
    time=("UTC time",),
    zone=("BA", "Region", "Sub-Region"),
    value=_VALUE,
    g_per_kwh=_G_PER_LB,
    labels=_LABELS,
    shift_hours=-1.0,
)
GRIDSTATUS = CarbonFormat(
    title="gridstatus' EIA-930",
    time=("Interval Start",),
    zone=("Area Id",),
    value=_VALUE,
    g_per_kwh=_G_PER_LB,
    labels=_LABELS,
)
