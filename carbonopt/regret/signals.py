"""Two signals side by side, such as average and marginal intensity: what a plan for one emits under the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.interval import Interval
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.evaluate import evaluate
from carbonopt.regret.least import Optima, cost_of
from carbonopt.regret.runs import require_schedule
from carbonopt.simulate import expected_of, simulate
from carbonopt.simulation import Policy
from carbonopt.solve import solve

if TYPE_CHECKING:
    import pandas as pd

OPTIMISED = "optimised"
"""What the plan of a method is called, beside those of policies."""
SIGNALS = ("own", "other")
COLUMNS = ("plan", "planned_for", "under", "carbon_kg", "lost_least_kg", "lost_most_kg")


def cross_regret(
    instance: Instance,
    other: CarbonSignal,
    policies: str | type[Policy] | Sequence[str | type[Policy]] = (),
    *,
    method: str = "auto",
    lengths: str = "mean",
    seed: int = 0,
    before: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> pd.DataFrame:
    """Plan for each of two signals, and measure each plan under both.

    Parameters
    ----------
    instance
        Its own signal is the first one.
    other
        The second one, of the same zones and slots.
    policies
        Beside the optimised plan; they see the signal that they plan for.
    method
        Of the optimised plan.
    lengths, seed
        Of `carbonopt.simulate`; the seed of `carbonopt.solve` too.
    before
        Called with what is about to run.
    **options
        Of `carbonopt.solve`.

    Returns
    -------
    DataFrame
        One row a plan, signal it was made for (``own``, ``other``) and signal it is measured under: its carbon [kg],
        and between what it lies above the least of any schedule under that signal. A plan for one signal loses that
        much by being for the wrong one where the row of the right one loses 0. After Ctrl-C, the plans that were
        made for both signals, with what is proven by then.

    Raises
    ------
    UnsupportedError
        If the other signal is of other zones or slots.
    """
    import pandas as pd

    named = [policies] if isinstance(policies, str | type) else policies
    instances = (instance, replace(instance, carbon=same_zones(instance.carbon, other)))
    runs: dict[tuple[str, str], list[Solution]] = {}
    options = {**options, "seed": seed}
    try:
        for name in (OPTIMISED, *named):
            for signal, case in zip(SIGNALS, instances, strict=True):
                label = name if isinstance(name, str) else name.__name__
                before(f"{label}, for the {signal} signal")
                if name == OPTIMISED:
                    plan = solve(case, method, **options)
                else:
                    plan = expected_of(case, simulate(case, name, lengths=lengths, seed=seed))
                runs[label, signal] = _under_both(plan, instances)
    except KeyboardInterrupt:
        if not runs:
            raise
    problem = problem_of(instance.problem)
    rows = []
    for place, (signal, case) in enumerate(zip(SIGNALS, instances, strict=True)):
        measured = [both[place] for both in runs.values()]
        least = _least(case, signal, measured, options, before)
        for (name, planned_for), run in zip(runs, measured, strict=True):
            carbon = cost_of(problem, run, "carbon")
            lost = least.below(carbon)
            rows.append((name, planned_for, signal, carbon, lost.least, lost.most))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _least(
    case: Instance,
    signal: str,
    measured: Sequence[Solution],
    options: dict[str, Any],
    before: Callable[[str], None],
) -> Interval:
    """Return between what the least carbon lies; after Ctrl-C nothing is proven of it."""
    before(f"least carbon under the {signal} signal")
    try:
        return Optima(case, options).least(measured, "carbon")
    except KeyboardInterrupt:
        return Interval(None, min(cost_of(problem_of(case.problem), run, "carbon") for run in measured))


def same_zones(own: CarbonSignal, other: CarbonSignal) -> CarbonSignal:
    """Return the zones of one signal in another; where both have one zone, their names may differ.

    Raises
    ------
    UnsupportedError
        If a zone is missing, or the slots differ.
    """
    if other.time != own.time:
        raise UnsupportedError(f"the other signal has {other.time}: must have the slots of the instance, {own.time}")
    if len(own.zones) == len(other.zones) == 1:
        rows = [0]
    else:
        rows = [other.index(zone) for zone in own.zones]
    return replace(other, zones=own.zones, g_per_kwh=other.g_per_kwh[rows], labels={})


def _under_both(plan: Solution, instances: Sequence[Instance]) -> list[Solution]:
    """Return a plan as the checker sees it under each signal."""
    require_schedule(plan)
    return [replace(evaluate(case, plan.columns, info=plan.info), info=plan.info) for case in instances]
