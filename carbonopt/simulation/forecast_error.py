"""Forecasts with errors that grow with the lead time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.simulation.forecast import LARGEST_ERROR, Forecast, Seed


class ErrorForecast(Forecast):
    r"""The true signal times an error that grows with the lead time.

    The logarithm of the signal is taken to be driven by shocks :math:`\epsilon_t`, one a slot, whose effect
    fades: a forecast knows the shocks until its issue, and none after. With lead time k slots

    .. math:: f_{t}(t + k) = c_{t+k} \exp(e_k - v_k / 2), \qquad e_k = \sum_{i=1}^{k} \rho^{k-i} \epsilon_{t+i},

    :math:`v_k = \sigma^2 (1 - \rho^{2k})` the variance of :math:`e_k`: the slot of the issue is known, the error is
    unbiased and multiplicative, an AR(1) process along the lead time, and reaches a relative standard deviation
    of about :math:`\sigma`. As shocks become known, the forecasts of one slot converge to the truth. Backwards, from
    the truth to earlier issues, they are a martingale: the mean of an earlier one is the next.

    Parameters
    ----------
    g_per_kwh
        The true signal, shape (T,).
    slot_hours, window_hours
        As in `Forecast`.
    error
        :math:`\sigma`, the relative error far ahead, e.g. 0.2.
    memory_hours
        Time in which the effect of a shock falls to 1/e; :math:`\rho` is the exponential of minus the share of
        it that a slot is.
    seed
        Of the shocks.
    """

    def __init__(
        self,
        g_per_kwh: npt.ArrayLike,
        slot_hours: float = 1.0,
        window_hours: float | None = None,
        *,
        error: float,
        memory_hours: float = 12.0,
        seed: Seed = 0,
    ) -> None:
        for field, value in (("error", error), ("memory_hours", memory_hours)):
            if not 0 <= value < np.inf:
                raise InputError(Fault(f"forecast.{field}", "must be finite and at least 0", shown(value)))
        if error > LARGEST_ERROR:
            raise InputError(Fault("forecast.error", f"must be at most {LARGEST_ERROR:g}", shown(error)))
        self.g_per_kwh = frozen_float(g_per_kwh)
        super().__init__(self.g_per_kwh.size, slot_hours, window_hours)
        self.error = error
        self.memory_hours = memory_hours
        self.seed = seed
        self._rho = float(np.exp(-slot_hours / memory_hours)) if memory_hours else 0.0
        shocks = np.random.default_rng(seed).standard_normal(self.slots)
        self._drift = _fading_sums(shocks * error * np.sqrt(1 - self._rho**2), self._rho)

    def issued(self, slot: int) -> FloatArray:
        """Return the forecast from `slot` on."""
        true = self._seen(self.g_per_kwh, slot)
        fade = self._rho ** np.arange(true.size)
        error = self._drift[slot : slot + true.size] - fade * self._drift[slot]
        return np.asarray(true * np.exp(error - self.error**2 * (1 - fade**2) / 2))

    def describe(self) -> dict[str, Any]:
        """Return kind, window and the error's parameters."""
        own = {"error": self.error, "memory_hours": self.memory_hours, "seed": self.seed}
        return {"kind": "error", "window_hours": self.window_hours, **own}


def _fading_sums(values: FloatArray, rho: float) -> FloatArray:
    """Return ``y[t] = rho y[t-1] + values[t]``, doubling the reach of the sums each time."""
    sums = values.copy()
    reach = 1
    while reach < sums.size and rho**reach > 0:
        sums[reach:] = sums[reach:] + rho**reach * sums[:-reach]
        reach *= 2
    return sums
