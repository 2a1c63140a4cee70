"""What a user may set of method `price`.

Temperatures are in units of what a typical job costs on demand: half of all CPU-hours are of larger jobs. Of a mean
job they would differ from trace to trace: in pai-100k one job in a hundred does half of the work. For jobs that may be
interrupted they are a noise of the prices, in units of a mean job.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.cell_hours:
            raise UnsupportedError("cell_hours = (): must be at least one number")


@dataclass(frozen=True)
class StageParameters(Parameters):
    """Some sweeps of one kind over all jobs.

    Parameters
    ----------
    cell_hours
        Length of the cells that hold the load [h]; 0 for the exact load. Longer cells are faster and coarser.
    start_temperature, end_temperature
        Of the first sweep and of the last. A higher one leaves jobs freer to move where they cost more.
    sweeps
        Number of sweeps, over that of the round's first stage.
    time_share
        Of a round's time, what the stage may take.
    reach_hours
        How far a job moves at most in a sweep [h]; none for its whole window. A sweep within half an hour takes a third
        of the time.
    start_firmness, end_firmness
        Share of the cost of load that jobs see in the first sweep and in the last; for the rest they pay the prices of
        the bound. Firm from the beginning, jobs settle early in places of large regret.
    """

    cell_hours: float = number(1 / 12, least=0)
    start_temperature: float = number(1e-3, least=0)
    end_temperature: float = number(3e-4, least=0)
    sweeps: float = number(1.0, above=0)
    time_share: float = number(0.5, above=0, most=1)
    reach_hours: float | None = number(None, above=0)
    start_firmness: float = number(1.0, above=0, most=1)
    end_firmness: float = number(1.0, above=0, most=1)


@dataclass(frozen=True)
class ShortOfTimeParameters(Parameters):
    """Stages of a round where jobs may split, and time is short.

    Parameters
    ----------
    coarse, fine, exact
        On long cells, on short ones, and on the exact load. Firm from the beginning, the gap was .91 % in place of
        .71 % (pai-100k, R = 115, 90 s).
    """

    coarse: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 12,
            start_temperature=1e-3,
            end_temperature=3e-4,
            time_share=0.73,
            start_firmness=0.05,
            end_firmness=0.5,
        )
    )
    fine: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 60,
            start_temperature=3e-4,
            end_temperature=5e-5,
            sweeps=0.15,
            time_share=0.11,
            reach_hours=0.5,
            start_firmness=0.5,
        )
    )
    exact: StageParameters = field(
        default=StageParameters(
            cell_hours=0.0, start_temperature=5e-5, end_temperature=7e-6, sweeps=0.1, time_share=0.12, reach_hours=0.5
        )
    )

    @property
    def stages(self) -> tuple[StageParameters, ...]:
        """One after the other."""
        return self.coarse, self.fine, self.exact


@dataclass(frozen=True)
class SplittingParameters(Parameters):
    """Stages of a round where jobs may split, and time allows `enough_sweeps`.

    Parameters
    ----------
    enough_sweeps
        Sweeps of the coarse stage from which on the exact load has the time that it takes.
    coarse, exact
        On cells, and on the exact load. Firm from the beginning, the gap was .30 % in place of .13 % (pai_1k, Germany,
        R = 9), and .27 % in ten times the time.
    """

    enough_sweeps: int = number(400, least=1)
    coarse: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 12,
            start_temperature=1e-3,
            end_temperature=6e-4,
            time_share=0.2,
            start_firmness=0.03,
            end_firmness=0.1,
        )
    )
    exact: StageParameters = field(
        default=StageParameters(
            cell_hours=0.0,
            start_temperature=6e-4,
            end_temperature=2e-5,
            sweeps=0.8,
            time_share=0.73,
            start_firmness=0.1,
        )
    )

    @property
    def stages(self) -> tuple[StageParameters, ...]:
        """One after the other."""
        return self.coarse, self.exact


@dataclass(frozen=True)
class NoSplitParameters(Parameters):
    """Stages of a round where jobs may not split; the exact load comes early, as means over cells hide conflicts.

    Parameters
    ----------
    coarse, exact
        On cells, and on the exact load. Firm from the beginning, the gap was .77 % in place of .39 % (pai_1k, R = 9).
    start_steepness, middle_steepness, end_steepness
        Price of load above R over that on demand: in the first sweep, from the exact load on, and at last, where it
        stands for a prohibition. Steep from the beginning, the pool jams: 7.7 % in place of 1.0 % (pai_1k, R = 18).
    """

    start_steepness: float = number(1.0, above=0)
    middle_steepness: float = number(1.2, above=0)
    end_steepness: float = number(1e6, above=0)
    coarse: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 12,
            start_temperature=1e-3,
            end_temperature=4e-4,
            time_share=0.4,
            start_firmness=0.05,
            end_firmness=0.2,
        )
    )
    exact: StageParameters = field(
        default=StageParameters(
            cell_hours=0.0,
            start_temperature=4e-4,
            end_temperature=8e-5,
            sweeps=1 / 3,
            time_share=0.5,
            start_firmness=0.2,
        )
    )

    @property
    def stages(self) -> tuple[StageParameters, ...]:
        """One after the other."""
        return self.coarse, self.exact


@dataclass(frozen=True)
class SuspendResumeParameters(Parameters):
    """Stages of a round where jobs may be interrupted.

    Parameters
    ----------
    cell_hours
        Length of the cells in which jobs choose hours [h], in all stages. Shorter ones are slower and finer.
    noise
        Noise of the prices at a temperature of 1, as a share of the price on demand; at most all of it.
    coarse, fine
        The first sweeps and the last. Their cells are those of `cell_hours`.
    """

    cell_hours: float = number(0.25, above=0)
    noise: float = number(3.0, least=0)
    coarse: StageParameters = field(
        default=StageParameters(cell_hours=1 / 12, start_temperature=5e-2, end_temperature=3e-3, time_share=0.4)
    )
    fine: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 60, start_temperature=3e-3, end_temperature=1e-4, sweeps=1 / 3, time_share=0.5
        )
    )

    @property
    def stages(self) -> tuple[StageParameters, ...]:
        """One after the other."""
        return self.coarse, self.fine


@dataclass(frozen=True)
class LimitParameters(Parameters):
    """How multipliers of the limits are found at which schedules keep them.

    Parameters
    ----------
    trials
        Multipliers that are tried at most; each takes a short search.
    precision
        Relative difference of multipliers at which the trials end.
    addition
        First addition to the multipliers of limits that are not kept, in their units. More keeps them sooner, and at a
        higher cost.
    sweeps
        Of a trial.
    splitting, no_split, suspend_resume
        A trial's stage, by the model: the bound's prices know nothing of its weights.
    """

    trials: int = number(14, least=1)
    precision: float = number(1e-4, above=0)
    addition: float = number(0.05, above=0)
    sweeps: int = number(10, least=1)
    splitting: StageParameters = field(
        default=StageParameters(cell_hours=1 / 60, start_temperature=8e-4, end_temperature=2.8e-5, time_share=0.55)
    )
    no_split: StageParameters = field(
        default=StageParameters(
            cell_hours=0.0, start_temperature=2.8e-3, end_temperature=8e-5, sweeps=1 / 3, time_share=0.5
        )
    )
    suspend_resume: StageParameters = field(
        default=StageParameters(
            cell_hours=1 / 60, start_temperature=3e-3, end_temperature=1e-4, sweeps=1 / 3, time_share=0.5
        )
    )

    def stage(self, model: str) -> StageParameters:
        """Return the stage of a model."""
        found: StageParameters = getattr(self, model.replace("-", "_"))
        return found


@dataclass(frozen=True)
class RoundParameters(Parameters):
    """Rounds of annealing: a short one that tells how long a sweep takes, a long one, and one of less heat.

    Parameters
    ----------
    rounds
        Number of rounds, unless time is out or the gap is closed before.
    time_share
        Of the time left, what a round may plan with.
    first_sweeps
        Sweeps of the first stage of the first round.
    least_sweeps, most_sweeps
        Sweeps of the first stage of other rounds, at least and at most; the least holds for later stages, too.
    sweeps, sweeps_per_job
        Sweeps of the first stage, at most: so many, and so many more for each job.
    reheat
        First temperature of rounds after the second, over that of the second.
    settling_sweeps
        Over the exact load at the end of a round, at no temperature.
    shuffled_jobs
        Jobs near each other in time that a sweep shuffles. A whole shuffle of a year leaves the cache: half as fast.
    bucket_changes
        Changes of the load in a bucket of the exact load, on average. Fewer need more memory.
    most_buckets
        Buckets of the exact load in a slot, at most.
    """

    rounds: int = number(3, least=1)
    time_share: float = number(0.97, above=0, most=1)
    first_sweeps: int = number(10, least=1)
    least_sweeps: int = number(10, least=1)
    most_sweeps: int = number(10_000, least=1)
    sweeps: int = number(100, least=1)
    sweeps_per_job: float = number(20.0, least=0)
    reheat: float = number(0.4, above=0)
    settling_sweeps: int = number(2, least=1)
    shuffled_jobs: int = number(2000, least=1)
    bucket_changes: float = number(8.0, above=0)
    most_buckets: float = number(64.0, least=1)


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Parameters of method `price`.

    Parameters
    ----------
    bound
        The search for prices.
    rounds
        The rounds of annealing that search for a schedule.
    splitting, short_of_time, no_split, suspend_resume
        The stages of a round, by the model; where jobs may split, by the time that there is as well.
    limits
        How limits are kept.
    """

    bound: BoundParameters = field(default_factory=BoundParameters)
    rounds: RoundParameters = field(default_factory=RoundParameters)
    splitting: SplittingParameters = field(default_factory=SplittingParameters)
    short_of_time: ShortOfTimeParameters = field(default_factory=ShortOfTimeParameters)
    no_split: NoSplitParameters = field(default_factory=NoSplitParameters)
    suspend_resume: SuspendResumeParameters = field(default_factory=SuspendResumeParameters)
    limits: LimitParameters = field(default_factory=LimitParameters)

    def stages(self, model: str) -> tuple[StageParameters, ...]:
        """Return the stages of a round, where jobs may split those for when time is short."""
        if model == "splitting":
            return self.short_of_time.stages
        return self.no_split.stages if model == "no-split" else self.suspend_resume.stages
