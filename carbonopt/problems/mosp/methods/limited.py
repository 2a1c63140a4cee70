"""One quantity minimised under limits on the others: the points of a front between carbon, energy cost and lateness."""

from __future__ import annotations

from collections.abc import Mapping

from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective, Limits

QUANTITIES = ("carbon_kg", "energy_cost", "tardiness_slots")


def limited(instance: MospInstance, quantity: str, limits: Mapping[str, float]) -> MospInstance:
    """Return the instance that minimises one quantity under limits on others; every job must run.

    Parameters
    ----------
    instance
        The instance; its own objective is dropped.
    quantity
        One of `QUANTITIES`.
    limits
        Upper limit of each other quantity that has one.

    Raises
    ------
    UnsupportedError
        For a quantity that is none, and for energy cost where there is no price.
    """
    for name in (quantity, *limits):
        if name not in QUANTITIES:
            raise UnsupportedError(f"quantity {name!r}: must be {one_of(QUANTITIES)}")
        if name == "energy_cost" and instance.energy_price is None:
            words = "the instance has no energy_price: name the quantities carbon_kg and tardiness_slots alone"
            raise UnsupportedError(f"quantity 'energy_cost': {words} (--quantities)")
    weights = {name: float(name == quantity) for name in QUANTITIES}
    return instance.with_objective(CarbonObjective(**weights, completion_slots=0.0, limits=Limits(**limits)))


def quantities(instance: MospInstance) -> Mapping[str, str]:
    """Return what may be minimised or limited, each with the metric that the objective is when it is minimised.

    Energy costs nothing where the instance has no price of it, and is left out there.
    """
    return {name: name for name in QUANTITIES if name != "energy_cost" or instance.energy_price is not None}
