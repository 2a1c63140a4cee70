"""Predictors that need the past alone: persistence, seasonal-naive, and an autoregression with seasonal lags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.ranges import require_number

LARGEST_GROWTH = 2.0
"""Times the highest value of the past: an autoregression whose roots are outside the unit circle ends there."""


class Predictor(Protocol):
    """What forecasts a series from its past."""

    @property
    def needs(self) -> int:
        """Number of past slots it needs."""

    def predict(self, past: FloatArray, horizon: int) -> FloatArray:
        """Return the next `horizon` values after `past`, shape (P,), the latest last."""


@dataclass(frozen=True)
class Persistence:
    """The last known value goes on."""

    @property
    def needs(self) -> int:
        """One slot."""
        return 1

    def predict(self, past: FloatArray, horizon: int) -> FloatArray:
        """Return the last value, `horizon` times."""
        return np.full(horizon, past[-1])


@dataclass(frozen=True)
class SeasonalNaive:
    """The last season is repeated.

    Parameters
    ----------
    season
        Its length in slots: 24 for a day of hours, 168 for a week.
    """

    season: int = 24

    def __post_init__(self) -> None:
        require_number("season", self.season, least=1, whole=True)

    @property
    def needs(self) -> int:
        """One season."""
        return self.season

    def predict(self, past: FloatArray, horizon: int) -> FloatArray:
        """Return the last season, as often as the horizon takes."""
        return np.resize(past[-self.season :], horizon)


@dataclass(frozen=True)
class SeasonalAR:
    r"""Autoregression with seasonal lags, fitted by least squares to the latest past.

    .. math:: x_t = a + \sum_{k \in L} b_k x_{t-k} + \epsilon_t, \qquad
              L = \{1, \dots, p\} \cup \{s, s+1 : s \text{ a season}\}.

    The lags of a season and one slot more are those of the product of a seasonal and a plain autoregression
    (Box and Jenkins, *Time Series Analysis*, section on multiplicative models). Values further ahead are
    predicted from those before. Values below 0 become 0.

    Parameters
    ----------
    order
        Number of plain lags p.
    seasons
        Lengths of the seasons in slots, e.g. a day and a week of hours.
    window
        Number of the latest slots that are fitted; at least three times as many as coefficients.
    """

    order: int = 2
    seasons: tuple[int, ...] = (24, 168)
    window: int = 672

    def __post_init__(self) -> None:
        require_number("order", self.order, least=1, whole=True)
        for season in self.seasons:
            require_number("seasons", season, least=1, whole=True)
        require_number("window", self.window, least=3 * (self.lags.size + 1), whole=True)

    @property
    def lags(self) -> IntArray:
        """All lags in slots, increasing."""
        seasonal = [lag for season in self.seasons for lag in (season, season + 1)]
        return np.array(sorted({*range(1, self.order + 1), *seasonal}))

    @property
    def needs(self) -> int:
        """The window, and before it the longest lag."""
        return self.window + int(self.lags[-1])

    def predict(self, past: FloatArray, horizon: int) -> FloatArray:
        """Fit to the latest window, then predict slot by slot."""
        lags = self.lags
        known = past.size
        targets = np.arange(known - self.window, known)
        ones = np.ones((self.window, 1))
        design = np.hstack([ones, past[targets[:, None] - lags]])
        level, *weights = np.linalg.lstsq(design, past[targets], rcond=None)[0]
        series = np.append(past, np.zeros(horizon))
        highest = LARGEST_GROWTH * past.max()
        for slot in range(known, known + horizon):
            series[slot] = np.clip(level + series[slot - lags] @ np.array(weights), 0.0, highest)
        return series[known:]
