"""Formats of carbon files: one module each, and one line here.

A CSV file is read as the format whose columns its header has most of.
"""

from carbonopt.io.carbon_formats.caspian import CASPIAN
from carbonopt.io.carbon_formats.electricity_maps import ELECTRICITY_MAPS
from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.carbon_formats.plain import PLAIN

FORMATS: list[CarbonFormat] = [PLAIN, ELECTRICITY_MAPS, CASPIAN]
