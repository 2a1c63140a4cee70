"""The checker of purchasing: imports no solver, no formulation, no heuristic and no policy.

Every constraint and every quantity is evaluated from the instance and the columns of the schedule alone: when each job
runs, and on which CPUs. `accounts` has the quantities, `check_artifact` the terms of the authors' simulator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray
from carbonopt.core.errors import one_of, shown
from carbonopt.core.report import Report, Violation
from carbonopt.problems.purchasing.data.instance import MODELS, ROUNDING, ROUNDING_HOURS, PurchasingInstance
from carbonopt.problems.purchasing.data.purchase_options import OPTIONS, RESERVED, SHARED, SPOT
from carbonopt.problems.purchasing.verify.accounts import (
    CheckTerms,
    Rows,
    evaluate,
    evicted,
    load_of,
    snapped,
    work_hours,
)
from carbonopt.problems.purchasing.verify.check_artifact import artifact_terms, off_tick, on_ticks

COLUMNS = ("job", "start_hours", "end_hours", "option")
"""Columns of a schedule."""
SHOWN_JOBS = 5
"""Jobs that a message names, at most."""
LOOSENESS = {"no-split": 0, "splitting": 1, "suspend-resume": 2}
"""Rank of each model: what one allows, those of a higher rank allow too."""
INFO = {"accounting": ("paper", "artifact"), "evictions": ("expected", "realised"), "model": MODELS}
"""What a solution's info may say of how it is to be checked."""


def check(instance: PurchasingInstance, schedule: dict[str, Any], info: dict[str, Any] | None = None) -> Report:
    """Check a schedule and evaluate it.

    Parameters
    ----------
    instance
        The instance that the schedule is for.
    schedule
        Columns ``job`` (names), ``start_hours``, ``end_hours`` and ``option``; one row a piece of a run, in which all
        CPUs of the job are ``reserved``, ``on-demand`` or ``spot``, or ``shared``: reserved as far as they are free.
    info
        ``reserved_cpus`` where the instance leaves them open. Of a simulation: ``model`` that it was made under,
        ``evictions`` (``expected`` or ``realised``), ``accounting`` (``paper`` or ``artifact``), and
        ``startup_hours`` that a run on on-demand or spot CPUs takes before the job begins.

    Returns
    -------
    Report
        Every violated constraint, the objective, and the metrics of `accounts.evaluate`. What is paid in advance is
        part of the objective only where the reserved CPUs are decided.
    """
    faults, terms = _terms(instance, info or {})
    if set(schedule) != set(COLUMNS) or len({len(column) for column in schedule.values()}) != 1:
        found = ", ".join(f"{name} ({len(column)} rows)" for name, column in schedule.items()) or "none"
        message = f"the schedule must have the columns {', '.join(COLUMNS)}, all of one length; it has {found}"
        faults.append(Violation("format", message))
    if terms is None or faults:
        return Report(tuple(faults), None)
    violations, rows = _parse(instance, schedule)
    if terms.artifact:
        violations += _named(instance, rows, off_tick(rows), "tick", "does not start and end at whole ticks of 5 s")
        rows = on_ticks(rows)
    violations += _options(instance, terms, rows)
    violations += _pieces(instance, terms, rows)
    violations += _windows(instance, terms, rows)
    violations += _reserved(instance, terms, rows)
    metrics = evaluate(instance, terms, snapped(terms, rows))
    violations += _limits(instance, metrics)
    other = _incomparable(instance, terms)
    return Report(tuple(violations), _objective(instance, metrics), metrics, incomparable=other)


def _incomparable(instance: PurchasingInstance, terms: CheckTerms) -> str:
    """Return in which way a schedule is held to other rules than those that bounds are proven for."""
    if terms.artifact:
        return "it is accounted for as the authors' simulator does"
    if LOOSENESS[terms.model] > LOOSENESS[instance.model]:
        return f"it keeps to the model {terms.model!r}, which is looser than the instance's"
    if terms.startup_hours:
        return f"its instances take {terms.startup_hours:g} h to start"
    return "its evictions are drawn at random and have happened" if terms.realised else ""


def _terms(instance: PurchasingInstance, info: dict[str, Any]) -> tuple[list[Violation], CheckTerms | None]:
    """Return what the schedule is held to, and what is wrong with what it says of itself."""
    told = {key: info.get(key, default) for key, default in _defaults(instance).items()}
    faults = [
        Violation("format", f"the solution's info.{key} must be {one_of(INFO[key])}, not {shown(value)}")
        for key, value in told.items()
        if value not in INFO[key]
    ]
    reserved = instance.reserved_cpus if instance.reserved_cpus is not None else info.get("reserved_cpus")
    if not _is_whole(reserved):
        words = f"the solution's info.reserved_cpus must be a whole number, at least 0, not {shown(reserved)}"
        faults.append(Violation("format", words))
    startup = info.get("startup_hours", 0.0)
    if not _is_number(startup) or not 0 <= startup < np.inf:
        words = f"the solution's info.startup_hours must be finite and at least 0, not {shown(startup)}"
        faults.append(Violation("format", words))
    elif startup and told["accounting"] == "artifact":
        words = f"the solution's info.startup_hours must be 0 in the authors' accounting, not {shown(startup)}"
        faults.append(Violation("format", words))
    if faults or reserved is None:
        return faults, None
    if told["accounting"] == "artifact":
        return [], artifact_terms(instance, told["model"], int(reserved))
    jobs, realised = instance.jobs, told["evictions"] == "realised"
    limit = instance.max_wait_hours
    return [], CheckTerms(
        jobs.arrival_hours,
        jobs.length_hours,
        limit,
        told["model"],
        int(reserved),
        realised,
        startup_hours=float(startup),
    )


