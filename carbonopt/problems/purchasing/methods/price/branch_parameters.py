"""What a user may set of the branches that raise the bound of few whole jobs."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class BranchParameters(Parameters):
    """The branches on what jobs do that may not split, which raise the bound where jobs are few.

    Where there are limits, or R is decided, there are none.

    Parameters
    ----------
    most_jobs
        Jobs of an instance up to which there are branches; 0 for none.
    pace
        Work of the branches over all work before them, at most, but for what the last one takes: the schedule may be
        good enough long before.
    most_branches
        Leaves, at most. Each has prices of its own in the certificate.
    cell_hours
        Length of the cells of prices, about [h].
    temperatures, iterations
        Of the smoothed dual of a branch, over a job's cost on demand, and of the quasi-Newton method at each.
    tried, tried_iterations
        Splits that are tried for a branch, and iterations of the quasi-Newton method, at the first temperature, for
        each of their parts.
    """

    most_jobs: int = number(100, least=0)
    pace: float = number(1.0, least=0)
    most_branches: int = number(2_000, least=1)
    cell_hours: float = number(0.5, above=0)
    temperatures: tuple[float, ...] = number((3e-4, 1e-4), above=0)
    iterations: int = number(30, least=1)
    tried: int = number(6, least=1)
    tried_iterations: int = number(12, least=1)
