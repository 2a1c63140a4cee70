"""Options of a simulation, under the names that every problem uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.simulation.engine import Callback
from carbonopt.simulation.forecast import Forecast

MODES = ("paper", "artifact")
LENGTHS = ("mean", "true")
ARRIVALS = ("online", "known")


@dataclass(frozen=True)
class SimulationOptions:
    """Options of `carbonopt.simulate.simulate`, checked.

    Parameters
    ----------
    mode
        ``paper`` or ``artifact``.
    lengths
        What policies know of run times: ``mean`` or ``true``.
    arrivals
        ``online``: a job is known from its arrival on. ``known``: policies that can use it know all from the
        beginning; no job starts before its arrival.
    forecast
        What they know of the carbon signal: of the instance's zone, or of the first one.
    forecasts
        The same of every zone that the instance uses, by name.
    seed, callback
        As in `carbonopt.simulation.engine.run`.
    """

    forecast: Forecast
    mode: str = "paper"
    lengths: str = "mean"
    arrivals: str = "online"
    seed: int = 0
    callback: Callback | None = None
    forecasts: Mapping[str, Forecast] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, known in (("mode", MODES), ("lengths", LENGTHS), ("arrivals", ARRIVALS)):
            value = getattr(self, name)
            if value not in known:
                raise UnsupportedError(f"{name} = {value!r}: must be {one_of(known)}")

    def to_dict(self) -> Mapping[str, Any]:
        """Return what a solution file records of the options."""
        own = {name: getattr(self, name) for name in ("mode", "lengths", "arrivals", "seed")}
        return {**own, "forecast": self.forecast.describe()}
