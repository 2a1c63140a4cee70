"""What a user may set of the bounds of method `price`: ascent, branches, cuts, and neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass

from carbonopt.core.parameters import Parameters, number


@dataclass(frozen=True)
class BoundParameters(Parameters):
    """Of the ascent of the dual function.

    Parameters
    ----------
    time_share
        Share of the remaining time that the ascent may take.
    temperatures
        Temperatures of the soft minimum over starts, one after the other [costs of a typical job]. Lower ones are
        closer to the true function, and slower.
    cluster_temperature
        Temperature of the soft minimum over clusters, as a share of that over starts.
    iterations
        Quasi-Newton iterations at each temperature, at most.
    steps
        Subgradient steps after the last temperature, at most.
    """

    time_share: float = number(0.4, above=0, most=1)
    temperatures: tuple[float, ...] = number((0.03, 0.003, 3e-4, 1e-4, 3e-5), above=0)
    cluster_temperature: float = number(1 / 3, above=0)
    iterations: int = number(150, least=1)
    steps: int = number(300, least=0)


@dataclass(frozen=True)
class RejectionBranchParameters(Parameters):
    """Of the branches on how many jobs are rejected, which raise the bound where jobs may be rejected.

    Parameters
    ----------
    time_share
        Share of the remaining time that branching may take.
    most_jobs
        Number of jobs up to which there is branching: one rejection more or less must be worth it.
    most_shapes
        Number of different durations and demands up to which there is branching.
    most_branches
        Branches in all, at most.
    deepest
        Splits that lead to a branch, at most. A certificate is nested as deep; files that are nested much deeper than
        the default are refused.
    steps
        Subgradient steps at the end of the ascent in each branch, at most.
    nearly_whole
        Distance to a whole number of rejections below which a split between smaller jobs comes first [jobs].
    least_fraction
        Distance to a whole number of rejections below which a branch is not split [jobs].
    """

    time_share: float = number(0.25, above=0, most=1)
    most_jobs: int = number(3_000, least=0)
    most_shapes: int = number(200, least=0)
    most_branches: int = number(200, least=1)
    deepest: int = number(60, least=1, most=80)
    steps: int = number(100, least=0)
    nearly_whole: float = number(0.05, least=0, most=0.5)
    least_fraction: float = number(0.005, above=0, most=0.5)


@dataclass(frozen=True)
class CliqueParameters(Parameters):
    """Of the bound by cliques, starts that exclude each other or whose weights are limited.

    Parameters
    ----------
    time_share
        Share of the remaining time that the bound may take; three times as much where no branches on windows
        follow.
    most_places
        Starts of a job of each kind on all clusters up to which there are cliques.
    places_per_job
        Places for each of 200 kinds of jobs, on average, that the linear program begins with by their excess; a kind
        that has fewer than 8 of these gets some of its own. More come where prices call for them. Of more kinds each
        has fewer, by the root of their number: 800 have half as many each. Jobs that are alike are one kind.
    rounds
        Linear programs after which cliques are sought, at most.
    least_violation
        By which the starts of a clique, of a mean of solutions, must exceed 1 to be added.
    most_new
        Cliques that are added in a round, at most.
    least_rise
        Share of the gap that the last third of the time must have closed for more rounds, or that missing places must
        still hide.
    few
        New cliques below which inequalities with weights are sought, too.
    few_of_slots
        New ones of all other kinds below which cliques over two slots are sought, too; 0 for never.
    halves
        Whether cuts by halves follow when cliques close no more of the gap.
    """

    time_share: float = number(0.2, above=0, most=1)
    most_places: int = number(1_000_000, least=0)
    places_per_job: int = number(25, least=1)
    rounds: int = number(60, least=0)
    least_violation: float = number(0.001, above=0)
    most_new: int = number(3_000, least=1)
    least_rise: float = number(0.01, least=0)
    few: int = number(1_000, least=0)
    few_of_slots: int = number(100, least=0)
    halves: bool = True


@dataclass(frozen=True)
class WindowParameters(Parameters):
    """Of the branches on where and when large jobs start, where few make most of the costs or many jobs are alike.

    Parameters
    ----------
    time_share
        Share of the remaining time that branching may take.
    most_places
        Starts of a job of each kind on all clusters up to which there is branching.
    most_jobs
        Jobs that count as large, at most: the tree goes down to their places. Where there are more than 100 jobs, those
        that are alike are not among them.
    most_branches
        Branches in all, at most.
    most_prices
        Prices in a certificate, at most: of each slot, resource and cluster, and of each clique, for every second
        branch.
    rounds
        Linear programs of a branch, at most: after each but the last come the cliques that it violates. Some more
        may get only the places that its prices call for.
    least_violation
        By which the starts of a clique must exceed 1 to be added.
    least_rise
        Share of the gap that the first third of the time must have closed for more branches, where dives follow.
    tried
        Jobs by which a split is tried, at most.
    iterations
        Of the dual simplex method in each part of such a split, at most.
    certify_pace
        Work of certifying, at most, over all work before it; one work unit, if that is more. It is done where jobs are
        so few that a search tree proves a bound, which has no certificate. 0 for none: the answer comes sooner, and
        its certificate is one of slot prices.
    """

    time_share: float = number(0.4, above=0, most=1)
    most_places: int = number(1_000_000, least=0)
    most_jobs: int = number(60, least=1)
    most_branches: int = number(10_000, least=1)
    most_prices: int = number(3_000_000, least=1)
    rounds: int = number(3, least=1)
    least_violation: float = number(0.02, above=0)
    least_rise: float = number(0.01, least=0)
    tried: int = number(6, least=1)
    iterations: int = number(40, least=1)
    certify_pace: float = number(0.0, least=0)


@dataclass(frozen=True)
class DiveParameters(Parameters):
    """Of dives, which make schedules by linear programs, where few jobs make most of the costs or many are alike.

    Parameters
    ----------
    time_share
        Share of the remaining time that dives may take.
    most_places
        Starts of a job of each kind on all clusters up to which there are linear programs at all: cliques, dives,
        branches, and neighbourhoods.
    most_kinds
        Kinds over jobs, at most, at which there are branches, dives and neighbourhoods though no few large jobs make
        most of the costs: where many jobs are alike, programs are small.
    most
        How many there are.
    stages
        How many jobs each stage of a dive places: of those without a place the largest. Then the others become an
        instance of their own. Without stages, one program places all.
    tried
        Places in which a job is tried, at most.
    noise
        By how much the rise of a program's cost may be counted too high, as a share of it: so that dives from nothing
        differ.
    moves_per_job
        Moves of the search after a dive, for each job.
    heat
        First temperature of these moves, over the ordinary one.
    """

    time_share: float = number(0.8, above=0, most=1)
    most_places: int = number(1_000_000, least=0)
    most_kinds: float = number(0.6, least=0, most=1)
    most: int = number(100, least=1)
    stages: tuple[int, ...] = number((20, 60), least=1)
    tried: int = number(6, least=1)
    noise: float = number(1.0, least=0)
    moves_per_job: int = number(150, least=0)
    heat: float = number(0.1, above=0)


@dataclass(frozen=True)
class NeighbourhoodParameters(Parameters):
    """Of neighbourhoods, which dives search where few jobs make most of the costs or many are alike.

    Parameters
    ----------
    time_share
        Share of the remaining time that all may take.
    most_in_vain
        How many, one after the other, may have no better schedule until the search ends.
    """

    time_share: float = number(0.9, above=0, most=1)
    most_in_vain: int = number(200, least=0)


@dataclass(frozen=True)
class CutParameters(Parameters):
    """Of HiGHS's cuts, which raise the bound over the places that are left.

    Parameters
    ----------
    time_share
        Share of the remaining time that cuts may take.
    most_columns
        Columns of the program up to which there are cuts. Larger ones gain little in so much time.
    most_jobs_of_tree
        Number of jobs up to which HiGHS closes by branching what gap is left.
    """

    time_share: float = number(0.15, above=0, most=1)
    most_columns: int = number(8_000, least=0)
    most_jobs_of_tree: int = number(60, least=0)


@dataclass(frozen=True)
class BlockParameters(Parameters):
    """Of blocks of slots in which jobs are whole, while all other slots have prices.

    Parameters
    ----------
    time_share
        Share of the remaining time that blocks may take.
    tree_time_share
        Of that, what is kept for trees, which certify what blocks add.
    program_time_share
        What the program of one block, or one tree, may take of what is left.
    most_programs
        How many programs there are, at most; 0 for no blocks.
    most_nodes
        Nodes of HiGHS's tree for a program, at most.
    first_slots, more_slots
        Length of a block at first, and by how much it becomes longer.
    least_rise
        Of the gap, what a block must add to be worth a tree.
    """

    time_share: float = number(0.8, above=0, most=1)
    tree_time_share: float = number(0.15, least=0, most=1)
    program_time_share: float = number(0.5, above=0, most=1)
    most_programs: int = number(20, least=0)
    most_nodes: int = number(3_000, least=1)
    first_slots: int = number(6, least=1)
    more_slots: int = number(2, least=1)
    least_rise: float = number(0.02, least=0, most=1)
