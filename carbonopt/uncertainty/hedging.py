"""From the plan of one signal to one of less risk: annealing by the risk itself, for `mosp`."""

from __future__ import annotations

import numpy as np

from carbonopt.core.instance import Instance
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution
from carbonopt.evaluate import evaluate
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.methods.price.hedge import Begin, RiskSignals, hedge
from carbonopt.uncertainty.costs import measured, objectives_of, rises_of
from carbonopt.uncertainty.measures import Budget, CVaR, Expectation
from carbonopt.uncertainty.scenarios import Scenarios


def hedged(
    instance: Instance,
    scenarios: Scenarios,
    risk: CVaR | Budget,
    found: Solution,
    proof: Solution,
    mix: Instance,
    options: Options,
) -> Solution | None:
    """Return a plan of less risk than the one that was found; None where none is sought.

    It is sought where capacity alone binds, and where slot prices have proven the bound of the instance `mix`, which
    has one signal: `proof` is the answer for it.
    """
    certificate = proof.certificate or {}
    if not isinstance(mix, MospInstance) or certificate.get("kind") != "lagrangian" or mix.constraints:
        return None
    begin, signals = _begin(instance, scenarios, risk, found)
    assert proof.bound is not None
    goal = proof.bound / (1 - options.mip_rel_gap) if options.mip_rel_gap < 1 else np.inf
    schedule = hedge(mix, np.array(certificate["prices"]), begin, signals, goal, options)
    return evaluate(scenarios.instance(instance), schedule)


def _begin(instance: Instance, scenarios: Scenarios, risk: CVaR | Budget, found: Solution) -> tuple[Begin, RiskSignals]:
    """Return where to begin, and the signals of the risk; see `carbonopt.uncertainty.signals`."""
    assert found.columns is not None
    if isinstance(risk, Budget):
        rise = scenarios.rise
        expected = measured(instance, scenarios, found.schedule, Expectation())
        added = rises_of(instance, scenarios, found.schedule).ravel()
        signals = RiskSignals(scenarios.mean, rise, np.ones(rise.size), risk.pairs)
        return Begin(found.columns, expected, added), signals
    most = scenarios.weights / (1 - risk.level)
    signals = RiskSignals(np.zeros_like(scenarios.mean), scenarios.g_per_kwh, most, 1.0)
    return Begin(found.columns, 0.0, objectives_of(instance, scenarios, found.schedule)), signals
