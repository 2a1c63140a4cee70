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


@dataclass(frozen=True)
class SimulationOptions:
    """Options of `carbonopt.simulate.simulate`, checked.

    Parameters
    ----------
    mode
        ``paper`` or ``artifact``.
    lengths
        What policies know of run times: ``mean`` or ``true``.
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
    seed: int = 0
    callback: Callback | None = None
    forecasts: Mapping[str, Forecast] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value, known in (("mode", self.mode, MODES), ("lengths", self.lengths, LENGTHS)):
            if value not in known:
                raise UnsupportedError(f"{name} = {value!r}: must be {one_of(known)}")

    def to_dict(self) -> Mapping[str, Any]:
        """Return what a solution file records of the options."""
        own = {name: getattr(self, name) for name in ("mode", "lengths", "seed")}
        return {**own, "forecast": self.forecast.describe()}
