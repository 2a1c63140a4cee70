"""Dives of instances in which few jobs nearly fill a cluster, and what their schedules cost."""

from __future__ import annotations

import numpy as np

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters, DiveParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.dives import Dives
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.state import schedule_of

OPTIONS = Options(time_limit=None)


def cliques_of(instance, **params):
    """Return the places of an instance without a clique, at the prices of its LP relaxation."""
    prices = np.array(co.solve(instance, "lp").certificate["prices"])
    return CliqueBound(choices_of(instance, placement_value(instance)), prices, CliqueParameters(**params))


def dives_of(instance, rounds=10, places_per_job=1000, **params):
    """Return the dives of an instance after some rounds of cliques."""
    cliques = cliques_of(instance, rounds=rounds, places_per_job=places_per_job)
    program = GrowingProgram(cliques, np.inf, OPTIONS)
    for _ in raise_by_cliques(program, np.inf, cliques.params, OPTIONS):
        pass
    return Dives(program, DiveParameters(**params), OPTIONS)


def nowhere(instance):
    """Return a place of -1 for each job."""
    return np.full(len(instance.jobs), -1, dtype=np.int64)


def objective_of(instance, place):
    """Return what the checker says that a schedule costs."""
    return co.evaluate(instance, schedule_of(instance, place)).objective
