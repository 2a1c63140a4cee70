"""Archives that are made: what a predictor would have said at each issue, from what was known then."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.core.ranges import require_number
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.forecasts.predictors import Predictor


def make_archive(
    signal: CarbonSignal,
    zone: str,
    predictor: Predictor,
    *,
    past: npt.ArrayLike,
    horizon: int = 48,
    every: int = 1,
    first: int = 0,
) -> ForecastArchive:
    """Return what a predictor says of one zone, issue by issue.

    An issue at slot t knows the slots before t: neither t itself nor a later one is ever shown to it.

    Parameters
    ----------
    signal
        The true signal.
    zone
        Of the signal.
    predictor
        E.g. ``SeasonalNaive(24)``.
    past
        The true values before slot 0 [g/kWh], the latest last, shape (P,).
    horizon
        Number of slots that an issue tells of.
    every
        Slots from one issue to the next.
    first
        Slot of the first issue; negative for issues from before the signal, as `bootstrap` learns from.

    Returns
    -------
    ForecastArchive
        With one member. Its horizon is the same for all issues: the last ones reach beyond the signal.

    Raises
    ------
    InputError
        If the past is shorter than the predictor needs.
    """
    require_number("horizon", horizon, least=1, whole=True)
    require_number("every", every, least=1, whole=True)
    require_number("first", first, most=signal.time.slots - 1, whole=True)
    series, before = _series(signal, zone, past)
    if before + first < predictor.needs:
        words = f"must be at least {predictor.needs - first} slots: {type(predictor).__name__} needs them"
        raise InputError(Fault("past", words, f"{before} slots"))
    issued_at = np.arange(first, signal.time.slots, every)
    values = [predictor.predict(series[: before + slot], horizon) for slot in issued_at]
    return ForecastArchive(zone, signal.time, issued_at, np.array(values)[:, None, :], type(predictor).__name__)


def actual(
    archive: ForecastArchive, signal: CarbonSignal, past: npt.ArrayLike = (), end: int | None = None
) -> FloatArray:
    """Return the truth beside each forecast [g/kWh], shape (I, H), NaN where it is not known.

    Parameters
    ----------
    archive
        The forecasts.
    signal
        The truth of their zone, on the same slots.
    past
        The truth before slot 0, the latest last.
    end
        The slot from whose beginning one looks back; None for the end of the signal.
    """
    if archive.time != signal.time:
        raise InputError(Fault("forecast.time", "must be the slots of the signal", shown(archive.time)))
    series, before = _series(signal, archive.zone, past)
    at = archive.issued_at[:, None] + np.arange(archive.horizon) + before
    stop = series.size if end is None else before + end
    inside = (at >= 0) & (at < stop)
    return np.where(inside, series[np.clip(at, 0, series.size - 1)], np.nan)


def _series(signal: CarbonSignal, zone: str, past: npt.ArrayLike) -> tuple[FloatArray, int]:
    """Return past and signal as one series, and the number of slots before the signal."""
    before = np.asarray(past, dtype=np.float64)
    if before.ndim != 1 or not bool(np.all((before >= 0) & (before < np.inf))):
        raise InputError(Fault("past", "must be a list of numbers of g/kWh, finite and at least 0"))
    return np.concatenate([before, signal.g_per_kwh[signal.index(zone)]]), before.size
