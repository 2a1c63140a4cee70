"""Caspian's files: no header, time and intensity; the zone is the file's name."""

from carbonopt.io.carbon_formats.format import INTENSITIES, CarbonFormat

CASPIAN = CarbonFormat(
    title="Caspian's two columns without a header",
    time=("datetime",),
    zone=(),
    value=dict.fromkeys(INTENSITIES, ("carbon_intensity_g_per_kwh",)),
    has_header=False,
)
