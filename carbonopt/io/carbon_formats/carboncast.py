"""CarbonCast: actual intensities and 96-hour forecasts; only the file's name says life cycle or direct."""

from carbonopt.io.carbon_formats.format import INTENSITIES, CarbonFormat
from carbonopt.io.carbon_formats.labels import Labels

CARBONCAST = CarbonFormat(
    title="CarbonCast's actual intensities",
    time=("UTC time",),
    zone=(),
    value=dict.fromkeys(INTENSITIES, ("carbon_intensity",)),
    labels=Labels("CarbonCast", "average", status="measured", unit="g/kWh", time_zone="UTC"),
)
CARBONCAST_FORECAST = CarbonFormat(
    title="CarbonCast's forecast",
    time=("datetime",),
    zone=(),
    value=dict.fromkeys(INTENSITIES, ("avg_carbon_intensity_forecast",)),
    labels=Labels("CarbonCast", "average", status="forecast", unit="g/kWh", time_zone="UTC"),
)
