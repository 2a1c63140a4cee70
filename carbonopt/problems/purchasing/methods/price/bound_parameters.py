"""What a user may set of the search for prices of method `price`."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class BoundParameters(Parameters):
    """The search for the prices that give the best bound.

    Parameters
    ----------
    time_share
        Of the time limit, what the bound may take. More leaves less for the schedule.
    cell_hours
        Lengths of the cells of prices [h], one stage after the other; the last for small instances only. Cells of 5
        minutes win 0.006 to 0.011 % over those of 15 (pai_1k), cells of a minute 0.004 % more for four times the time.
    first_temperatures
        Of the smoothed dual in the first stage, over a job's cost on demand. More steps are slower and safer.
    later_temperatures
        The same in the stages after it.
    iterations, large_iterations
        Of the quasi-Newton method at each temperature, in small instances and in large ones: 70 iterations won a year
        less than the finer cells do.
    large_breakpoints
        Breakpoints on cells of the first stage above which an instance is large.
    subgradient_steps
        At the end of each stage, in small instances. More raise the bound a little.
    held_multiplier
        Least multiplier, in its unit, of a limit on cost until the prices are about right, where cost has no weight of
        its own. At 0, neither prices nor multiplier tell how the other should grow: 18 % were lost.
    held_temperatures
        How many of the first temperatures are taken with that least multiplier.
    divisors, weighings
        Rounded sizes that have prices of their own where jobs may not split, at most: those of a divisor, and those by
        weights, which come after them, four at a time. They come on the cells of the first stage, and cost as much time
        as that one. 0 and 0 for prices of CPUs alone.
    divisor_temperatures, divisor_iterations
        Of the smoothed dual after each divisor, and of the quasi-Newton method at each temperature.
    divisor_share
        Of the time left for the bound, what divisors and weighings may take.
    least_rise, least_rise_of_weighings
        Share of the bound by which a divisor must raise it for another one, and four weighings for four more.
    most_sizes
        Sizes of jobs up to which there are such units: each size has prices of its own in each cell. Where these would
        be more than five million, there are none either.
    """

    time_share: float = number(0.35, above=0, most=1)
    cell_hours: tuple[float, ...] = number((1.0, 0.25, 1 / 12), above=0)
    first_temperatures: tuple[float, ...] = number((0.1, 0.03, 0.01, 0.003, 0.001), above=0)
    later_temperatures: tuple[float, ...] = number((0.001, 0.0003), above=0)
    iterations: int = number(70, least=1)
    large_iterations: int = number(25, least=1)
    large_breakpoints: float = number(5e5, least=0)
    subgradient_steps: int = number(60, least=0)
    held_multiplier: float = number(0.3, least=0)
    held_temperatures: int = number(3, least=1)
    divisors: int = number(8, least=0)
    weighings: int = number(64, least=0)
    divisor_temperatures: tuple[float, ...] = number((0.003, 0.001, 0.0003), above=0)
    divisor_iterations: int = number(40, least=1)
    divisor_share: float = number(0.5, above=0, most=1)
    least_rise: float = number(1e-4, least=0)
    least_rise_of_weighings: float = number(3e-5, least=0)
    most_sizes: int = number(256, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.cell_hours:
            raise UnsupportedError("cell_hours = (): must be at least one number")
