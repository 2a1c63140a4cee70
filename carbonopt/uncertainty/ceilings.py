"""Plans under a budget of uncertainty by a ceiling: no pair of a zone and a slot may add more than it where it rises.

The risk of plan x is its expected objective, and what Gamma pairs add at most. Where no pair adds more than theta, that
is at most Gamma theta. In the optimum of the relaxation, nearly all pairs that count add exactly theta. So an ordinary
instance, under the expected signal and with less capacity, has plans of low risk, and `carbonopt.solve` has all its
methods for it. Whole jobs need a somewhat higher ceiling than the relaxation has, so several are tried.

On 200 jobs, 3 zones and 48 slots, annealing by the risk itself ended at 104.79, however long it was; ceilings end at
104.44 after 47 CPU s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from carbonopt.core.options import Options
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.methods.price.beam.part import whole_units
from carbonopt.uncertainty.costs import measured
from carbonopt.uncertainty.measures import Budget
from carbonopt.uncertainty.ordinary import solved
from carbonopt.uncertainty.scenarios import Scenarios

RATIOS = (1.02, 1.06, 1.12)
"""Ceilings that are tried, over that of the relaxation."""
AGAIN = 4
"""Searches that go on from the best plan under its ceiling, with other seeds."""
TRY_SHARE = 0.12
"""Of the time or work, what the search under each ceiling gets; those that go on divide the rest."""
ROUNDING = 1e-9
"""Relative, by which a capacity may be below a whole number of units and still count as that."""


def lowered(instance: MospInstance, scenarios: Scenarios, ceiling: float) -> MospInstance:
    """Return the instance under the expected signal, with capacities that let no pair add more than the ceiling.

    All clusters of a zone give up the same share of their capacity. Where demands are whole, so is what is left. What
    is left is nothing where no job fits into it.
    """
    assert isinstance(instance.objective, CarbonObjective)
    clusters = instance.clusters.over(instance.time.slots)
    kg_per_g = instance.objective.carbon_kg / 1000 * clusters.watts_per_unit / 1000 * instance.time.slot_hours
    most = np.zeros_like(scenarios.rise)
    np.add.at(most, instance.zone_of_cluster, (kg_per_g[:, :, None] * clusters.capacity).sum(axis=1))
    most *= scenarios.rise
    share = np.divide(ceiling, most, out=np.ones_like(most), where=most > ceiling)[instance.zone_of_cluster, None, :]
    capacity = clusters.capacity * share
    whole = whole_units(instance.jobs.demand)
    if whole is not None:
        capacity = np.where(share < 1, whole[1] * np.floor(capacity / whole[1] * (1 + ROUNDING)), capacity)
    demand = instance.jobs.demand
    smallest = np.where(demand > 0, demand, np.inf).min(axis=0, initial=np.inf)
    capacity = np.where(capacity < smallest[:, None], 0.0, capacity)
    return replace(scenarios.instance(instance), clusters=replace(clusters, capacity=capacity))


def plans_under_ceilings(
    instance: MospInstance, scenarios: Scenarios, risk: Budget, ceiling: float, known: float, options: Options
) -> Iterator[tuple[Solution, float]]:
    """Yield plans and their risk.

    Parameters
    ----------
    instance, scenarios, risk
        As in `carbonopt.uncertainty.solve.solve_under_risk`; without fixed runs.
    ceiling
        Of the relaxation: theta, above 0.
    known
        Risk of a plan: the search does not go on where no ceiling has a better one.
    options
        Of this search.
    """
    tried: list[tuple[float, MospInstance, Solution]] = []
    share = TRY_SHARE
    for ratio in RATIOS:
        case = lowered(instance, scenarios, ratio * ceiling)
        found = solved(case, options, share, options.mip_rel_gap)
        share /= 1 - share  # of what is left: the same part of the whole for each
        if found.has_solution:
            tried.append((measured(instance, scenarios, found.schedule, risk), case, found))
            yield found, tried[-1][0]
    if not tried or min(value for value, _, _ in tried) >= known:
        return
    least, case, best = min(tried, key=lambda entry: entry[0])
    for number in range(1, AGAIN + 1):
        if best.status is Status.OPTIMAL or options.remaining <= 0:
            return
        other = replace(options, seed=options.seed + number)
        found = solved(case, other, 1 / (AGAIN + 1 - number), options.mip_rel_gap, best)
        value = measured(instance, scenarios, found.schedule, risk)
        if value < least:
            least, best = value, found
        yield found, value
