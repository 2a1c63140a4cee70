"""The normalizers of the caspian objective, and so the objective's coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mosp.data.instance import CaspianObjective, MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue, placement_value, single_term
from carbonopt.problems.mosp.formulation.program import (
    build_normalizer,
)

_NORMALIZERS: WeakKeyDictionary[MospInstance, tuple[float, float, float]] = WeakKeyDictionary()


def value_of(instance: MospInstance, options: Options) -> tuple[PlacementValue | None, dict[str, Any]]:
    """Return the objective's coefficients; None if time ran out over the normalizers."""
    if not isinstance(instance.objective, CaspianObjective) or instance.objective.normalizers:
        return placement_value(instance), {}
    bars = normalizers(instance, options)
    if bars is None:
        return None, {"stopped": "before the normalizers Zbar were known"}
    return placement_value(instance, bars), {"normalizers": dict(zip(("z1", "z2", "z3"), bars, strict=True))}


def normalizers(instance: MospInstance, options: Options) -> tuple[float, float, float] | None:
    """Return Zbar_k: the LP optimum of each Z_k alone (Algorithm 2, line 1); None if time ran out.

    Kept as long as the instance, so that every method of one comparison divides by the same numbers.
    """
    known = _NORMALIZERS.get(instance)
    if known is None:
        bars = []
        for k in (1, 2, 3):
            bar = _largest(instance, single_term(instance, k), options)
            if bar is None:
                return None
            bars.append(bar)
        known = (bars[0], bars[1], bars[2])
        _NORMALIZERS[instance] = known
    return known


def _largest(instance: MospInstance, term: PlacementValue, options: Options) -> float | None:
    form = build_normalizer(instance, term)
    result = highs.solve(form.program, replace(options, callback=None), lp_solver="ipm")
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.status is not Status.OPTIMAL or result.objective is None:
        return None
    return max(0.0, result.objective)


def out_of_time(info: dict[str, Any]) -> Outcome:
    """Return the outcome of a method that could not begin."""
    return Outcome(Status.TIME_LIMIT, info=info)
