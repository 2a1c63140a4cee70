"""Scores of forecasts by lead time: MAPE, MAE, pinball loss and CRPS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.ranges import require_number
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.forecasts.make import actual

if TYPE_CHECKING:
    import pandas as pd


def score(
    archive: ForecastArchive,
    signal: CarbonSignal,
    *,
    past: npt.ArrayLike = (),
    quantiles: Sequence[float] = (0.1, 0.5, 0.9),
    bins: Sequence[int] | None = None,
) -> pd.DataFrame:
    r"""Score an archive against the truth.

    With truth y, mean of the members f, members :math:`x_1 \dots x_M` and their quantile :math:`q_\tau`:

    - ``mae``: mean of :math:`|y - f|` [g/kWh];
    - ``mape``: mean of :math:`|y - f| / y`, as a share, over the targets whose truth is above 0;
    - ``pinball_<tau>``: mean of :math:`\max(\tau (y - q_\tau), (\tau - 1)(y - q_\tau))` [g/kWh];
    - ``crps``: mean of :math:`\frac1M \sum_i |x_i - y| - \frac1{2M^2} \sum_{i,j} |x_i - x_j|` [g/kWh]
      (Gneiting and Raftery, *JASA* 102, 2007, equation 21). Of a point forecast it is the MAE.

    Parameters
    ----------
    archive
        The forecasts.
    signal, past
        The truth, as in `make_archive`. Targets outside of it are not scored.
    quantiles
        Levels :math:`\tau` in (0, 1).
    bins
        Lead times in slots at which one row ends and the next begins, e.g. ``(24, 48)`` for days of hours;
        None for one row a lead.

    Returns
    -------
    DataFrame
        One row a range of lead times: ``lead_hours`` its end, ``targets`` how many were scored, the scores.
        NaN where nothing can be scored.
    """
    import pandas as pd

    for level in quantiles:
        require_number("quantile", level, above=0, below=1)
    truth = actual(archive, signal, past)
    truth = np.where(np.isnan(archive.g_per_kwh[:, 0]), np.nan, truth)
    if np.isnan(truth).all():
        raise InputError(Fault("forecast", "must have a target inside the signal"))
    error = np.abs(truth - archive.point)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(truth > 0, error / truth, np.nan)
    columns = {"mae": error, "mape": relative}
    columns |= {f"pinball_{level:g}": _pinball(archive.g_per_kwh, truth, level) for level in quantiles}
    columns["crps"] = _crps(archive.g_per_kwh, truth)
    ends = _ends(bins, archive.horizon)
    rows = []
    for begin, end in zip([0, *ends], ends, strict=False):
        own = {name: _mean(values[:, begin:end]) for name, values in columns.items()}
        targets = int((~np.isnan(truth[:, begin:end])).sum())
        rows.append({"lead_hours": end * archive.time.slot_hours, "targets": targets, **own})
    return pd.DataFrame(rows)


def _ends(bins: Sequence[int] | None, horizon: int) -> list[int]:
    if bins is None:
        return list(range(1, horizon + 1))
    for end in bins:
        require_number("bins", end, least=1, most=horizon, whole=True)
    return sorted({*bins, horizon})


def _mean(values: FloatArray) -> float:
    told = values[~np.isnan(values)]
    return float(told.mean()) if told.size else float("nan")


def _pinball(members: FloatArray, truth: FloatArray, level: float) -> FloatArray:
    over = truth - np.quantile(members, level, axis=1)
    return np.maximum(level * over, (level - 1) * over)


def _crps(members: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the CRPS of each target, shape (I, H); sorted members make the double sum a single one."""
    count = members.shape[1]
    ordered = np.sort(members, axis=1)
    rank = 2 * np.arange(1, count + 1) - count - 1
    spread = (ordered * rank[:, None]).sum(axis=1) / count**2
    return np.asarray(np.abs(members - truth[:, None]).mean(axis=1) - spread)
