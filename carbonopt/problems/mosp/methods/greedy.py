"""Methods that start every job as early as possible."""

from __future__ import annotations

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods import heuristics
from carbonopt.problems.mosp.methods.fixed import keeps_fixed
from carbonopt.problems.mosp.methods.incumbent import heuristic_outcome
from carbonopt.problems.mosp.methods.normalizers import value_of


@keeps_fixed
def greedy(instance: MospInstance, options: Options, clean_ties: bool) -> Outcome:
    """Start every job as early as possible; among equally early clusters, on the cleanest, or at random."""
    value, info = value_of(instance, options)
    partial = heuristics.earliest_start(instance, value, options, clean_ties)
    return heuristic_outcome(partial, None, info, options)
