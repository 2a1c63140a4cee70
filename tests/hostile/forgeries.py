"""Forgeries: numbers of a sound solution changed, to a false claim; `check` must never believe it."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import carbonopt as co
from carbonopt.io.solution import solution_from_dict
from hostile.drawn import drawn
from hostile.found import Found, stream
from hostile.small import instance_of

TINY = Path(__file__).parents[2] / "instances" / "tiny"
VALUES = (
    0,
    -1,
    1,
    1e-320,
    -1e-9,
    1e12,
    1e300,
    -1e300,
    float("nan"),
    float("inf"),
    2**63,
    10**400,
    True,
    None,
    "x",
    [],
    {},
)
TOLERANCE = 1e-6
LARGEST = 1e200
DRAWN = 40
"""Instances that are drawn beside the shipped ones."""


@cache
def _sound() -> list[tuple[co.Instance, dict[str, Any], float | None]]:
    """Return instances with sound solutions of several methods, and the value of the best of these."""
    found = []
    for instance in [*map(co.read, sorted(TINY.glob("*.json"))), *_drawn()]:
        solutions = []
        for method in ("milp", "lp", "price"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    solution = co.solve(instance, method, time_limit=60)
            except (co.UnsupportedError, co.InputError):
                continue
            solutions.append(solution.to_dict())
        values = [solution["objective"] for solution in solutions if solution["objective"] is not None]
        best = None if not values else min(values) if instance.sense == "min" else max(values)
        found += [(instance, solution, best) for solution in solutions]
    return found


def _drawn() -> Iterator[co.Instance]:
    """Yield instances of shapes that none of the shipped ones has."""
    for seed in range(DRAWN):
        with suppress(co.InputError):
            yield instance_of(drawn(stream("shape", seed)))


def attempt(rng: random.Random) -> None:
    """Change one to three numbers of a solution file, and let `check` judge it.

    Raises
    ------
    Found
        If `check` accepts what is false, or ends otherwise than with its report or an error in words.
    """
    instance, sound, best = rng.choice(_sound())
    forged = json.loads(json.dumps(sound))
    for _ in range(rng.randint(1, 3)):
        _forge(rng, forged)
    try:
        report = co.check(instance, solution_from_dict(forged))
    except co.CarbonoptError:
        return
    except Exception as error:
        raise Found(f"check ends in {error!r}", instance=instance.to_dict(), solution=forged) from error
    words = None if report.violations else _believed(instance, best, forged, report)
    if words:
        raise Found(words, instance=instance.to_dict(), solution=forged)


def _forge(rng: random.Random, forged: dict[str, Any]) -> None:
    """Change one value somewhere in objective, bound, certificate, schedule or metrics."""
    part = rng.choice(["objective", "bound", "certificate", "certificate", "schedule", "schedule", "metrics", "status"])
    if part == "status":
        forged["status"] = rng.choice(["optimal", "infeasible", "feasible"])
        return
    if part == "certificate" and isinstance(forged[part], dict) and rng.random() < 0.2:
        forged[part]["kind"] = "farkas"  # prices of a bound never prove that there is no schedule
        return
    place, key = forged, part
    while isinstance(place[key], (dict, list)) and place[key] and (place is forged or rng.random() < 0.85):
        place = place[key]
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
    value = place[key]
    if isinstance(value, list) and rng.random() < 0.3:
        place[key] = value[:-1] if rng.random() < 0.5 else value + value[-1:]
    elif isinstance(value, (int, float)) and abs(value) < LARGEST and rng.random() < 0.5:
        place[key] = value * rng.choice([-1, 0.5, 1.001, 2, 1e6]) + rng.choice([0, 1e-3, 1])
    else:
        place[key] = rng.choice(VALUES)


def _believed(instance: co.Instance, best: float | None, forged: dict[str, Any], report: co.Report) -> str | None:
    """Return what false claim was accepted; None where what is left is true."""
    sign = 1.0 if instance.sense == "min" else -1.0
    if report.proven_infeasible and best is not None:
        return "a proof of infeasibility is accepted where a schedule exists"
    for name, bound in (("bound", forged["bound"] if forged["certificate"] else None), ("proof", report.proven_bound)):
        slack = TOLERANCE * max(1e-6, abs(best or 0.0))
        if best is not None and bound is not None and sign * (bound - best) > slack:
            return f"a {name} of {bound} is accepted beyond a schedule of {best}"
    told, found = forged["objective"], report.objective
    if told is not None and (found is None or abs(told - found) > TOLERANCE * max(1e-6, abs(found), abs(told))):
        return f"an objective of {told} is accepted, the schedule's is {found}"
    return None
