"""A plain table: ``datetime,zone,carbon_intensity_g_per_kwh``."""

from carbonopt.io.carbon_formats.format import INTENSITIES, CarbonFormat

PLAIN = CarbonFormat(
    title="'datetime,zone,carbon_intensity_g_per_kwh'",
    time=("datetime",),
    zone=("zone",),
    value=dict.fromkeys(INTENSITIES, ("carbon_intensity_g_per_kwh",)),
)
