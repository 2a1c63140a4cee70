"""Formats of carbon files: one module each, and one line here.

A CSV file is read as the format whose columns its header has most of, a JSON file as the first that it matches.
"""

from carbonopt.io.carbon_formats.cambium import CAMBIUM
from carbonopt.io.carbon_formats.carboncast import CARBONCAST, CARBONCAST_FORECAST
from carbonopt.io.carbon_formats.caspian import CASPIAN
from carbonopt.io.carbon_formats.eia import EIA_930, GRIDSTATUS
from carbonopt.io.carbon_formats.electricity_maps import ELECTRICITY_MAPS
from carbonopt.io.carbon_formats.electricity_maps_api import ELECTRICITY_MAPS_API
from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.carbon_formats.green_software import GREEN_SOFTWARE
from carbonopt.io.carbon_formats.json_format import JsonFormat
from carbonopt.io.carbon_formats.neso import NESO
from carbonopt.io.carbon_formats.plain import PLAIN
from carbonopt.io.carbon_formats.wattnet import WATTNET
from carbonopt.io.carbon_formats.watttime import WATTTIME

FORMATS: list[CarbonFormat] = [
    PLAIN,
    ELECTRICITY_MAPS,
    CASPIAN,
    CARBONCAST,
    CARBONCAST_FORECAST,
    *CAMBIUM,
    EIA_930,
    GRIDSTATUS,
]
JSON_FORMATS: list[JsonFormat] = [WATTTIME, ELECTRICITY_MAPS_API, NESO, GREEN_SOFTWARE, WATTNET]
