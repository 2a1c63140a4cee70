"""Tiny instances of mosp under three signals."""

from __future__ import annotations

from typing import Any

import numpy as np
from conftest import ROOT, load_module


def random_case(seed: int) -> tuple[dict[str, Any], list[list[list[float]]]]:
    single = load_module(ROOT / "tests" / "reference" / "brute_force.py")
    raw = single.random_instance(seed, "carbon", jobs=3, clusters=2, slots=5)
    rng = np.random.default_rng(seed)
    base = np.array(raw["carbon"]["g_per_kwh"])
    return raw, np.round(base * rng.uniform(0.3, 1.7, (3, *base.shape)), 1).tolist()
