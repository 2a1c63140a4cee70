"""What a user may set of the methods with a solver."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class PolishParameters(Parameters):
    """Best responses in continuous time, after a solver that knows means of slots alone.

    Parameters
    ----------
    sweeps
        Over all jobs, at most. More find a little more.
    work
        For one schedule, at most [work units], about a second each: a solver's time limit must be kept.
    most_jobs
        Up to which schedules are polished. The time grows with their square.
    """

    sweeps: int = number(5, least=0)
    work: float = number(1.0, least=0)
    most_jobs: int = number(2000, least=0)


@dataclass(frozen=True)
class MilpParameters(Parameters):
    """Parameters of method `milp`.

    Parameters
    ----------
    polish
        What is done with each schedule that HiGHS finds.
    tightenings
        Programs with tighter limits that are solved, at most, where the schedule of the first one exceeds a limit. Each
        takes about as long as the first one.
    """

    polish: PolishParameters = field(default_factory=PolishParameters)
    tightenings: int = number(8, least=0)


@dataclass(frozen=True)
class LpParameters(Parameters):
    """Parameters of method `lp`.

    Parameters
    ----------
    interior_point_columns
        Size of the program above which HiGHS takes its interior point in place of the simplex.
    """

    interior_point_columns: int = number(50_000, least=0)


@dataclass(frozen=True)
class RoundingParameters(LpParameters):
    """Parameters of method `lp-rounding`.

    Parameters
    ----------
    interior_point_columns
        Size of the program above which HiGHS takes its interior point in place of the simplex.
    draws
        Schedules that are drawn by the shares of the LP optimum, beside that of the largest shares. More find a better
        one, and one within limits more often.
    polish
        What is done with the best schedule.
    """

    draws: int = number(8, least=0)
    polish: PolishParameters = field(default_factory=PolishParameters)
