"""Readers of electricity prices: CSV whose column names the currency and the unit, gridstatus, and Energy-Charts.

========================= =========================================== ====================================
format                    columns                                     zone
========================= =========================================== ====================================
plain, Ember, ENTSO-E     a time, and ``price_eur_per_kwh``, ``Price  ``zone`` or ``ISO3 Code``, or the name
                          (EUR/MWhe)``, ``Price [EUR/MWh]``           of the file
gridstatus                ``Interval Start``, ``LMP`` (USD/MWh)       ``Location``
Energy-Charts             JSON: ``unix_seconds``, ``price``, ``unit`` name of the file
========================= =========================================== ====================================

A price may be negative. Times, gaps and duplicates are treated as those of carbon.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from carbonopt.core.arrays import frozen_int
from carbonopt.core.energy_price import EnergyPrice
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.jsonfile import read_json, read_text
from carbonopt.core.time import TimeGrid
from carbonopt.io.carbon import read_zones, require_cover
from carbonopt.io.carbon_formats.format import CarbonFormat
from carbonopt.io.csvfile import Table, read_table, words
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.io.series import SignalSeries, series_of, slot_means
from carbonopt.io.times import utc_text

TIMES = ("datetime", "Datetime (UTC)", "Interval Start", "time")
ZONES = ("zone", "ISO3 Code", "Location")
_NAMED = re.compile(r".*\bprice\b.*")
_UNIT = re.compile(r".*\b(?!per)([a-z]{3}) (?:per )?(kwh|mwhe?)\b.*")
_PER_KWH = {"kwh": 1.0, "mwh": 1e-3, "mwhe": 1e-3}


def read_prices(
    paths: Sequence[str | os.PathLike[str]], time: TimeGrid, zones: Sequence[str], reading: Reading = AS_THEY_ARE
) -> EnergyPrice:
    """Read the price of electricity in some zones over some slots.

    Parameters
    ----------
    paths
        Files, plain or gzip.
    time
        The slots.
    zones
        Whose prices are wanted. Where one is, and the files have one zone, that is it whatever it is called.
    reading
        ``fill`` and ``tz``; the rest is of carbon.

    Raises
    ------
    InputError
        With every fault: of the files, several currencies, a zone without prices, slots outside the data.
    """
    currencies: dict[str, str] = {}

    def read(path: str | os.PathLike[str]) -> list[SignalSeries]:
        table, kind, currency = _table(path)
        currencies.setdefault(currency, str(path))
        at = table.columns(kind.layout("lca"))
        columns = [at[names[0]] if names else None for names in (kind.time, kind.zone, kind.value["lca"])]
        assert columns[0] is not None
        assert columns[2] is not None
        return series_of(table, (columns[0], columns[1], columns[2]), [kind.labels] * len(table.lines), reading, kind)

    found = read_zones(paths, read)
    if len(currencies) > 1:
        told = ", ".join(f"{name} in {file}" for name, file in currencies.items())
        raise InputError(Fault("currency", "must be one for all prices", told))
    if len(zones) == len(found) == 1:
        found = {zones[0]: next(iter(found.values()))}
    files = ", ".join(map(str, paths))
    missing = [zone for zone in zones if zone not in found]
    if missing:
        held = f"has no price: the files have {', '.join(map(shown, found))}"
        raise InputError([Fault("zone", held, shown(zone), file=files) for zone in missing])
    chosen = [found[zone] for zone in zones]
    require_cover(chosen, time, "")
    return EnergyPrice(tuple(zones), np.array([slot_means(series, time) for series in chosen]), next(iter(currencies)))


def _table(path: str | os.PathLike[str]) -> tuple[Table, CarbonFormat, str]:
    """Return a file's table, how it is laid out, and its currency."""
    if read_text(path).lstrip()[:1] in ("{", "["):
        return _energy_charts(path)
    table = read_table(path)
    named = [name for name in table.header if _NAMED.fullmatch(words(name)) or words(name) == "lmp"]
    if len(named) != 1:
        problem = f"must have one column of prices, such as price_eur_per_kwh or LMP: {len(named) or 'none'} found"
        raise InputError(Fault("", problem, shown(",".join(table.header)), file=str(path)))
    unit = _UNIT.fullmatch("usd mwh" if words(named[0]) == "lmp" else words(named[0]))
    if unit is None:
        problem = "must name its currency and unit, as price_eur_per_kwh or Price [EUR/MWh] do"
        raise InputError(Fault(named[0], problem, file=str(path)))
    times = [name for name in TIMES if table.spelled((name,))]
    zones = [name for name in ZONES if table.spelled((name,))]
    return table, _format(tuple(times[:1] or TIMES[:1]), tuple(zones[:1]), named[0], unit), unit[1].upper()


def _format(time: tuple[str, ...], zone: tuple[str, ...], value: str, unit: re.Match[str]) -> CarbonFormat:
    return CarbonFormat("prices", time, zone, {"lca": (value,)}, _PER_KWH[unit[2]], signed=True)


def _energy_charts(path: str | os.PathLike[str]) -> tuple[Table, CarbonFormat, str]:
    raw: dict[str, Any] = read_json(path)
    seconds, prices, unit = (raw.get(name) for name in ("unix_seconds", "price", "unit"))
    found = _UNIT.fullmatch(words(unit)) if isinstance(unit, str) else None
    if not isinstance(seconds, list) or not isinstance(prices, list) or len(seconds) != len(prices) or found is None:
        problem = "is no known JSON of prices: must have unix_seconds and price, lists of one length, and unit"
        raise InputError(Fault("", problem, shown(unit), file=str(path)))
    bad = [row for row, second in enumerate(seconds) if type(second) is not int or not 0 <= second < 7e9]
    if bad or not seconds:
        problem = "must be whole seconds since 1970" if bad else "must not be empty"
        value = shown(seconds[bad[0]]) if bad else None
        raise InputError(Fault("unix_seconds", problem, value, bad[0] if bad else None, str(path)))
    times = tuple(utc_text(second * 1_000_000_000) for second in seconds)
    cells = tuple("" if price is None or isinstance(price, bool) else str(price) for price in prices)
    table = Table(str(path), ("datetime", "price"), (times, cells), frozen_int(np.arange(len(times))))
    return table, _format(("datetime",), (), "price", found), found[1].upper()


def price_provenance(price: EnergyPrice, paths: Sequence[str | os.PathLike[str]]) -> dict[str, Any]:
    """Return what an instance tells of where its prices come from."""
    return {"energy_price": {"currency": price.currency, "files": [Path(path).name for path in paths]}}
