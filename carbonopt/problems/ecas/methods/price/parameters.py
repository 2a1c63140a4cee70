"""Parameters of `price`, and of the methods that use a part of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.options import Options
from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class BoundParameters(Parameters):
    """Prices of capacity and of cuts.

    Parameters
    ----------
    steps
        Subgradient steps at most.
    first_gap
        Distance to the best bound that the first steps assume, relative.
    iterations
        Quasi-Newton iterations at each temperature of the smoothed ascent, at most.
    rounds
        How often cuts are looked for, at most.
    cuts
        That a round adds, at most.
    least_rise
        Rounds end when one raises the bound by less, relative.
    time_share
        Of the time limit, at most for the bound.
    seconds
        Of a time limit, at most for the bound.
    """

    steps: int = number(50, least=1)
    first_gap: float = number(0.1, above=0, below=1)
    iterations: int = number(60, least=1)
    rounds: int = number(15, least=0)
    cuts: int = number(150, least=1)
    least_rise: float = number(1e-4, least=0)
    time_share: float = number(0.15, above=0, most=1)
    seconds: float = number(10.0, above=0)

    @property
    def evaluations(self) -> int:
        """How often the dual function is evaluated, about, if all rounds are taken."""
        return self.steps + 3 * self.iterations * (self.rounds + 1)

    def share(self, seconds_left: float) -> float:
        """Return the share of the time that is left that the bound may take."""
        return min(self.time_share, self.seconds / max(seconds_left, self.seconds))

    def part(self, options: Options) -> Options:
        """Return the options with what the bound may take of time or work."""
        return options.part(self.time_share if options.work_limit is not None else self.share(options.seconds_left))


@dataclass(frozen=True)
class SearchParameters(Parameters):
    """Ruin and recreation.

    Parameters
    ----------
    moves_per_job
        Moves at most, for each job.
    moves_per_triple
        Moves at most, for each job and each two beside it: small instances need few, large ones end with their time.
    removed
        Jobs that a move takes out at most.
    reach_hours
        Hours around a job within which others are taken out with it, at most.
    offered
        Machines that a job is offered, beside its own.
    among
        Share of these that come from the jobs that are taken out with it; the others are any.
    noise
        Of the comparison of machines, relative.
    guide
        How much prices say of idle energy in the choice of a place: 0 counts what the machine adds, 1 what the room
        costs on average, at its price. The rest of a price, which is for room that is scarce, always counts.
    plain_every
        Each so many rounds of moves, places are chosen without prices, by what they add to the objective alone: prices
        say little of the last machine that can be switched off.
    closing
        Share of moves that close a machine for a while.
    closed_jobs
        Jobs that run there meanwhile, at most.
    closing_others
        Machines from which such a move takes jobs that may be in the way, at most.
    start_temperature, end_temperature
        Of the annealing, in mean costs of a job.
    penalty
        What a job without a place counts, over what its energy and its room cost at most.
    greedy_rounds
        Of `greedy`: how often it begins anew at most, with the jobs that found no place at the front.
    """

    moves_per_job: int = number(1_000_000, least=0)
    moves_per_triple: int = number(2, least=0)
    removed: int = number(30, least=1)
    reach_hours: float = number(3.0, above=0)
    offered: int = number(8, least=0)
    among: float = number(0.5, least=0, most=1)
    noise: float = number(0.02, least=0)
    guide: float = number(0.5, least=0, most=1)
    plain_every: int = number(5, least=1)
    closing: float = number(0.3, least=0, most=1)
    closed_jobs: int = number(6, least=1)
    closing_others: int = number(3, least=1)
    start_temperature: float = number(0.6, above=0)
    end_temperature: float = number(0.002, above=0)
    penalty: float = number(3.0, above=0)
    greedy_rounds: int = number(50, least=1)

    def moves(self, jobs: int) -> int:
        """Return the moves for so many jobs."""
        return min(self.moves_per_job, self.moves_per_triple * jobs**2) * jobs


@dataclass(frozen=True)
class RepairParameters(Parameters):
    """Places for jobs that greedy insertion leaves without one.

    Parameters
    ----------
    forced_per_job
        Places taken by force at most, for each job.
    forced_per_pair
        The same, for each job and each job beside it: small instances need few.
    tries
        Random places that a job without one looks at.
    wanders
        Other jobs that move at random after each.
    time_share
        Of the time limit: `price` repairs until then and searches on, `greedy` begins anew until then and repairs.
    """

    forced_per_job: int = number(1000, least=0)
    forced_per_pair: int = number(20, least=0)
    tries: int = number(20, least=1)
    wanders: int = number(5, least=0)
    time_share: float = number(0.5, above=0, most=1)

    def forced(self, jobs: int) -> int:
        """Return the forced places for so many jobs."""
        return min(self.forced_per_job, self.forced_per_pair * jobs) * jobs


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Parameters of `price`.

    Parameters
    ----------
    bound, search, repair
        See their classes.
    """

    bound: BoundParameters = field(default_factory=BoundParameters)
    search: SearchParameters = field(default_factory=SearchParameters)
    repair: RepairParameters = field(default_factory=RepairParameters)
