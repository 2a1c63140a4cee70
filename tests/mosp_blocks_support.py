"""Instances, bounds and optima for the tests of blocks of slots."""

from __future__ import annotations

import numpy as np

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mosp.data.file import from_dict
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.methods.price.bound_parameters import CliqueParameters
from carbonopt.problems.mosp.methods.price.choices import choices_of
from carbonopt.problems.mosp.methods.price.clique_rounds import raise_by_cliques
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.growing import GrowingProgram
from carbonopt.problems.mosp.methods.price.state import places_of

OPTIONS = Options(time_limit=None, work_limit=1e6)  # rounds of cliques end by their time


def priced(instance, rounds):
    """Return the bound of an instance after some rounds of cliques."""
    value, _ = value_of(instance, OPTIONS)
    params = CliqueParameters(rounds=rounds, halves=rounds > 1)
    cliques = CliqueBound(choices_of(instance, value), np.zeros(instance.clusters.limit.shape), params)
    for _ in raise_by_cliques(GrowingProgram(cliques, np.inf, OPTIONS), np.inf, params, OPTIONS):
        pass
    return cliques


def optimal(instance):
    """Return where the optimum has the jobs, None for nowhere, and what it costs in the sense of a minimisation."""
    best = co.solve(instance, "milp", mip_rel_gap=0, time_limit=None)
    if best.columns is None:
        return None, np.inf
    return places_of(instance, best.columns), best.objective if instance.sense == "min" else -best.objective


def by_hand(slots, capacity, jobs):
    """Return jobs on one cluster that cost their completions; `jobs` has arrival, duration, demands, and how many."""
    rows = [row for *row, count in jobs for _ in range(count)]
    resources = [f"r{r}" for r in range(len(capacity))]
    return from_dict(
        {
            "schema_version": 1,
            "problem": "mosp",
            "name": "by hand",
            "time": {"slots": slots, "slot_hours": 1, "start": "2024-01-01T00:00:00Z"},
            "carbon": {"zones": ["Z"], "g_per_kwh": [[100] * slots]},
            "clusters": {
                "name": ["c"],
                "zone": ["Z"],
                "capacity": {name: [most] for name, most in zip(resources, capacity, strict=True)},
                "watts_per_unit": {name: [300] for name in resources},
            },
            "jobs": {
                "name": [f"j{i}" for i in range(len(rows))],
                "arrival": [row[0] for row in rows],
                "duration": [row[1] for row in rows],
                "deadline": [slots] * len(rows),
                "demand": {name: [row[2][r] for row in rows] for r, name in enumerate(resources)},
                "eligible": None,
            },
            "objective": {
                "kind": "carbon",
                "weights": {"carbon_kg": 0, "tardiness_slots": 0, "completion_slots": 1},
                "rejection_price": None,
            },
        }
    )


def three_of_two_units():
    """Return three jobs of two units and one slot, on three units: one runs after the other, at 1 + 2 + 3."""
    return by_hand(3, [3], [(0, 1, [2], 3)])
