"""The normalizers of the caspian objective, and so the objective's coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from carbonopt.core.options import Options
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CaspianObjective
from carbonopt.problems.mosp.formulation.objective import PlacementValue, placement_value, single_term
from carbonopt.problems.mosp.formulation.program import (
    build_normalizer,
)
from carbonopt.problems.mosp.methods.bounds import free_bound

TIME_SHARE = 0.7
"""Of the time that is left, what the three LPs of the normalizers may take."""


class Normalizers(NamedTuple):
    """Zbar_k for k = 1, 2, 3.

    Attributes
    ----------
    bars
        The LP optimum of each Z_k alone (Algorithm 2, line 1); an upper bound on it where `tried` is finite.
    tried
        Time limit within which the LPs did not end [s], or work limit [work units]; infinite where they did.
    work
        That they took [work units].
    """

    bars: tuple[float, float, float]
    tried: float
    work: float


_KNOWN: WeakKeyDictionary[MospInstance, Normalizers] = WeakKeyDictionary()


def value_of(instance: MospInstance, options: Options) -> tuple[PlacementValue, dict[str, Any]]:
    """Return the objective's coefficients, and what the solution file tells of normalizers that the run has found."""
    if not isinstance(instance.objective, CaspianObjective) or instance.objective.normalizers:
        return placement_value(instance), {}
    found = normalizers(instance, options)
    info: dict[str, Any] = {"normalizers": dict(zip(("z1", "z2", "z3"), found.bars, strict=True))}
    if found.tried < float("inf"):
        unit = "s" if options.work_limit is None else "work units"
        info["normalizers_without_capacity"] = f"their LPs did not end within {found.tried:.1f} {unit}"
    options.report(info=info)  # without them, what an interrupt leaves has no objective
    return placement_value(instance, found.bars), info


def normalizers(instance: MospInstance, options: Options) -> Normalizers:
    """Return the normalizers: those of the LPs where the time suffices, else bounds on these without capacity.

    Kept as long as the instance, so that every method of one comparison divides by the same numbers. The LPs are tried
    again with more than twice the time. Where work is limited, they count as if they were found anew.
    """
    known = _KNOWN.get(instance)
    part = replace(options.part(TIME_SHARE), callback=None)
    if options.work_limit is not None:
        if known is not None and known.tried == float("inf") and part.remaining > known.work:
            options.work.units += known.work
            return known
        known = None
    if known is None or part.remaining > 2 * known.tried:
        known = _KNOWN[instance] = _found(instance, part)
    return known


def _found(instance: MospInstance, options: Options) -> Normalizers:
    tried = options.remaining
    before = options.work.units
    bars = []
    for term in (single_term(instance, k) for k in (1, 2, 3)):
        bar = _largest(instance, term, options)
        if bar is None:
            free = [free_bound(instance, single_term(instance, k)) or 0.0 for k in (1, 2, 3)]
            return Normalizers((free[0], free[1], free[2]), tried, options.work.units - before)
        bars.append(bar)
    return Normalizers((bars[0], bars[1], bars[2]), float("inf"), options.work.units - before)


def _largest(instance: MospInstance, term: PlacementValue, options: Options) -> float | None:
    if options.remaining == 0:
        return None
    form = build_normalizer(instance, term)
    result = highs.solve(form.program, options, lp_solver="ipm")
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if result.status is not Status.OPTIMAL or result.objective is None:
        return None
    return max(0.0, result.objective)
