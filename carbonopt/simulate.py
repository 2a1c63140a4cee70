"""`simulate` an online policy: decisions made without knowing what comes, checked like every schedule."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from carbonopt.check import report_on
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import UnsupportedError, shown
from carbonopt.core.instance import Instance
from carbonopt.core.ranges import require_number
from carbonopt.core.registry import Problem, problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.time import TimeGrid
from carbonopt.forecasts import ForecastArchive, read_archive
from carbonopt.judge import Run, judged
from carbonopt.simulation import (
    Forecast,
    ForecastModel,
    Policy,
    SignalForecast,
    SimulationProgress,
    load_policy,
    make_policy,
    parse_forecast,
)
from carbonopt.simulation.load import is_file_reference
from carbonopt.simulation.options import SimulationOptions

ForecastLike = str | os.PathLike[str] | Forecast | ForecastArchive | ForecastModel | CarbonSignal | None
"""What `simulate` takes as a forecast."""


def simulate(
    instance: Instance,
    policy: str | Policy | type[Policy] = "carbon-time",
    *,
    mode: str = "paper",
    lengths: str = "mean",
    arrivals: str = "online",
    forecast: ForecastLike | Mapping[str, ForecastLike] = None,
    seed: int = 0,
    past: Instance | None = None,
    knowledge: str | os.PathLike[str] | None = None,
    callback: Callable[[SimulationProgress], None] | None = None,
    **changes: Any,
) -> Solution:
    """Simulate an online policy on an instance.

    Parameters
    ----------
    instance
        The instance.
    policy
        A name of the instance's problem, a class in a file (``my_policy.py:MyPolicy``), or a
        `carbonopt.simulation.Policy`.
    mode
        ``paper``: as the text of the policy's paper says. ``artifact``: as its authors' code does, with
        its accounting, where the problem has that.
    lengths
        What policies know of run times: ``mean``, that of the job's class, or ``true``.
    arrivals
        ``online``: policies know a job from its arrival on. ``known``: those that can use it know all jobs from the
        beginning.
    forecast
        What policies know of the carbon signal: None for all of it; a text that
        `carbonopt.simulation.parse_forecast` takes (``error=0.2,window=48``), or a file that
        `carbonopt.forecasts.read_archive` reads; an archive, of which policies see the mean of the members;
        a signal that stands as forecast; an object of `carbonopt.simulation`; or one of these for each zone.
    seed
        Of evictions, of forecast errors, and of what the policy draws at random.
    past
        An instance that ended before, whose statistics the policy knows; a policy that learns, learns from it.
    knowledge
        A file of what was learned before (`carbonopt learn`); then `past` gives the statistics alone.
    callback
        Called with `SimulationProgress` a few times a second.
    **changes
        Fields of the instance to replace first, e.g. ``reserved_cpus=9``: the solution is then one of the
        changed instance.

    Returns
    -------
    Solution
        Re-evaluated by the problem's checker; ``feasible``, or after Ctrl-C ``interrupted`` without a
        schedule, what was simulated so far in ``info["partial"]``.

    Raises
    ------
    UnsupportedError
        If the problem has no such policy, mode or field.
    RefusedError
        If the instance has an optional constraint that the policy does not respect.
    PolicyError
        If a policy of the user's own cannot be loaded or fails; with its traceback, and in `log` what was
        simulated until then.
    InputError
        If the forecast is no forecast of the instance's signal.
    """
    began = time.perf_counter()
    problem = problem_of(instance.problem)
    run = problem.role("simulate")
    require_number("seed", seed, least=0, whole=True)
    if changes:
        instance = _changed(instance, changes)
    chosen, label = policy_of(problem, policy)
    if isinstance(policy, str) and not is_file_reference(policy):
        problem.require_respect("policy", policy.partition(":")[0], instance)
    before = _told_before(problem, chosen, past, knowledge)
    forecasts = forecasts_of(instance, forecast, seed)
    options = SimulationOptions(next(iter(forecasts.values())), mode, lengths, arrivals, seed, callback, forecasts)
    outcome = run(instance, chosen, options)
    told = {**outcome.info, **before, "policy": label, **options.to_dict()}
    made = Run(f"simulate:{label}", options.to_dict(), time.perf_counter() - began)
    return judged(instance, replace(outcome, info=told), made)


def policies_of(instance: Instance) -> tuple[str, ...]:
    """Return the problem's policies that the instance has what they need for, e.g. spot CPUs."""
    problem = problem_of(instance.problem)
    names = tuple(name for name, entry in problem.policies.items() if entry.is_for(instance))
    if "applicable" not in problem.roles:
        return names
    applies = problem.role("applicable")
    return tuple(name for name in names if applies(instance, make_policy(problem, name)))


