"""What may be chosen for each job: where it runs, or that it does not run, and what each choice costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.formulation.objective import PlacementValue
from carbonopt.problems.mosp.formulation.program import Placements, possible_placements
from carbonopt.problems.mosp.methods.price.kinds import Kinds, kinds_of
from carbonopt.problems.mosp.methods.price.windows import sizes_of


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of an instance, or of some of its jobs in a block of slots.

    Jobs that are alike are one kind, with as many starts as it has jobs.

    Parameters
    ----------
    instance, value
        The problem.
    kinds
        Of the jobs; in a block, those of other jobs count as the one after the last.
    samples
        The instance with one job of each kind.
    places, cost
        Where a job of each kind may start, by `samples`, and what it costs there.
    rejection_cost
        Of a job of each kind that runs in none of these, shape (K,); infinite where it must.
    slots
        First slot in which capacity counts, and the one after the last.
    """

    instance: MospInstance
    value: PlacementValue
    kinds: Kinds
    samples: MospInstance
    places: Placements
    cost: FloatArray
    rejection_cost: FloatArray
    slots: tuple[int, int]


def choices_of(instance: MospInstance, value: PlacementValue, most_apart: int = 0) -> Choices:
    """Return the choices of an instance.

    Of the largest jobs, `most_apart` are told apart though they are alike, if few are; see `kinds_of`.
    """
    size = sizes_of(instance.jobs.demand, instance.clusters.limit, instance.jobs.duration)
    kinds = kinds_of(instance.jobs, np.argsort(-size, kind="stable")[:most_apart])
    samples = replace(instance, jobs=instance.jobs.part(kinds.first))
    places = possible_placements(samples)
    cost = value.sign * value.part(kinds.first).of(places.job, places.cluster, places.start)
    rejection_cost = np.full(len(kinds.first), instance.objective.rejection_cost)
    return Choices(instance, value, kinds, samples, places, cost, rejection_cost, (0, instance.time.slots))
