"""What a format of carbon files is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carbonopt.io.carbon_formats.labels import UNLABELLED, Labels

Layout = Mapping[str, tuple[str, ...]]
"""Every spelling of each column, by the name that messages give it."""

INTENSITIES = ("lca", "direct")
"""Life cycle, and combustion only."""


@dataclass(frozen=True)
class CarbonFormat:
    """How a CSV file of carbon intensities is laid out.

    Parameters
    ----------
    title
        What messages call it.
    time, zone
        Column of times (ISO 8601), and of zones; no zone where the file's name is the zone.
    value
        Column of intensities for ``lca`` and ``direct``; the same one where the file does not say which it holds.
    g_per_kwh
        What 1 in the column is in gCO2eq/kWh, e.g. 453.59237 / 1000 for lb/MWh.
    has_header
        False where the file has none: two columns, the time and the intensity.
    labels
        What the source says about its values; life cycle or direct is added where the file holds both.
    shift_hours
        From a time as read, to the beginning of its value in UTC: -1 where an hour is named by its end.
    signed
        Whether values may be negative, as those of prices.
    """

    title: str
    time: tuple[str, ...]
    zone: tuple[str, ...]
    value: Mapping[str, tuple[str, ...]]
    g_per_kwh: float = 1.0
    has_header: bool = True
    labels: Labels = UNLABELLED
    shift_hours: float = 0.0
    signed: bool = False

    def layout(self, intensity: str) -> Layout:
        """Return the columns, the zone's left out where there is none."""
        columns = (self.time, self.zone, self.value[intensity])
        return {spellings[0]: spellings for spellings in columns if spellings}
