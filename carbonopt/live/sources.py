"""Sources that can be asked for a signal: one entry each, with its address, its key, and its questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import quote

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.time import to_utc

WHAT = ("forecast", "history")
HISTORY = timedelta(hours=24)
"""Of the past that is asked for."""


@dataclass(frozen=True)
class Question:
    """A request: path, parameters, and headers, which may hold a key; `login` has a user's name and password."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    login: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Source:
    """A service that publishes signals.

    Parameters
    ----------
    url
        Where it answers.
    keys
        Environment variables that hold the key, or user and password; none where nobody is asked for one.
    question
        Of zone, ``forecast`` or ``history``, the present moment, and the values of `keys`.
    login
        Path that gives a token for user and password; empty where a key is sent as it is.
    """

    url: str
    keys: tuple[str, ...]
    question: Callable[[str, str, datetime, tuple[str, ...]], Question]
    login: str = ""


def _electricity_maps(zone: str, what: str, now: datetime, keys: tuple[str, ...]) -> Question:  # noqa: ARG001
    return Question(f"/v3/carbon-intensity/{what}", {"zone": zone}, {"auth-token": keys[0]})


def _watttime(zone: str, what: str, now: datetime, keys: tuple[str, ...]) -> Question:
    params = {"region": zone, "signal_type": "co2_moer"}
    if what == "history":
        params |= {"start": _minute(now - HISTORY), "end": _minute(now)}
    return Question("/v3/forecast" if what == "forecast" else "/v3/historical", params, login=(keys[0], keys[1]))


def _neso(zone: str, what: str, now: datetime, keys: tuple[str, ...]) -> Question:  # noqa: ARG001
    window = f"{_minute(now)}/{'fw48h' if what == 'forecast' else 'pt24h'}"
    if zone == "GB":
        return Question(f"/intensity/{window}")
    return Question(f"/regional/intensity/{window}/postcode/{quote(zone, safe='')}")


def _minute(moment: datetime) -> str:
    return f"{to_utc(moment):%Y-%m-%dT%H:%MZ}"


SOURCES = {
    "electricity-maps": Source("https://api.electricitymaps.com", ("ELECTRICITY_MAPS_API_KEY",), _electricity_maps),
    "watttime": Source("https://api.watttime.org", ("WATTTIME_USER", "WATTTIME_PASSWORD"), _watttime, "/v3/login"),
    "neso": Source("https://api.carbonintensity.org.uk", (), _neso),
}


def source_of(name: str) -> Source:
    """Return a source by its name.

    Raises
    ------
    UnsupportedError
        If there is none of that name.
    """
    if name not in SOURCES:
        raise UnsupportedError(f"unknown source {name!r}: must be {one_of(tuple(SOURCES))}")
    return SOURCES[name]


def keys_of(source: Source) -> tuple[str, ...]:
    """Return the values of a source's environment variables.

    Raises
    ------
    UnsupportedError
        It names those that are missing, and tells no value.
    """
    missing = [name for name in source.keys if not os.environ.get(name)]
    if missing:
        raise UnsupportedError(f"the environment has no {' and no '.join(missing)}: set it to your key")
    return tuple(os.environ[name] for name in source.keys)