def expected_of(instance: Instance, solution: Solution) -> Solution:
    """Return what a policy decided with its expected amounts, where chance had a part in what came of it."""
    problem = problem_of(instance.problem)
    if "expected" not in problem.roles or not solution.has_solution:
        return solution
    columns, info = problem.role("expected")(instance, solution)
    report = report_on(instance, columns, info)
    return replace(solution, columns=columns, info=info, metrics=report.metrics, objective=report.objective)


def policy_of(problem: Problem, policy: str | Policy | type[Policy]) -> tuple[Any, str]:
    """Return a policy by name, file, class or object, and what solutions call it."""
    if isinstance(policy, str):
        return load_policy(policy) if is_file_reference(policy) else make_policy(problem, policy), policy
    made = policy() if isinstance(policy, type) else policy
    if not isinstance(made, Policy):
        raise UnsupportedError(
            f"policy {shown(policy)}: must be a name, a file's own, or a carbonopt.simulation.Policy"
        )
    return made, made.name


def _told_before(
    problem: Problem, policy: Any, past: Instance | None, knowledge: str | os.PathLike[str] | None
) -> dict[str, str]:
    """Tell the policy what came before, and return what the solution says of it."""
    if past is None and knowledge is None:
        return {}
    if "inform" not in problem.roles:
        raise UnsupportedError(f"no policy of {problem.name} is told of a past")
    if past is not None and past.problem != problem.name:
        raise UnsupportedError(f"the past {past.name} is of {past.problem}, not of {problem.name}")
    problem.role("inform")(policy, past, knowledge)
    told = {"past": None if past is None else past.name, "knowledge": knowledge}
    return {key: os.fspath(value) for key, value in told.items() if value is not None}


def _changed(instance: Instance, changes: dict[str, Any]) -> Instance:
    try:
        return replace(instance, **changes)
    except TypeError:
        raise UnsupportedError(f"{', '.join(changes)}: not all of these are fields of the instance") from None


def forecasts_of(instance: Instance, forecast: Any, seed: int) -> dict[str, Forecast]:
    """Return what policies see of the instance's zone, or of each of its zones where it uses all of them.

    Parameters
    ----------
    instance
        The instance.
    forecast, seed
        As `simulate` takes them.
    """
    parts = (instance, getattr(instance, "cluster", None))
    own = next((zone for part in parts if (zone := getattr(part, "zone", None)) is not None), None)
    zones = instance.carbon.zones if own is None else (own,)
    if isinstance(forecast, Mapping):
        missing = [zone for zone in zones if zone not in forecast]
        if missing:
            raise UnsupportedError(f"the forecasts have no zone {missing[0]!r}")
        return {zone: _forecast(instance, forecast[zone], zone, seed) for zone in zones}
    if isinstance(forecast, Forecast | ForecastArchive) and len(zones) > 1:
        raise UnsupportedError(f"one forecast for {len(zones)} zones: give a mapping from zones to forecasts")
    return {zone: _forecast(instance, forecast, zone, seed) for zone in zones}


def _forecast(instance: Instance, forecast: Any, zone: str, seed: int) -> Forecast:
    if isinstance(forecast, Forecast):
        return forecast
    grid = instance.time
    if isinstance(forecast, ForecastArchive):
        _require_archive_of(forecast, zone, grid)
        return forecast.forecast()
    number = instance.carbon.index(zone)
    if isinstance(forecast, CarbonSignal):
        values = forecast.g_per_kwh[forecast.index(zone)]
        if len(values) != grid.slots:
            raise UnsupportedError(f"the forecast has {len(values)} slots, the instance's signal {grid.slots}")
        return SignalForecast(values, grid.slot_hours, kind="signal")
    model = ForecastModel() if forecast is None else forecast
    if not isinstance(model, ForecastModel):
        model = parse_forecast(os.fspath(model))
    if model.file is not None:
        return read_archive(model.file, time=grid, zone=zone).forecast(window_hours=model.window_hours)
    return model.of(instance.carbon.g_per_kwh[number], grid.slot_hours, (seed, number))


def _require_archive_of(archive: ForecastArchive, zone: str, grid: TimeGrid) -> None:
    if archive.zone not in ("", zone):
        raise UnsupportedError(f"the forecasts are of zone {archive.zone!r}: must be of {zone!r}")
    if archive.time != grid:
        raise UnsupportedError(f"the forecasts are of {archive.time}: must be of the instance's slots, {grid}")
