"""What a schedule is judged by: weights of the objective, and limits."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.errors import InputError
from carbonopt.problems.mlcluster.data import validate


@dataclass(frozen=True)
class Weights:
    """What the objective adds up.

    Parameters
    ----------
    carbon_kg
        Price of a kilogram of CO2eq that the jobs add to the idle cluster's.
    jct_hours
        Price of an hour of a job's completion time, completion less arrival.
    """

    carbon_kg: float = 1.0
    jct_hours: float = 0.0

    def __post_init__(self) -> None:
        faults = validate.weight_faults(self)
        if faults:
            raise InputError(faults)


@dataclass(frozen=True)
class Limits:
    """Upper limits on what a schedule may cost; None for no limit.

    Parameters
    ----------
    mean_jct_hours
        Of all jobs: the JCT budget.
    """

    mean_jct_hours: float | None = None

    def __post_init__(self) -> None:
        faults = validate.limit_faults(self)
        if faults:
            raise InputError(faults)
