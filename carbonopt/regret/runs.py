"""Runs of one policy that differ in what it knows: of the carbon signal, of the jobs to come, of their lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.simulate import expected_of, forecasts_of, policy_of, simulate
from carbonopt.simulation import CorrectedForecast, Forecast, Policy

PARTS = ("errors", "window", "arrivals", "lengths")
"""What a policy may lack, in the order in which the first of the two orders gives it."""

Told = frozenset[str]
"""Those of `PARTS` that a policy is told."""


@dataclass
class PolicyRuns:
    """One policy, under forecasts of one kind or several draws of it.

    Parameters
    ----------
    instance, policy
        As `carbonopt.simulate.simulate` takes them.
    forecasts
        One entry a draw, as `simulate` takes a forecast.
    settings
        Of `simulate`: ``mode``, ``lengths``, ``seed``, ``past``, ``knowledge``.
    before
        Called with what is about to run.

    Attributes
    ----------
    absent
        Of each draw: the parts that cannot be lost, each with the reason.
    """

    instance: Instance
    policy: str | type[Policy]
    forecasts: Sequence[Any]
    settings: Mapping[str, Any]
    before: Callable[[str], None] = lambda _: None
    absent: list[dict[str, str]] = field(init=False)
    _bases: list[dict[str, Forecast]] = field(init=False)
    _found: dict[Any, Solution] = field(init=False, default_factory=dict)
    _reach: dict[int, tuple[Any, ...]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.policy, str | type):
            raise UnsupportedError(f"policy {shown(self.policy)}: must be a name or a class: each run takes a new one")
        seed = self.settings.get("seed", 0)
        self._bases = [forecasts_of(self.instance, forecast, seed) for forecast in self.forecasts]
        always = self._always_known()
        self.absent = [always | _as_good(self.instance, zones) for zones in self._bases]
        for draw, missing in enumerate(self.absent):
            if not {"errors", "window"} <= missing.keys() and not self._is_read(draw):
                words = "the policy reads no forecast"
                missing |= {"errors": words, "window": words}

    @property
    def name(self) -> str:
        """What solutions call the policy."""
        return self.policy if isinstance(self.policy, str) else self.policy.__name__

    def run(self, draw: int, told: Told) -> Solution:
        """Return the checked schedule of the policy, which is told some parts under one of the draws."""
        known = told.difference(self.absent[draw])
        key = self._key(draw, known)
        if key not in self._found:
            self._found[key] = self._simulated(known, self._seen(draw, known))
        return self._found[key]

    @property
    def solutions(self) -> list[Solution]:
        """All runs so far."""
        return list(self._found.values())

    def _always_known(self) -> dict[str, str]:
        """Return what cannot be lost, whatever the forecast is."""
        problem = problem_of(self.instance.problem)
        absent = {}
        if problem.lengths_known:
            absent["lengths"] = f"run times are known in {problem.name}"
        elif self.settings.get("lengths") == "true":
            absent["lengths"] = "the policy is told all run times"
        if not getattr(policy_of(problem, self.policy)[0], "plans_arrivals", False):
            absent["arrivals"] = "the policy decides on no job before its arrival"
        return absent

    def _is_read(self, draw: int) -> bool:
        seen = self._seen(draw, frozenset())
        self._found[self._key(draw, frozenset())] = self._simulated(frozenset(), seen)
        return any(forecast.is_read for forecast in seen.values())

    def _key(self, draw: int, known: Told) -> tuple[Any, ...]:
        """Return what tells a run from others: draws do not differ once they are right and look as far."""
        if known.union(self.absent[draw]) >= {"errors", "window"}:
            return (known - {"errors", "window"},)
        if "errors" not in known:
            return (known, draw)
        if draw not in self._reach:
            self._reach[draw] = tuple(reach_of(forecast) for forecast in self._bases[draw].values())
        return (known, self._reach[draw])

    def _seen(self, draw: int, known: Told) -> dict[str, CorrectedForecast]:
        signal = self.instance.carbon
        return {
            zone: CorrectedForecast(base, signal.g_per_kwh[signal.index(zone)], "errors" in known, "window" in known)
            for zone, base in self._bases[draw].items()
        }

    def _simulated(self, known: Told, seen: Mapping[str, Forecast]) -> Solution:
        self.before(f"{self.name}, told {', '.join(sorted(known)) or 'nothing'}")
        changes = dict(self.settings)
        if "lengths" in known:
            changes["lengths"] = "true"
        if "arrivals" in known:
            changes["arrivals"] = "known"
        found = simulate(self.instance, self.policy, forecast=seen, **changes)
        require_schedule(found)
        return expected_of(self.instance, found)


def require_schedule(found: Solution) -> None:
    """Refuse what cannot be measured: a plan or a simulation that came to no schedule.

    Raises
    ------
    KeyboardInterrupt
        If the user asked to stop.
    UnsupportedError
        It says which jobs were left, or what the checker refused.
    """
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if found.has_solution:
        return
    left = found.info.get("unfinished_jobs")
    if left:
        words = f"leaves {len(left)} jobs unfinished at the end of the last slot, among them {left[0]!r}"
    else:
        words = (
            f"ended {found.status} without a schedule{''.join(f': {v}' for v in found.info.get('violations', [])[:1])}"
        )
    raise UnsupportedError(f"{found.method} {words}: there is nothing to measure")


def reach_of(forecast: Forecast) -> tuple[int, ...]:
    """Return how many slots the forecast tells of at each slot, none of them after the signal."""
    return tuple(min(forecast.issued(slot).size, forecast.slots - slot) for slot in range(forecast.slots))


def _as_good(instance: Instance, zones: Mapping[str, Forecast]) -> dict[str, str]:
    """Return the parts of a forecast's knowledge that none of its zones lacks, each with the reason."""
    signal = instance.carbon
    absent = {"errors": "the forecast is right", "window": "the forecast reaches the end of the signal"}
    for zone, forecast in zones.items():
        true = signal.g_per_kwh[signal.index(zone)]
        for slot in range(forecast.slots):
            told = forecast.issued(slot)[: true.size - slot]
            if told.size < true.size - slot:
                absent.pop("window", None)
            if not np.array_equal(told, true[slot : slot + told.size]):
                absent.pop("errors", None)
    return absent