def _defaults(instance: PurchasingInstance) -> dict[str, str]:
    return {"accounting": "paper", "evictions": "expected", "model": instance.model}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer)) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and 0 <= value < 2**53 and value == int(value)


def _parse(instance: PurchasingInstance, schedule: dict[str, Any]) -> tuple[list[Violation], Rows]:
    """Turn names into numbers; rows that are no decision are violations and are left out."""
    index = {name: i for i, name in enumerate(instance.jobs.name)}
    codes = {name: code for code, name in enumerate(OPTIONS)}
    job, option = (
        np.array([known.get(name, -1) if isinstance(name, str) else -1 for name in schedule[column]], dtype=np.int64)
        for known, column in ((index, "job"), (codes, "option"))
    )
    start, end = _finite(schedule["start_hours"]), _finite(schedule["end_hours"])
    good = (job >= 0) & (option >= 0) & (end > start)  # also refuses NaN
    violations = []
    for row in np.flatnonzero(~good):
        name, moments = schedule["job"][row], (schedule["start_hours"][row], schedule["end_hours"][row])
        if job[row] < 0:
            fault = f"row {row} names an unknown job {shown(name)}"
        elif option[row] < 0:
            fault = f"job {name!r} has the option {shown(schedule['option'][row])}: must be {one_of(OPTIONS)}"
        else:
            fault = f"job {name!r} runs from {shown(moments[0])} to {shown(moments[1])}: must be finite, in order"
        violations.append(Violation("format", fault, job=str(name)))
    return violations, Rows(job[good], start[good], end[good], option[good]).sorted()


def _finite(values: Any) -> FloatArray:
    """Return finite numbers as they are, and everything else as NaN."""
    kinds = set(map(type, values))
    if not kinds <= {float, int}:
        values = [v if isinstance(v, (int, float, np.number)) and not isinstance(v, bool) else np.nan for v in values]
    try:
        numbers = np.array(values, dtype=np.float64)
    except OverflowError:  # a whole number that no double holds
        numbers = np.array([float(v) if abs(v) < 2**53 else np.nan for v in values])
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _named(
    instance: PurchasingInstance, rows: Rows, wrong: BoolArray, constraint: str, text: str, amount: Any = 1.0
) -> Iterator[Violation]:
    """Yield a violation for each wrong row."""
    amounts = np.broadcast_to(amount, wrong.shape)
    for row in np.flatnonzero(wrong):
        name, start = instance.jobs.name[rows.job[row]], float(rows.start[row])
        where = f"job {name!r} at {start:.9g} h"
        yield Violation(constraint, f"{where} {text}", float(amounts[row]), job=name, slot=_slot(instance, start))


