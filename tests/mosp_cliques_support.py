"""Instances with cliques, and certificates of them by hand."""

from __future__ import annotations

import numpy as np

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.formulation.objective import placement_value
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram


def raised(instance, **params):
    """Return the cliques of an instance after all rounds, from prices 0."""
    value = placement_value(instance)
    params = CliqueParameters(**{"places_per_job": 1000} | params)
    cliques = CliqueBound(choices_of(instance, value, 60), np.zeros(instance.clusters.capacity.shape), params)
    options = Options(time_limit=None)
    for _ in raise_by_cliques(GrowingProgram(cliques, np.inf, options), np.inf, params, options):
        pass
    return cliques


def heavy(seed, **more):
    """Return an instance in which few jobs nearly fill a cluster."""
    given = {"jobs": 40, "clusters": 2, "slots": 24, "max_demand": 64, "load": 0.5} | more
    return co.generate("mosp", preset="supercomputer", seed=seed, **given)


def by_hand():
    """Return five jobs of 4 units for one slot of a cluster of 10, which all would run in the clean slot, the first."""
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by-hand",
            "time": {"slots": 3, "slot_hours": 1.0, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[1.0, 10.0, 10.0]]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {"unit": [10.0]},
                "watts_per_unit": {"unit": [1000.0]},
            },
            "jobs": {
                "name": [f"j{i}" for i in range(5)],
                "arrival": [0] * 5,
                "duration": [1] * 5,
                "deadline": [3] * 5,
                "demand": {"unit": [4.0] * 5},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 1000.0, "tardiness_slots": 0.0, "completion_slots": 0.0},
                "rejection_price": None,
            },
        }
    )


WEIGHTED = {"cluster": 0, "jobs": [0, 1, 2, 3, 4], "first": [0] * 5, "last": [0] * 5, "weights": [1] * 5, "most": 2}


def weighted(**more):
    """Return a certificate for `by_hand`: the clean slot's two jobs pay 36 each, so all slots cost a job 40."""
    clique = WEIGHTED | {"price": 36.0} | more
    return {"kind": "lagrangian", "prices": [[[0.0, 0.0, 0.0]]], "cliques": [clique]}
