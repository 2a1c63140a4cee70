"""Electricity Maps' export, which holds both intensities."""

from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.carbon_formats.labels import Labels

ELECTRICITY_MAPS = CarbonFormat(
    title="Electricity Maps' export",
    time=("Datetime (UTC)",),
    zone=("Zone Id",),
    value={
        "lca": ("Carbon intensity gCO₂eq/kWh (Life cycle)", "Carbon intensity gCO₂eq/kWh (LCA)"),
        "direct": ("Carbon intensity gCO₂eq/kWh (direct)",),
    },
    labels=Labels("Electricity Maps", "average", unit="gCO2eq/kWh", time_zone="UTC"),
)
