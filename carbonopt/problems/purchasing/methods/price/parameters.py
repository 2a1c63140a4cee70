"""What a user may set of method `price`: its rounds, how limits are kept, and all groups together."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number
from carbonopt.problems.purchasing.methods.price.bound_parameters import BoundParameters
from carbonopt.problems.purchasing.methods.price.branch_parameters import BranchParameters
from carbonopt.problems.purchasing.methods.price.placement_parameters import PlacementParameters
from carbonopt.problems.purchasing.methods.price.stage_parameters import (
    NoSplitParameters,
    ShortOfTimeParameters,
    SplittingParameters,
    StageParameters,
    SuspendResumeParameters,
)


@dataclass(frozen=True)
class LimitParameters(Parameters):
    """How multipliers of the limits are found at which schedules keep them.

    Parameters
    ----------
    trials
        Multipliers that are tried at most; each takes a short search.
    precision
        Relative step of the multipliers at which the trials end.
    first_step, most_step, growth
        Relative step of a multiplier, at first and at most, and the factor by which it grows while its limit stays
        exceeded or kept.
    nudges, nudge
        Short searches after each trial, and by how much relatively multipliers change for each. More keep the limits
        in more of the trials, which are fewer in the same time.
    addition
        Least multiplier of a limit that is not kept, in its unit. More keeps it sooner, and at a higher cost.
    sweeps
        Of a trial.
    splitting, no_split, suspend_resume
        A trial's stage, by the model: the bound's prices know nothing of its weights.
    """

    trials: int = number(14, least=1)
    precision: float = number(1e-4, above=0)
    first_step: float = number(0.3, above=0)
    most_step: float = number(2.0, above=0)
    growth: float = number(1.5, least=1)
    nudges: int = number(3, least=0)
    nudge: float = number(0.05, above=0)
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
class RuinParameters(Parameters):
    """Ruin and recreate after the rounds, where jobs may not split: some jobs leave the pool, and choose anew.

    Where there are limits, there is none.

    Parameters
    ----------
    time_share
        Of the time left for schedules after the first round, what is kept for it: in half of 30 s rounds end about as
        low as in all of it.
    rounds
        Annealings at most, each from the best schedule and hotter than the last: few jobs allow for long ones, which
        find what no short one does.
    tries, tries_growth
        Tries for each job in the first at most, and the factor by which there are more in each after it. An annealing
        for which the time is too short begins less hot, and is the last.
    least_tries
        Tries for each job that the time must allow for any: fewer only spoil a schedule, and rounds use it better.
    start_temperature, end_temperature, heat_growth
        Of the first tries and of the last, in the unit of stages, and the factor by which each annealing begins hotter.
    leaving, called
        Jobs on the pool that leave in a try, beside the one it is around, and jobs off the pool that choose with them,
        at most. Few do in most of the tries.
    reach_hours
        How far from the moment of a try jobs may run, at most; in most of the tries it is much less.
    tolled_share
        Share of the tries in which starts cost the bound's prices, too, up to all of them: these know where later jobs
        need room.
    forced_share
        Share of the tries in which a job is forced in where load above R has a price.
    eager
        Largest such price, over that on demand. It is drawn from 0 to this: the less it is, the more jobs are in the
        way.
    contest
        Jobs in the way that are compared at most before one leaves: that which saves least for each CPU-hour, at
        the bound's prices.
    """

    time_share: float = number(0.5, least=0, most=1)
    rounds: int = number(3, least=0)
    tries: int = number(600, least=1)
    tries_growth: float = number(2.0, least=1)
    least_tries: int = number(10, least=1)
    start_temperature: float = number(3e-3, above=0)
    end_temperature: float = number(3e-5, above=0)
    heat_growth: float = number(3.0, least=1)
    leaving: int = number(10, least=1, most=1000)
    called: int = number(5, least=1, most=1000)
    reach_hours: float = number(3.0, least=0)
    tolled_share: float = number(0.5, least=0, most=1)
    forced_share: float = number(0.3, least=0, most=1)
    eager: float = number(6.0, above=0)
    contest: int = number(4, least=1, most=100)


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Parameters of method `price`.

    Parameters
    ----------
    bound
        The search for prices.
    placements
        The places of large jobs that the first rounds begin with, where jobs may not split.
    rounds
        The rounds of annealing that search for a schedule.
    splitting, short_of_time, no_split, suspend_resume
        The stages of a round, by the model; where jobs may split, by the time that there is as well.
    limits
        How limits are kept.
    ruins
        What follows the rounds where jobs may not split.
    branches
        What raises the bound of few jobs that may not split in the end.
    """

    bound: BoundParameters = field(default_factory=BoundParameters)
    placements: PlacementParameters = field(default_factory=PlacementParameters)
    rounds: RoundParameters = field(default_factory=RoundParameters)
    splitting: SplittingParameters = field(default_factory=SplittingParameters)
    short_of_time: ShortOfTimeParameters = field(default_factory=ShortOfTimeParameters)
    no_split: NoSplitParameters = field(default_factory=NoSplitParameters)
    suspend_resume: SuspendResumeParameters = field(default_factory=SuspendResumeParameters)
    limits: LimitParameters = field(default_factory=LimitParameters)
    ruins: RuinParameters = field(default_factory=RuinParameters)
    branches: BranchParameters = field(default_factory=BranchParameters)

    def stages(self, model: str) -> tuple[StageParameters, ...]:
        """Return the stages of a round, where jobs may split those for when time is short."""
        if model == "splitting":
            return self.short_of_time.stages
        return self.no_split.stages if model == "no-split" else self.suspend_resume.stages
