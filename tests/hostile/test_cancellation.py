"""Certificates whose sums cancel, overflow or vanish: no choice of prices proves more than is so.

Weak duality holds for every price. So prices of 1e15 that cancel, denormals and equal huge rows must lower a bound, and
rounding must never raise it above the best schedule.
"""

import random
from functools import cache

import numpy as np
import pytest
from conftest import TINY

import carbonopt as co
from carbonopt.check import recheck_certificate
from carbonopt.io.solution import solution_from_dict

NAMES = [
    "crowd", "reject", "caspian", "resources", "lastunit_5_4", "lastunit_fluid_3p5_3p5", "network", "gpuqueue",
    "jctbudget", "reservedpulls_3", "spotpays_0p7585", "limitspot_1p7585", "suspendresume_3", "stayson",
    "negativeprice",
]  # fmt: skip
LARGE = 1e15
SPREAD = (0.0, -0.0, 5e-324, 1e-308, 1e-17, 0.125, LARGE, LARGE + 0.125, 9e15, 1e22, 1e30)
DRAWS = 20
NO_PRICES = ("bound", "cells", "kind", "sets", "most", "set")


@cache
def claims(name):
    """Return an instance, what its methods claim, and its best schedule's objective."""
    instance = co.read(TINY[name])
    found = [co.solve(instance, method, time_limit=None) for method in ("milp", "lp", "price")]
    best = min(sign_of(instance) * s.objective for s in found if s.objective is not None)
    return instance, [s.to_dict() for s in found if s.certificate is not None], best


def sign_of(instance):
    return 1.0 if instance.sense == "min" else -1.0


def changed(part, change):
    """Return a certificate with `change` of each list of its prices, and of each price that stands alone."""
    if isinstance(part, dict):
        return {key: value if key in NO_PRICES else changed(value, change) for key, value in part.items()}
    if isinstance(part, list) and part and all(isinstance(value, (int, float)) for value in part):
        return [float(value) for value in change(np.array(part, dtype=float))]
    if isinstance(part, list):
        return [changed(value, change) for value in part]
    return float(change(np.array([part], dtype=float))[0]) if isinstance(part, float) else part


def attacks(rng):
    """Yield ways to change prices."""
    yield lambda values: values + LARGE
    yield lambda values: values * LARGE
    yield lambda values: np.full(len(values), LARGE + 0.125)
    yield lambda values: np.full(len(values), 1e30)
    yield lambda values: np.full(len(values), 5e-324)
    yield lambda values: -0.0 * values
    yield lambda values: np.nextafter(values, np.inf)
    yield lambda values: np.where(np.arange(len(values)) % 2, values + LARGE, values)
    for _ in range(DRAWS):
        yield lambda values: np.array([rng.choice(SPREAD) for _ in values])
        yield lambda values: np.array([value + rng.choice(SPREAD) for value in values])
        yield lambda values: np.array([value * rng.choice((1.0, 1 + 1e-15, 2.0, 1e-300, 1e15)) for value in values])


@pytest.mark.parametrize("name", NAMES)
def test_no_prices_prove_more_than_is_so(name):
    instance, files, best = claims(name)
    assert files
    rng = random.Random(name)
    slack = 1e-9 * abs(best)
    tried = 0
    for file in files:
        for change in attacks(rng):
            for kind in (file["certificate"]["kind"], "farkas"):
                forged = {**file, "certificate": {**changed(file["certificate"], change), "kind": kind}}
                with np.errstate(all="ignore"):
                    proven, _, _ = recheck_certificate(instance, solution_from_dict(forged))
                tried += proven is not None
                assert proven is None or sign_of(instance) * proven <= best + slack, (change, proven, best)
    assert tried
