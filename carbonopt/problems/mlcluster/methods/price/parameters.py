"""What a user may set of methods `price` and `lp`."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class BoundParameters(Parameters):
    """The search for the prices that give the best bound.

    Parameters
    ----------
    time_share
        Of the time that is left, what prices may take. More leaves less for schedules.
    temperatures
        Of the smoothed dual, one stage after the other, in units of a usual price of GPU time.
    large_temperatures
        The same for large instances.
    iterations, large_iterations
        Of the quasi-Newton method at each temperature, in small instances and in large ones.
    large_size
        Jobs times cells above which an instance is large.
    least_rise
        Rise of the bound in a stage at a low temperature, relative, below which no further stage is tried. A stage ends
        where the smoothed dual rises by less in 10 iterations.
    subgradient_steps
        At the end. More raise the bound a little.
    subgradient_gap
        Distance to the optimum that the first of these steps assume, relative.
    fine_cells
        Cells into which a slot is cut where completion times count. More tell completion times better.
    fine_size
        Jobs times cells up to which slots are cut so.
    restart_steps
        Subgradient steps of the prices once restarts are counted. They are counted where completion times are not.
    restart_gap
        Distance to the optimum that the first of these steps assume, relative.
    restart_size
        Jobs times cells times numbers of GPUs up to which restarts are counted.
    restart_time_share
        Of the time that is then left, what these steps may take.
    """

    time_share: float = number(0.7, above=0, most=1)
    temperatures: tuple[float, ...] = number((0.3, 0.1, 0.03, 0.01, 0.003, 0.001), above=0)
    large_temperatures: tuple[float, ...] = number((0.1, 0.03, 0.01, 0.003), above=0)
    iterations: int = number(100, least=1)
    large_iterations: int = number(40, least=1)
    large_size: float = number(1e7, least=0)
    least_rise: float = number(2e-6, least=0)
    subgradient_steps: int = number(60, least=0)
    subgradient_gap: float = number(1e-4, above=0)
    fine_cells: int = number(4, least=1)
    fine_size: float = number(2e6, least=0)
    restart_steps: int = number(100, least=0)
    restart_gap: float = number(0.001, above=0)
    restart_size: float = number(1e8, least=0)
    restart_time_share: float = number(0.3, above=0, most=1)


@dataclass(frozen=True)
class ConstructParameters(Parameters):
    """The schedules that are made from nothing, the largest job first.

    Parameters
    ----------
    first_shares
        Of the prices of GPU time, those at which the first jobs are placed: all are tried. Higher ones keep more room
        for the jobs that are still to come. They fall to 1 with the work that is left.
    kept_shares
        Shares that do not fall, where some job finds no room with any of those: tried in order until all do.
    """

    first_shares: tuple[float, ...] = number((1.01, 1.02, 1.03, 1.04), least=0)
    kept_shares: tuple[float, ...] = number((1.03, 1.06, 1.1, 1.2, 1.5), least=0)


@dataclass(frozen=True)
class FollowParameters(Parameters):
    """The schedules that follow the prices.

    Parameters
    ----------
    premiums
        Worth of restarts that are tried, over the work they would take. A higher one moves running jobs less.
    hastes
        How many times its remaining work a job wants room for, where nothing ends in time at 1: tried in order until
        something does.
    budget_rounds
        Smaller budgets of completion time that are tried at most.
    budget_use
        Mean completion time, over its budget, that is close enough.
    most_steps
        Jobs times squared cells up to which schedules follow the prices although some are made from nothing.
    most_passed
        Jobs that were left over and do not fit, which are passed over at most. More fill GPUs better, more slowly.
    """

    premiums: tuple[float, ...] = number((1.0, 2.0, 0.5), least=0)
    hastes: tuple[float, ...] = number((1.05, 1.1, 1.2, 1.3, 1.5, 2.0, 4.0, 16.0, 1e6), least=1)
    budget_rounds: int = number(6, least=0)
    budget_use: float = number(0.995, above=0, most=1)
    most_steps: float = number(1e8, least=0)
    most_passed: int = number(64, least=0)


@dataclass(frozen=True)
class RepairParameters(Parameters):
    """The search that takes a few jobs out of a schedule and puts them back.

    Parameters
    ----------
    most_jobs
        That are taken out at a time.
    patience
        Rounds a job without a better schedule, after which the search has converged.
    temperature
        By how much a round may raise the objective on average, as a share of the bound's mean for a job. It falls to 0
        while nothing better is found, and starts anew with the next better schedule.
    temperature_jobs
        Number of jobs below which the mean is that of so many.
    price_share
        Largest share of the prices of GPU time that a job pays when it is put back.
    free_share
        Of rounds whose jobs pay no price.
    noise
        Standard deviation of the natural logarithm of changes of prices, from cell to cell.
    uniform_share
        Of rounds that begin with any job alike; the others begin with one that costs much.
    reach_minutes
        Beside a run of the first job: runs within it make others likely to be taken out, too.
    """

    most_jobs: int = number(2, least=1)
    patience: float = number(60.0, least=0)
    temperature: float = number(6e-4, least=0)
    temperature_jobs: int = number(200, least=1)
    price_share: float = number(1.1, least=0)
    free_share: float = number(0.3, least=0, most=1)
    noise: float = number(0.1, least=0)
    uniform_share: float = number(0.5, least=0, most=1)
    reach_minutes: float = number(60.0, least=0)


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Parameters of methods `price` and `lp`.

    Parameters
    ----------
    bound
        Of the search for prices.
    construct
        Of the schedules that are made at these prices from nothing.
    follow
        Of the schedules that follow them.
    repair
        Of the search that makes these better.
    """

    bound: BoundParameters = field(default_factory=BoundParameters)
    construct: ConstructParameters = field(default_factory=ConstructParameters)
    follow: FollowParameters = field(default_factory=FollowParameters)
    repair: RepairParameters = field(default_factory=RepairParameters)
