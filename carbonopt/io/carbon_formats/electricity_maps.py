"""Electricity Maps' export, which holds both intensities."""

from carbonopt.io.carbon_formats.format import CarbonFormat

ELECTRICITY_MAPS = CarbonFormat(
    title="Electricity Maps' export",
    time=("Datetime (UTC)",),
    zone=("Zone Id",),
    value={
        "lca": ("Carbon intensity gCO₂eq/kWh (Life cycle)", "Carbon intensity gCO₂eq/kWh (LCA)"),
        "direct": ("Carbon intensity gCO₂eq/kWh (direct)",),
    },
)
