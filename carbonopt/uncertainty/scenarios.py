"""Possible carbon signals of an instance, and their probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from carbonopt.core.arrays import FloatArray, frozen_float
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.instance import Instance
from carbonopt.forecasts.archive import ForecastArchive

AnyInstance = TypeVar("AnyInstance", bound=Instance)

SUM_ROUNDING = 1e-9
"""By how much probabilities may miss 1."""


@dataclass(frozen=True, eq=False)
class Scenarios:
    """What the carbon signal may be.

    Parameters
    ----------
    zones
        Names of the Z zones.
    g_per_kwh
        Intensity in each of the S scenarios [g/kWh], shape (S, Z, T), finite and not negative.
    probability
        Of each scenario, shape (S,); None for equal ones. The sum is 1 but for rounding, and is made 1.

    Raises
    ------
    InputError
        For shapes that do not fit, a value that is no intensity, and probabilities that are none.

    Examples
    --------
    >>> scenarios = Scenarios(("DE",), [[[300, 100]], [[100, 200]]])
    >>> scenarios.mean.tolist(), scenarios.probability.tolist()
    ([[200.0, 150.0]], [0.5, 0.5])
    """

    zones: tuple[str, ...]
    g_per_kwh: FloatArray
    probability: FloatArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "zones", tuple(self.zones))
        object.__setattr__(self, "g_per_kwh", frozen_float(self.g_per_kwh))
        shape = self.g_per_kwh.shape
        if len(shape) != 3 or 0 in shape or shape[1] != len(self.zones):
            words = f"must be scenarios x {len(self.zones)} zones x slots, at least one of each"
            raise InputError(Fault("scenarios.g_per_kwh", words, f"shape {shape}"))
        equal = np.full(shape[0], 1 / shape[0])
        object.__setattr__(self, "probability", frozen_float(equal if self.probability is None else self.probability))
        faults = self._faults()
        if faults:
            raise InputError(faults)
        # what is sure counts once: probabilities that miss 1 by a billionth would give it a risk
        object.__setattr__(self, "probability", frozen_float(self.weights / math.fsum(self.weights)))

    def _faults(self) -> list[Fault]:
        with np.errstate(invalid="ignore"):
            bad = np.argwhere(~((self.g_per_kwh >= 0) & (self.g_per_kwh < np.inf)))
        faults = [
            Fault(f"scenarios.g_per_kwh[{s}][{z}]", "must be a finite number of g/kWh, at least 0",
                  shown(float(self.g_per_kwh[s, z, t])), int(t))
            for s, z, t in bad
        ]  # fmt: skip
        share = self.probability
        assert share is not None
        if share.shape != (len(self),):
            faults.append(Fault("scenarios.probability", f"must be {len(self)} numbers", f"shape {share.shape}"))
        elif not ((share >= 0).all() and abs(float(share.sum()) - 1) <= SUM_ROUNDING):
            words = "must be at least 0 and add up to 1"
            faults.append(Fault("scenarios.probability", words, shown(share.tolist())))
        return faults

    def __len__(self) -> int:
        """Return the number of scenarios S."""
        return int(self.g_per_kwh.shape[0])

    @property
    def weights(self) -> FloatArray:
        """Probability of each scenario, shape (S,)."""
        assert self.probability is not None
        return self.probability

    @property
    def mean(self) -> FloatArray:
        """Expected intensity [g/kWh], shape (Z, T)."""
        return np.asarray(np.tensordot(self.weights, self.g_per_kwh, axes=1))

    @property
    def rise(self) -> FloatArray:
        """How far the largest of all scenarios is above the expected intensity [g/kWh], shape (Z, T)."""
        return np.asarray(np.maximum(0.0, self.g_per_kwh.max(axis=0) - self.mean))

    @classmethod
    def of_archives(cls, instance: Instance, archives: Sequence[ForecastArchive], slot: int = 0) -> Scenarios:
        """Return what the members of archives say at the beginning of a slot; member m of all zones belong together.

        Parameters
        ----------
        instance
            Its zones and slots are looked for.
        archives
            One for each zone, all with as many members.
        slot
            At whose beginning the forecasts must be known. What comes before it is as the instance says.

        Raises
        ------
        InputError
            If a zone has no archive, the archives have unlike numbers of members, a forecast was issued after the
            slot, or it ends too early.
        """
        known = {archive.zone: archive for archive in archives}
        zones, slots = instance.carbon.zones, instance.time.slots
        missing = [zone for zone in zones if zone not in known]
        if missing:
            words = f"must be there for each of the zones {one_of(zones, limit=len(zones))}"
            raise InputError(Fault("forecast.zone", words, f"none of {missing[0]!r}"))
        members = {known[zone].members for zone in zones}
        if len(members) > 1:
            words = "must be as many in all zones: member m of all of them is one scenario"
            raise InputError(Fault("forecast.members", words, shown(sorted(members))))
        values = np.stack([known[zone].known(slot, slots) for zone in zones], axis=1)
        past = np.broadcast_to(instance.carbon.g_per_kwh[None, :, :slot], (len(values), len(zones), slot))
        return cls(zones, np.concatenate([past, values], axis=2))

    def instance(self, instance: AnyInstance, scenario: int | None = None) -> AnyInstance:
        """Return the instance with the signal of one scenario; None for the expected signal.

        Raises
        ------
        InputError
            If the scenarios have other zones or slots.
        """
        return self.under(instance, self.mean if scenario is None else self.g_per_kwh[scenario])

    def under(self, instance: AnyInstance, g_per_kwh: FloatArray) -> AnyInstance:
        """Return the instance with a signal [g/kWh], shape (Z, T).

        Raises
        ------
        InputError
            If the scenarios have other zones or slots.
        """
        carbon = instance.carbon
        if self.zones != carbon.zones or self.g_per_kwh.shape[2] != instance.time.slots:
            words = f"must be of the zones {', '.join(carbon.zones)} and {instance.time.slots} slots"
            told = f"{', '.join(self.zones)} and {self.g_per_kwh.shape[2]} slots"
            raise InputError(Fault("scenarios", words, told))
        return replace(instance, carbon=CarbonSignal(carbon.zones, g_per_kwh, carbon.time))
