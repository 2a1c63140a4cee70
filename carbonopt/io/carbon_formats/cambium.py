"""Cambium's hourly files: average, short-run and long-run marginal rates in kg/MWh, under rows about the project.

The times are Eastern Standard Time throughout the year (UTC-5), and are the beginnings of hours.
"""

from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.carbon_formats.labels import AVERAGE, LONG_RUN, SHORT_RUN, Labels


def _cambium(column: str, kind: str) -> CarbonFormat:
    return CarbonFormat(
        title=f"Cambium's {kind} rates ({column})",
        time=("timestamp",),
        zone=(),
        value={"lca": (column,), "direct": (f"{column}_c",)},
        labels=Labels("Cambium", kind, status="modelled", unit="kg/MWh", time_zone="EST (UTC-5)"),
        shift_hours=5.0,
    )


CAMBIUM = [_cambium("srmer_co2e", SHORT_RUN), _cambium("lrmer_co2e", LONG_RUN), _cambium("aer_load_co2e", AVERAGE)]
