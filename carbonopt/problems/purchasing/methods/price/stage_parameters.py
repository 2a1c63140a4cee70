"""What a user may set of the stages of a round of method `price`, by the model.

Temperatures are in units of what a typical job costs on demand: half of all CPU-hours are of larger jobs. Of a mean
job they would differ from trace to trace: in pai-100k one job in a hundred does half of the work. For jobs that may be
interrupted they are a noise of the prices, in units of a mean job.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number


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