def _slot(instance: PurchasingInstance, moment: float) -> int:
    return int(np.clip(moment // instance.time.slot_hours, 0, instance.time.slots - 1))


def _options(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> Iterator[Violation]:
    """Only options that the model and the job's length allow."""
    if terms.model == "no-split":
        text = "shares the reserved CPUs: in the model 'no-split' a job has them for all of itself, or none"
        yield from _named(instance, rows, rows.option == SHARED, "option", text)
    spot = rows.option == SPOT
    if instance.spot is None:
        yield from _named(instance, rows, spot, "spot", "runs on spot CPUs, which are not offered")
    else:
        longest = instance.spot.max_length_hours
        short = instance.spot_allowed[rows.job]
        if terms.artifact:  # the simulator bills each piece by its own length
            short |= rows.end - rows.start <= longest
        text = f"runs on spot CPUs, which take jobs of up to {longest:g} h"
        yield from _named(instance, rows, spot & ~short, "spot", text)


def _pieces(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> Iterator[Violation]:
    """Every job does its length, in one piece unless the model or an eviction breaks it."""
    names, count = instance.jobs.name, np.bincount(rows.job, minlength=len(terms.length))
    done = np.bincount(rows.job, work_hours(terms, rows), len(count))
    restarted = evicted(terms, rows)
    for j in np.flatnonzero((count == 0) & (terms.length > 0)):
        yield Violation("placement", f"job {names[j]!r} does not run", job=names[j])
    on_spot = np.bincount(rows.job, rows.option == SPOT, len(count)) > 0
    whole = on_spot & (not terms.artifact) | (terms.model != "suspend-resume")
    for j in np.flatnonzero(whole & (count > 1) & ~restarted):
        if on_spot[j]:
            rule = "a run on spot CPUs is one piece, and after an eviction one more at once, off spot CPUs, as long"
        else:
            rule = f"the model {terms.model!r} runs jobs without a break"
        text = f"job {names[j]!r} runs in {count[j]} pieces: {rule}"
        yield Violation("eviction" if on_spot[j] and terms.realised else "suspension", text, count[j] - 1.0, names[j])
    for j in np.flatnonzero((count > 0) & ~restarted & (np.abs(done - terms.length) > ROUNDING_HOURS)):
        text = f"job {names[j]!r} runs {done[j]:.9g} h, its length is {terms.length[j]:.9g} h"
        yield Violation("work", text, float(abs(done[j] - terms.length[j])), job=names[j])
    if terms.realised and (instance.spot is None or instance.spot.evictions_per_hour == 0):
        for j in np.flatnonzero(restarted):
            yield Violation("eviction", f"job {names[j]!r} is evicted, and no one is here", job=names[j])
    over = np.where(rows.first, 0.0, np.roll(rows.end, 1) - rows.start)
    yield from _named(instance, rows, over > ROUNDING_HOURS, "overlap", "runs twice at once", over)


def _windows(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> Iterator[Violation]:
    """Jobs run after their arrival, wait at most W, and end before the signal does."""
    arrival, first, last = terms.arrival[rows.job], rows.first, rows.last
    early = arrival - rows.start
    yield from _named(instance, rows, early > ROUNDING_HOURS, "release", "runs before its arrival", early)
    latest_start = arrival + terms.max_wait[rows.job]
    on_spot = (rows.option == SPOT) & (not terms.artifact)
    if terms.model == "suspend-resume":
        latest_end = latest_start + terms.length[rows.job]
        restarted = evicted(terms, rows)[rows.job]
        late = np.where(last & ~restarted & ~on_spot, rows.end - latest_end, 0.0)
        late = np.where(first & on_spot, rows.start - latest_start, late)
    else:
        late = np.where(first, rows.start - latest_start, 0.0)
    yield from _named(instance, rows, late > ROUNDING_HOURS, "wait", "waits longer than it may", late)
    over = rows.end - instance.time.hours
    slack = ROUNDING_HOURS + ROUNDING * instance.time.hours  # an instance may exceed its signal by rounding
    yield from _named(instance, rows, over > slack, "horizon", "ends after the carbon signal", over)


def _reserved(instance: PurchasingInstance, terms: CheckTerms, rows: Rows) -> Iterator[Violation]:
    """Reserved rows never take more than R CPUs; runs may touch for the allowance."""
    start, end = rows.start + ROUNDING_HOURS, rows.end - ROUNDING_HOURS
    kept = (rows.option == RESERVED) & (start < end)
    moment, load = load_of(start[kept], end[kept], instance.jobs.cpus[rows.job[kept]])
    above = load > terms.reserved * (1 + ROUNDING)
    above[-1:] = False  # after the last end nothing runs, but for what rounding leaves of sums
    edges = np.flatnonzero(np.diff(np.concatenate([[False], above, [False]])))
    for one, two in zip(edges[::2], edges[1::2], strict=True):
        peak = one + int(np.argmax(load[one:two]))
        when, excess = float(moment[peak]), float(load[peak] - terms.reserved)
        users = np.unique(rows.job[kept & (start <= when) & (when < end)])
        named = ", ".join(instance.jobs.name[i] for i in users[:SHOWN_JOBS])
        more = f" and {len(users) - SHOWN_JOBS} more" if len(users) > SHOWN_JOBS else ""
        span = f"from {moment[one]:.9g} h to {moment[two]:.9g} h"
        text = f"jobs {named}{more} use up to {load[peak]:g} reserved CPUs {span}, {terms.reserved} are there"
        yield Violation("reserved", text, excess, slot=_slot(instance, when))


def _limits(instance: PurchasingInstance, metrics: dict[str, Any]) -> Iterator[Violation]:
    """Yield the limits (epsilon-constraints) that are exceeded."""
    for key, limit in vars(instance.limits).items():
        allowance = ROUNDING if key == "mean_wait_hours" else 0.0
        if limit is not None and metrics[key] > limit * (1 + ROUNDING) + allowance:
            text = f"{key} = {metrics[key]:.9g} is above its limit {limit:.9g}"
            yield Violation("limit", text, metrics[key] - limit)


def _objective(instance: PurchasingInstance, metrics: dict[str, Any]) -> float:
    weights = instance.weights
    decided = metrics["prepaid_usd"] if instance.reserved_cpus is None else 0.0
    cost = weights.cost_usd * (metrics["usage_usd"] + decided)
    return float(weights.carbon_kg * metrics["carbon_kg"] + cost + weights.wait_hours * metrics["wait_hours"])
