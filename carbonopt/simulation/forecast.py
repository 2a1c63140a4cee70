"""Carbon forecasts: what a policy believes of the hours to come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.ranges import require_number
from carbonopt.simulation.signal import StepSignal

DAY_HOURS = 24.0
LARGEST_ERROR = 10.0
"""Relative: beyond it, forecasts are 0 or beyond all numbers."""
Seed = int | tuple[int, ...]
"""Of what is drawn at random; several numbers where one seed serves several signals."""


class Forecast(ABC):
    """Forecasts of one carbon signal, issued at the beginning of each slot.

    The same issue is the same forecast, however often and in whatever order it is looked at.

    Parameters
    ----------
    slots, slot_hours
        Of the signal.
    window_hours
        How far a forecast looks from its issue on; None for the end of the signal.
    """

    def __init__(self, slots: int, slot_hours: float = 1.0, window_hours: float | None = None) -> None:
        if window_hours is not None and not window_hours >= slot_hours:
            raise InputError(Fault("forecast.window_hours", "must be at least one slot", shown(window_hours)))
        self.slots = slots
        self.slot_hours = slot_hours
        self.window_hours = window_hours

    @abstractmethod
    def issued(self, slot: int) -> FloatArray:
        """Return the forecast issued at the beginning of `slot`.

        Returns
        -------
        FloatArray
            Of slots ``slot``, ``slot + 1``, ...: as far as the forecast looks, at least one [g/kWh].
        """

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return what a solution file says of the forecast."""

    @property
    def revised(self) -> bool:
        """Whether forecasts of the same slot differ from issue to issue, or look only so far."""
        return True

    def without_errors(self) -> ForecastModel:
        """Return what looks as far and is right."""
        return ForecastModel(window_hours=self.window_hours)

    def view(self, slot: int, until: float = 0.0) -> StepSignal:
        """Return the forecast issued at `slot` as a signal.

        Parameters
        ----------
        slot
            Of the issue.
        until
            Time [h] that its values reach at least: where it looks less far, its last day is repeated. After
            its values the last one goes on for ever. (For start-time policies that was the better guess of
            the two: 24 h ahead, on four zones, 1 to 8 % less carbon than with the last day repeated.)
        """
        values = self.issued(slot)
        begin = slot * self.slot_hours
        missing = int(np.ceil((until - begin) / self.slot_hours - 1e-9)) - values.size
        if missing > 0:
            day = values[-max(1, round(DAY_HOURS / self.slot_hours)) :]
            values = np.append(values, np.resize(day, missing))
        return StepSignal(values, self.slot_hours, begin)

    def _seen(self, values: FloatArray, slot: int) -> FloatArray:
        if self.window_hours is None:
            stop = None
        else:
            stop = slot + max(1, int(self.window_hours / self.slot_hours + 1e-9))
        return values[slot:stop]


class SignalForecast(Forecast):
    """A plain signal that stands as the forecast: the true one for a perfect forecast.

    Parameters
    ----------
    g_per_kwh
        Shape (T,).
    slot_hours, window_hours
        As in `Forecast`.
    kind
        What a solution file calls it.
    """

    def __init__(
        self,
        g_per_kwh: npt.ArrayLike,
        slot_hours: float = 1.0,
        window_hours: float | None = None,
        kind: str = "perfect",
    ) -> None:
        self.g_per_kwh = frozen_float(g_per_kwh)
        self.kind = kind
        super().__init__(self.g_per_kwh.size, slot_hours, window_hours)

    def issued(self, slot: int) -> FloatArray:
        """Return the signal from `slot` on."""
        return self._seen(self.g_per_kwh, slot)

    def describe(self) -> dict[str, Any]:
        """Return kind and window."""
        return {"kind": self.kind, "window_hours": self.window_hours}

    @property
    def revised(self) -> bool:
        """Only where its window ends before the signal does."""
        return self.window_hours is not None


@dataclass(frozen=True)
class ForecastModel:
    """What forecasts are like, of whatever signal; the default is perfect.

    Parameters
    ----------
    error, memory_hours
        As in `ErrorForecast`; no error where `error` is 0.
    window_hours
        How far forecasts look; None for the end of the signal.
    file
        A CSV file that holds the forecasts; None where they are made from the true signal.
    """

    error: float = 0.0
    memory_hours: float = 12.0
    window_hours: float | None = None
    file: str | None = None

    def without_errors(self) -> ForecastModel:
        """Return what looks as far and is right."""
        return ForecastModel(window_hours=self.window_hours)

    def of(self, g_per_kwh: npt.ArrayLike, slot_hours: float = 1.0, seed: Seed = 0) -> Forecast:
        """Return the forecasts of a true signal; errors are drawn from `seed`.

        Raises
        ------
        UnsupportedError
            If the forecasts stand in a file: it must be read first.
        """
        if self.file is not None:
            raise UnsupportedError(f"the forecasts of {self.file} must be read first")
        if not self.error:
            return SignalForecast(g_per_kwh, slot_hours, self.window_hours)
        from carbonopt.simulation.forecast_error import ErrorForecast

        own = {"error": self.error, "memory_hours": self.memory_hours}
        return ErrorForecast(g_per_kwh, slot_hours, self.window_hours, seed=seed, **own)


SETTINGS = {"error": "error", "memory": "memory_hours", "window": "window_hours"}
"""Names in a forecast's text, and what they set."""


def parse_forecast(text: str) -> ForecastModel:
    """Return the forecast that a text names.

    Parameters
    ----------
    text
        ``perfect``, settings separated by commas (``error=0.2,window=48,memory=12``; hours), or a CSV file.

    Raises
    ------
    UnsupportedError
        For a setting that is none, or has no number in its range.

    Examples
    --------
    >>> parse_forecast("error=0.2,window=48")
    ForecastModel(error=0.2, memory_hours=12.0, window_hours=48.0, file=None)
    """
    if text == "perfect":
        return ForecastModel()
    if "=" not in text or text.endswith((".csv", ".csv.gz")):
        return ForecastModel(file=text)
    values: dict[str, Any] = {}
    for part in text.split(","):
        key, _, value = part.partition("=")
        if key.strip() not in SETTINGS:
            raise UnsupportedError(f"forecast setting {key.strip()!r}: must be {one_of(tuple(SETTINGS))}")
        try:
            number = float(value)
        except ValueError:
            raise UnsupportedError(f"forecast setting {part.strip()!r}: must be a number") from None
        ends: dict[str, Any] = {"above": 0} if key.strip() == "window" else {"least": 0}
        if key.strip() == "error":
            ends["most"] = LARGEST_ERROR
        require_number(f"forecast {key.strip()}", number, **ends)
        values[SETTINGS[key.strip()]] = number
    return ForecastModel(**values)
