"""The objective as the checker computes it from metrics, and the normalizers that it divides by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.errors import shown
from carbonopt.core.report import Violation
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, CaspianObjective

NORMALIZER_TOLERANCE = 1e-6
"""By how much a schedule may exceed a normalizer that an LP solver found, relative."""


def assumed(instance: MospInstance) -> tuple[str, ...]:
    """Return what an objective is of that the instance does not hold, but the solution file claims."""
    is_open = isinstance(instance.objective, CaspianObjective) and instance.objective.normalizers is None
    return ("normalizers",) if is_open else ()


def normalizers_of(instance: MospInstance, info: dict[str, Any]) -> tuple[tuple[float, ...] | None, list[Violation]]:
    """Return Zbar, which the instance or else the solution tells, and what is wrong with the latter."""
    if not isinstance(instance.objective, CaspianObjective):
        return None, []
    if instance.objective.normalizers is not None:
        return instance.objective.normalizers, []
    given = info.get("normalizers")
    if given is None:
        return None, [Violation("normalizer", "the solution's info.normalizers are missing: without Zbar no objective")]
    bars = [given.get(name) if isinstance(given, dict) else None for name in ("z1", "z2", "z3")]
    if all(isinstance(bar, (int, float)) and not isinstance(bar, bool) and 0 <= bar < np.inf for bar in bars):
        return tuple(float(bar) for bar in bars if bar is not None), []
    text = f"the solution's info.normalizers must be three numbers z1, z2, z3, at least 0, not {shown(given)}"
    return None, [Violation("normalizer", text)]


def normalizer_faults(metrics: dict[str, Any], normalizers: tuple[float, ...]) -> Iterator[Violation]:
    """Zbar_k is the largest Z_k that any schedule reaches, so no schedule may exceed it.

    Normalizers that the instance fixes are part of the objective's definition, and may be any numbers.
    """
    for name, bar in zip(("z1", "z2", "z3"), normalizers, strict=True):
        excess = metrics[name] - bar
        if excess > NORMALIZER_TOLERANCE * abs(bar):
            text = f"{name} = {metrics[name]:.9g} is above its normalizer {bar:.9g}, which is not the optimum"
            yield Violation("normalizer", text, amount=float(excess))


def objective_of(
    instance: MospInstance, metrics: dict[str, Any], normalizers: tuple[float, ...] | None
) -> float | None:
    """Return the objective of a schedule with these metrics; None where the normalizers are not known."""
    objective = instance.objective
    if isinstance(objective, CarbonObjective):
        rejected = metrics["jobs_rejected"] * (objective.rejection_price or 0.0)
        terms = ("carbon_kg", "tardiness_slots", "completion_slots")
        energy = objective.energy_cost * metrics["energy_cost"] if objective.energy_cost else 0.0
        return float(rejected + energy + sum(getattr(objective, name) * metrics[name] for name in terms))
    if normalizers is None:
        return None
    names = ("z1", "z2", "z3")
    return float(
        sum(
            getattr(objective, name) * metrics[name] / bar
            for name, bar in zip(names, normalizers, strict=True)
            if bar > 0
        )
    )
