"""What a user may set of the search of method `price`: places, first schedule, moves."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class PlaceParameters(Parameters):
    """Of the lists of places, by reduced cost, in which the search looks for each job.

    Longer lists leave fewer places out, and take more time and memory.

    Parameters
    ----------
    least
        Places that are kept of each job, however many jobs there are.
    most, most_entries
        Places that are kept of each job, and in all jobs together, at most.
    most_of_few, most_entries_of_few
        The same where there are so few jobs that this allows more.
    """

    least: int = number(48, least=1)
    most: int = number(256, least=1)
    most_entries: int = number(16_000_000, least=1)
    most_of_few: int = number(1_024, least=1)
    most_entries_of_few: int = number(4_000_000, least=1)


@dataclass(frozen=True)
class StartParameters(Parameters):
    """Of the first schedule, which is rounded from a linear program over places of small excess.

    Parameters
    ----------
    least_jobs
        Number of jobs below which the first schedule is made by insertion, without a linear program.
    time_share
        Share of the remaining time that the linear program may take.
    most_excess
        Largest excess of the places in the program [costs of a typical job].
    bins
        Groups that all jobs are cut into, about. More are more exact, and slower.
    most_bins_per_class
        Groups that one class of jobs is cut into by deadlines, at most.
    excess_price
        Price of capacity beyond what is there, over the slot prices. It keeps the program feasible.
    """

    least_jobs: int = number(100, least=1)
    time_share: float = number(0.6, above=0, most=1)
    most_excess: float = number(0.003, above=0)
    bins: int = number(40_000, least=1)
    most_bins_per_class: int = number(4, least=1)
    excess_price: float = number(3.0, above=1)


@dataclass(frozen=True)
class MoveParameters(Parameters):
    """Of one move of the search: jobs are taken out around a place, and inserted again.

    Parameters
    ----------
    high_regret_share
        Probability with which the first job is drawn among those of large excess.
    tournament
        Draws of which the job of largest excess is taken.
    next_place_share
        Probability with which the target is the next place of the job's list, of larger excess.
    most_moved
        Jobs that a move takes out, at most.
    spread_slots
        Slots around the target in which jobs are taken out as well, below this number.
    elsewhere_share
        Probability with which a job is taken out on any cluster, and not on that of the target.
    retry_share
        Probability with which rejected jobs are inserted together with those taken out.
    most_retried
        Rejected jobs that are inserted in this way, at most.
    list_steps
        Jobs of one place that are skipped to draw one of them, below this number.
    most_misses
        Draws of a place where nothing starts that runs around the target, at most.
    eject_share
        Probability, where jobs eject others, with which a job takes its target for sure, and what is in its way there
        comes elsewhere.
    eject_tournament
        Further draws of which the job of most work is taken for that.
    most_ejected
        Jobs that such a move takes out, at most.
    idle_slots
        Slots before and after the target whose idle room a move may hope to fill.
    skipped_share
        Probability with which a place that fits is passed over.
    random_order_share
        Probability with which jobs are inserted in a random order.
    work_order_share
        Probability with which jobs of most work are inserted first.
    demand_order_share
        Probability with which jobs of largest demand are inserted first; else those of largest excess are.
    """

    high_regret_share: float = number(0.5, least=0, most=1)
    tournament: int = number(12, least=1)
    next_place_share: float = number(0.75, least=0, below=1)
    most_moved: int = number(12, least=2)
    spread_slots: int = number(4, least=1)
    elsewhere_share: float = number(0.3, least=0, most=1)
    retry_share: float = number(0.5, least=0, most=1)
    most_retried: int = number(4, least=1)
    list_steps: int = number(6, least=1)
    most_misses: int = number(64, least=1)
    eject_share: float = number(0.3, least=0, most=1)
    eject_tournament: int = number(3, least=0)
    most_ejected: int = number(100, least=2)
    idle_slots: int = number(8, least=0)
    skipped_share: float = number(0.05, least=0, below=1)
    random_order_share: float = number(0.4, least=0, most=1)
    work_order_share: float = number(0.3, least=0, most=1)
    demand_order_share: float = number(0.1, least=0, most=1)


@dataclass(frozen=True)
class HeavyTail(Parameters):
    """Of jobs with a heavy tail: few of them make most of the costs.

    Parameters
    ----------
    share
        Jobs that count, over all jobs, below which the tail is heavy.
    most_jobs
        Number of jobs up to which moves go other ways, too: of more, there are too few moves for each.
    heat
        First temperature of some rounds in which jobs eject others, over the ordinary one.
    time_share
        Share of the remaining time for the search before branches on where large jobs start.
    """

    share: float = number(0.4, least=0, most=1)
    most_jobs: int = number(500, least=0)
    heat: float = number(15.0, least=1)
    time_share: float = number(0.02, above=0, most=1)


@dataclass(frozen=True)
class RejectionPenalty(Parameters):
    """Of what rejected jobs count in a round of the search: little at first, so that jobs change places with them.

    Parameters
    ----------
    start, end
        Penalty at the beginning and at the end of the rise [mean priced costs of their work].
    steps
        Steps in which it rises.
    share
        Share of a round in which it rises; in the rest rejected jobs count what they cost.
    """

    start: float = number(0.6, above=0)
    end: float = number(6.0, above=0)
    steps: int = number(30, least=1)
    share: float = number(0.8, above=0, below=1)


@dataclass(frozen=True)
class SearchParameters(Parameters):
    """Of the annealing by ruin and recreation.

    Parameters
    ----------
    moves_per_job
        Moves in all, for each job. Small instances take fewer, since HiGHS closes them.
    full_moves_jobs
        Number of jobs below which moves are fewer, by the square of the proportion.
    time_share
        Share of the remaining time for the search where beams follow.
    rejecting_time_share
        The same where jobs may be rejected: there the search pays longer.
    small_time_share, small_moves_per_job
        Share of the remaining time, and moves for each job, where beams can take all jobs.
    first_moves, first_moves_per_job
        Moves of the first round: the larger of a number, and of a number for each job.
    growth
        How many times longer each next round is.
    initial_temperature
        Temperature at the beginning of a round [priced costs of a job that counts, the mean weighted by the costs].
    initial_temperature_jobs
        Number of jobs that count above which it is lower, in inverse proportion.
    cooling
        First temperature of a round over the last one.
    full_slot_bonus
        What an insertion gains for each slot in which it leaves room for no other job [costs of a typical job].
    high_regret_excess
        Excess above which a job counts as one of large excess [costs of a typical job].
    """

    moves_per_job: int = number(20_000, least=0)
    full_moves_jobs: int = number(50, least=1)
    time_share: float = number(0.2, above=0, most=1)
    rejecting_time_share: float = number(0.9, above=0, most=1)
    small_time_share: float = number(0.03, above=0, most=1)
    small_moves_per_job: int = number(5_000, least=0)
    first_moves: int = number(5_000, least=1)
    first_moves_per_job: int = number(2, least=0)
    growth: int = number(4, least=1)
    initial_temperature: float = number(0.065, above=0)
    initial_temperature_jobs: int = number(130, least=1)
    cooling: float = number(50.0, least=1)
    full_slot_bonus: float = number(0.001, least=0)
    high_regret_excess: float = number(0.001, least=0)
    heavy: HeavyTail = field(default_factory=HeavyTail)
    move: MoveParameters = field(default_factory=MoveParameters)
    rejection_penalty: RejectionPenalty = field(default_factory=RejectionPenalty)

    def moves(self, jobs: int) -> int:
        """Return the moves of a search in all."""
        return int(self.moves_per_job * jobs * min(1.0, jobs / self.full_moves_jobs) ** 2)
