"""How a carbon file is to be read where it leaves a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from carbonopt.core.errors import Fault, InputError, one_of, shown
from carbonopt.core.time import zone_of_time
from carbonopt.io.carbon_formats.format import INTENSITIES
from carbonopt.io.carbon_formats.labels import KINDS

FILLS = ("interpolate", "previous")
"""Straight lines between the values around a gap; or the value before it."""
MIXABLE = ("kind", "scope")


@dataclass(frozen=True)
class Reading:
    """Choices of a reader.

    Parameters
    ----------
    intensity
        ``lca`` (life cycle) or ``direct`` (combustion only) from files that hold both. Other files hold one
        intensity and may not say which; it is taken as it is.
    kind
        ``average``, ``short-run marginal`` or ``long-run marginal`` from files that hold several; None elsewhere.
    fill
        How missing values and times are filled: ``interpolate`` or ``previous``; None refuses them.
    tz
        Time zone of times that have no offset, e.g. ``Europe/Berlin``, where the source does not say; None for UTC.
    mixed
        Labels that may differ between zones and times: ``kind`` (average, marginal), ``scope`` (lca, direct).

    Raises
    ------
    InputError
        For each choice that does not exist.
    UnsupportedError
        For an unknown time zone.
    """

    intensity: str = "lca"
    kind: str | None = None
    fill: str | None = None
    tz: str | None = None
    mixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "mixed", tuple(self.mixed))
        choices: list[tuple[str, str, tuple[str, ...]]] = [("intensity", self.intensity, INTENSITIES)]
        choices += [("kind", self.kind, KINDS)] if self.kind is not None else []
        choices += [("fill", self.fill, FILLS)] if self.fill is not None else []
        choices += [("mixed", name, MIXABLE) for name in self.mixed]
        faults = [
            Fault(name, f"must be {one_of(known)}", shown(value))
            for name, value, known in choices
            if value not in known
        ]
        if faults:
            raise InputError(faults)
        if self.tz is not None:
            zone_of_time(self.tz)

    def choices(self) -> dict[str, Any]:
        """Return the choices as arguments of `carbonopt.io.carbon.read_carbon`."""
        return dict(vars(self))


AS_THEY_ARE = Reading()
"""Nothing chosen."""
