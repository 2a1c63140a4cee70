"""Online policies as methods, so that `compare` shows them beside methods that know the future."""

from __future__ import annotations

from carbonopt.core.options import Options
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mlcluster import PROBLEM
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.online.run import simulate
from carbonopt.problems.mlcluster.verify.check import check
from carbonopt.simulation import ForecastModel, make_policy
from carbonopt.simulation.options import SimulationOptions


def simulated(instance: MlClusterInstance, options: Options, policy: str) -> Outcome:
    """Run a policy as a method: what it cannot end by the horizon, or within the budget, is no schedule."""
    forecast = ForecastModel().of(instance.intensity, instance.time.slot_hours)
    outcome = simulate(instance, make_policy(PROBLEM, policy), SimulationOptions(forecast, seed=options.seed))
    if outcome.schedule is None:
        return outcome
    violations = check(instance, outcome.schedule).violations
    if violations:
        info = {"left_out": [str(violation) for violation in violations], "simulated": outcome.schedule}
        return Outcome(Status.UNKNOWN, info=info)
    return outcome
