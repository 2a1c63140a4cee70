"""What a user may set of the places of large jobs, which are found before any schedule is."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class PlacementParameters(Parameters):
    """The places of the largest jobs, where jobs may not split: partial placements are compared by their bounds.

    Where there are limits, or R is decided, there are none.

    Parameters
    ----------
    placements
        How many go on to the rounds of annealing, at most; 0 for none.
    jobs
        Jobs that get a place, at most.
    least_share
        CPUs of such a job over R, at least.
    width
        Partial placements that are kept.
    starts
        Starts of a job that each of them tries, at most: where it has room beside those placed before. One more choice
        is off the pool.
    apart_hours
        Hours between two such starts, at least; and by how much a start may change for room beside other large jobs.
    cell_hours, last_cell_hours
        Lengths of the cells of prices [h], while placements are compared and of those that go on. Cells of a quarter of
        an hour save 0.3 % of the cost where two jobs have 60 % of the reserved CPUs each.
    iterations, more_iterations, last_iterations
        Of the quasi-Newton method at each temperature: for each start, for those of least bound, and on the last cells.
    temperatures, last_temperatures
        Of the smoothed dual, over a job's cost on demand. Each start is climbed to at the first one alone.
    time_share, last_share
        Of the time that is left after the bound, what placements may take, and the part of it for the last cells.
    least_rise, idle_jobs
        Share of the bound by which the place of a job must raise it, and after how many jobs in a row that do not the
        search ends.
    least_total_rise
        The same for all jobs of a placement together: prices that tell as much without it need none.
    contest_share
        Of the time for rounds that is left then, how much finds out which placement is best: short rounds for each,
        longer ones for the better half, until one is left.
    """

    placements: int = number(5, least=0, most=100)
    jobs: int = number(8, least=1, most=1000)
    least_share: float = number(0.125, least=0)
    width: int = number(5, least=1, most=1000)
    starts: int = number(8, least=1, most=1000)
    apart_hours: float = number(1.0, least=0)
    cell_hours: float = number(1.0, above=0)
    last_cell_hours: float = number(0.25, above=0)
    iterations: int = number(12, least=1)
    more_iterations: int = number(40, least=1)
    last_iterations: int = number(70, least=1)
    temperatures: tuple[float, ...] = number((3e-4, 1e-4), above=0)
    last_temperatures: tuple[float, ...] = number((1e-3, 3e-4, 1e-4), above=0)
    time_share: float = number(0.2, above=0, most=1)
    last_share: float = number(0.3, above=0, below=1)
    least_rise: float = number(1e-4, least=0)
    idle_jobs: int = number(2, least=1)
    least_total_rise: float = number(3e-4, least=0)
    contest_share: float = number(0.6, above=0, below=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperatures:
            raise UnsupportedError("temperatures = (): must be at least one number")
