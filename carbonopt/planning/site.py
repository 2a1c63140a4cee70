"""Where and with what power the jobs of a queue may run, and in what steps starts are planned."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carbonopt.core.errors import UnsupportedError, shown

SLOT_MINUTES = (5, 10, 15, 20, 30, 60)
"""Lengths of a slot that divide an hour."""
_SITE = re.compile(r"([^=:]+)=([^:]+)(?::([^:]+))?(?::([^:]+))?")


@dataclass(frozen=True)
class Site:
    """A cluster of the plan.

    Parameters
    ----------
    name
        As the scheduler calls it.
    zone
        Of the carbon files.
    cpus, gpus
        That jobs may hold together; None for as many as all jobs of the queue hold.
    """

    name: str
    zone: str
    cpus: float | None = None
    gpus: float | None = None

    @classmethod
    def of(cls, text: str) -> Site:
        """Return the cluster that ``NAME=ZONE[:CPUS[:GPUS]]`` names.

        Raises
        ------
        UnsupportedError
            If the text is no such thing.

        Examples
        --------
        >>> Site.of("hpc=DE:512:8")
        Site(name='hpc', zone='DE', cpus=512.0, gpus=8.0)
        """
        found = _SITE.fullmatch(text.strip())
        if found is None:
            raise UnsupportedError(f"cluster {shown(text)}: must be NAME=ZONE, NAME=ZONE:CPUS or NAME=ZONE:CPUS:GPUS")
        name, zone, *amounts = (part and part.strip() for part in found.groups())
        cpus, gpus = (None if amount is None else _amount(text, amount) for amount in amounts)
        return cls(str(name), str(zone), cpus, gpus)


def _amount(text: str, amount: str) -> float:
    try:
        number = float(amount)
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise UnsupportedError(f"cluster {shown(text)}: {shown(amount)} must be a number, at least 0")
    return number


@dataclass(frozen=True)
class Terms:
    """Numbers of a plan that neither queue nor forecast tells.

    Parameters
    ----------
    slot_minutes
        Starts are planned in steps of this, one of `SLOT_MINUTES`.
    wait_hours
        How long after the first plan a job may start.
    watts_per_cpu, watts_per_gpu
        Power of a CPU and of a GPU that a job holds [W].
    energy_weight
        What a unit of money of energy counts in kg of carbon; above 0 the plan needs prices.
    """

    slot_minutes: int = 30
    wait_hours: float = 24.0
    watts_per_cpu: float = 10.0
    watts_per_gpu: float = 300.0
    energy_weight: float = 0.0

    def __post_init__(self) -> None:
        if self.slot_minutes not in SLOT_MINUTES:
            listed = ", ".join(map(str, SLOT_MINUTES[:-1]))
            raise UnsupportedError(f"slot_minutes = {self.slot_minutes}: must be {listed} or {SLOT_MINUTES[-1]}")
        for name in ("wait_hours", "watts_per_cpu", "watts_per_gpu", "energy_weight"):
            number = getattr(self, name)
            if not 0 <= number < 1e6:
                raise UnsupportedError(f"{name} = {shown(number)}: must be a number, at least 0 and below 1e6")

    @property
    def slot_hours(self) -> float:
        """Length of a slot [h]."""
        return self.slot_minutes / 60

    def to_dict(self) -> dict[str, Any]:
        """Return the terms as a plan file holds them."""
        return asdict(self)


def sites_of(given: Sequence[Site], zones: Sequence[str]) -> tuple[Site, ...]:
    """Return the clusters: those given, or one for each zone, named after it.

    Raises
    ------
    UnsupportedError
        If two have one name, or one is in a zone that the files do not have.
    """
    sites = tuple(given) or tuple(Site(zone, zone) for zone in zones)
    names = [site.name for site in sites]
    for site in sites:
        if names.count(site.name) > 1:
            raise UnsupportedError(f"cluster {site.name!r} is named twice")
        if site.zone not in zones:
            known = ", ".join(map(repr, zones))
            raise UnsupportedError(f"cluster {site.name!r} is in zone {site.zone!r}: the carbon files have {known}")
    return sites
