"""Some jobs of an instance as an instance of their own, on the capacity that the others leave, and its program.

Little room is left beside the others. Its cliques rule out what those of the whole instance allow: jobs that have room
side by side on an empty cluster may exclude each other in what is left of it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.arrays import IntArray
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.fixed import load_of
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import PLACE_STEPS, GrowingProgram, ProgramBasis


def cost_of(place: IntArray, jobs: IntArray, cliques: CliqueBound) -> float:
    """Return what some jobs cost at their places, cluster x T + start, -1 for one that does not run."""
    slots = cliques.row.shape[2]
    cost = cliques.choices.rejection_cost[cliques.kinds.of[jobs]]
    runs = np.flatnonzero(place >= 0)
    rows = cliques.row[cliques.kinds.of[jobs[runs]], place[runs] // slots, place[runs] % slots]
    cost[runs] = cliques.cost[rows]
    return float(cost.sum())


def part_of(others: IntArray, jobs: IntArray, cliques: CliqueBound) -> MospInstance:
    """Return the instance of some jobs, on the capacity that those with a place in `others` leave."""
    instance = cliques.instance
    runs = np.flatnonzero(others >= 0)
    left = instance.clusters.capacity - load_of(instance, runs, *np.divmod(others[runs], cliques.row.shape[2]))
    clusters = replace(instance.clusters, capacity=np.maximum(0.0, left))
    return replace(instance, jobs=instance.jobs.part(jobs), clusters=clusters)


def program_of_part(
    others: IntArray,
    jobs: IntArray,
    goal: float,
    cliques: CliqueBound,
    rounds: int,
    options: Options,
    whole: GrowingProgram | None = None,
) -> GrowingProgram | None:
    """Return the program of some jobs with its cliques; None where these prove that they cost `goal` or more.

    It is None, too, where one of the jobs must run and has no place.

    Parameters
    ----------
    others
        Place of each job of the instance, -1 for none; shape (N,).
    jobs
        Without a place in `others`: those of the program.
    goal
        What the jobs must cost less than.
    cliques
        Of the instance.
    rounds
        Linear programs by which the part gets its cliques, at most. Cliques over two slots and cuts by halves are not
        worth their time.
    options
        Count the work.
    whole
        Program of the instance: the one of the part begins with its columns and where it ended. None to begin with the
        places of least reduced cost and from nothing.
    """
    params = replace(cliques.params, rounds=rounds, few_of_slots=0, halves=False)
    own = CliqueBound(
        choices_of(part_of(others, jobs, cliques), cliques.choices.value.part(jobs)), cliques.proof.prices, params
    )
    options.spend(PLACE_STEPS * len(own.cost))
    if own.proof.bound >= goal:
        return None
    program = _begun(own, jobs, goal, whole, options)
    for bound in raise_by_cliques(program, goal, params, options):
        if bound >= goal:
            return None
    return program


def _begun(
    own: CliqueBound, jobs: IntArray, goal: float, whole: GrowingProgram | None, options: Options
) -> GrowingProgram:
    """Return the program of a part as it begins, with arguments as those of `program_of_part`."""
    if whole is None:
        return GrowingProgram(own, goal, options)
    at = own.places
    kinds = whole.cliques.kinds.of[jobs[own.kinds.first]]
    place = whole.cliques.row[kinds[at.job], at.cluster, at.start]
    program = GrowingProgram(own, goal, options, whole.is_column[place])
    program.begin_at(_basis_from(whole, program, kinds, place), options)
    return program


def _basis_from(whole: GrowingProgram, program: GrowingProgram, kinds: IntArray, place: IntArray) -> ProgramBasis:
    """Return where the program of all jobs ended, for the columns and rows of a part's.

    `kinds` has which of the instance each kind of the part is, and `place` the row of each possible placement of the
    part among those of the instance.
    """
    columns, rows, _ = whole.basis()
    row, job = whole.columns.row[: len(columns)], whole.columns.job[: len(columns)]
    of_place = np.zeros(len(whole.is_column), dtype=np.int8)
    of_place[row[row >= 0]] = columns[row >= 0]
    of_rejection = np.zeros(len(whole.samples.jobs), dtype=np.int8)
    of_rejection[job[row < 0]] = columns[row < 0]
    own = program.columns.row
    status = of_rejection[kinds[program.columns.job]]
    status[own >= 0] = of_place[place[own[own >= 0]]]
    of_capacity = rows[len(whole.samples.jobs) :]
    return ProgramBasis(status, np.concatenate([rows[kinds], of_capacity]), cliques=kinds[:0])
