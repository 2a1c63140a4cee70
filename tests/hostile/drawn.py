"""Random small instances with known optima, and twists that make them extreme."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any

from hostile import shapes

REFERENCE = Path(__file__).parents[1] / "reference"
NAMES = (
    "\x1b[31mred\x1b]0;t\x07",
    "../../up",
    "a\0b",
    "=cmd|'/c'!A1",
    "<script>x</script>",
    "$x_{",
    "\u202eabc",
    "é 名",
)
"""Names that are harmful where a terminal, a path, a table or a page takes them as they are."""


def _reference(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REFERENCE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MOSP, ELASTIC = _reference("brute_force"), _reference("brute_force_elastic")
MLCLUSTER, PURCHASING = _reference("brute_force_mlcluster"), _reference("brute_force_purchasing")
ECAS = _reference("brute_force_ecas")
REFERENCES = {"mosp": MOSP, "elastic": ELASTIC, "mlcluster": MLCLUSTER, "purchasing": PURCHASING, "ecas": ECAS}
EXACT = ("mosp", "elastic", "ecas")
"""Problems of which brute force sees every schedule."""
MAGNITUDES = (0.0, 1e-9, 1e-3, 1.0, 1e3, 1e6, 1e12)


def drawn(rng: random.Random) -> dict[str, Any]:
    """Return the content of an instance file of any problem, twisted or not."""
    seed = rng.randrange(10**6)
    raw = rng.choice([_mosp, _elastic, _mlcluster, _purchasing, _ecas])(rng, seed)
    for twist in rng.sample(TWISTS, rng.randrange(3)):
        twist(rng, raw)
    return raw


def _mosp(rng: random.Random, seed: int) -> dict[str, Any]:
    raw: dict[str, Any] = MOSP.random_instance(
        seed, rng.choice(["carbon", "caspian"]), jobs=rng.randint(1, 4), clusters=2
    )
    if raw["objective"]["kind"] == "caspian":
        raw["objective"]["normalizers"] = {name: rng.choice([1.0, 7.0, 1e-9, 1e9]) for name in ("z1", "z2", "z3")}
    else:
        if rng.random() < 0.3:
            raw["objective"]["rejection_price"] = 0
        for shape in rng.sample(shapes.MOSP_SHAPES, rng.randrange(3)):
            shape(rng, raw)
        if len(raw["jobs"]["name"]) <= 2 and rng.random() < 0.5:
            shapes.limited(rng, raw)
    return raw


def _elastic(rng: random.Random, seed: int) -> dict[str, Any]:
    kind = rng.choice(["unit", "decreasing", "general", "switching"])
    raw: dict[str, Any] = ELASTIC.random_instance(seed, kind, jobs=rng.randint(1, 3), slots=rng.randint(1, 4))
    return raw


def _mlcluster(rng: random.Random, seed: int) -> dict[str, Any]:
    raw: dict[str, Any] = MLCLUSTER.random_instance(seed, rng.choice(MLCLUSTER.KINDS), jobs=rng.randint(1, 2), slots=4)
    profile = raw["profiles"]["p"]
    if len(profile["throughput"]) > 1 and rng.random() < 0.3:  # more GPUs do less, for no more power
        profile["throughput"][1] = rng.choice([0.7, 0.9, 1.0])
        profile["watts"][1] = rng.choice([1.0, 1.5]) * profile["watts"][0]
    return raw


def _purchasing(rng: random.Random, seed: int) -> dict[str, Any]:
    raw: dict[str, Any] = PURCHASING.random_instance(
        seed, rng.choice(PURCHASING.KINDS), jobs=rng.randint(1, 2), slots=10
    )
    return raw


def _ecas(rng: random.Random, seed: int) -> dict[str, Any]:
    slots = rng.randint(3, 5)
    raw: dict[str, Any] = ECAS.random_instance(seed, rng.choice(ECAS.KINDS), jobs=rng.randint(1, 3), slots=slots)
    if rng.random() < 0.2:
        raw["price_per_kwh"] = [-1.0] * slots  # who runs is paid for it
    return raw


def _exact_fit(rng: random.Random, raw: dict[str, Any]) -> None:
    """Let capacity be what one job uses, or what all do."""
    if raw["problem"] == "ecas":
        for resource, use in raw["jobs"]["use"].items():
            raw["machines"]["capacity"][resource] = [rng.choice([max(use, default=0), sum(use)]) for _ in range(2)]


def _scales(rng: random.Random, raw: dict[str, Any]) -> None:
    """Mix magnitudes in a column of numbers, or change that of a single one."""
    *owners, name = rng.choice(SCALED[raw["problem"]])
    place = raw
    for owner in owners:
        place = next(iter(place.values())) if owner == "*" else place[owner]
    value = place.get(name)
    if isinstance(value, list):
        place[name] = [each * rng.choice(MAGNITUDES) for each in value]
    elif isinstance(value, (int, float)):
        place[name] = value * rng.choice(MAGNITUDES)


SCALED: dict[str, list[tuple[str, ...]]] = {
    "mosp": [("jobs", "power_kw"), ("objective", "rejection_price")],
    "elastic": [("profiles", "*", "marginal_watts"), ("objective", "switching_g_per_server")],
    "mlcluster": [("profiles", "*", "watts"), ("cluster", "idle_watts_per_gpu")],
    "purchasing": [("watts_per_cpu",), ("prices", "on_demand_usd_per_cpu_hour")],
    "ecas": [("price_per_kwh",), ("machines", "idle_kw"), ("machines", "up_cost"), ("jobs", "power_kw")],
}
"""Where `_scales` finds what it scales, by problem: numbers that brute force takes at any size."""


def _carbon(rng: random.Random, raw: dict[str, Any]) -> None:
    factor = rng.choice([0.0, 1e-9, 1e6, 1e12])
    raw["carbon"]["g_per_kwh"] = [[factor * value for value in row] for row in raw["carbon"]["g_per_kwh"]]


def _equal_jobs(_rng: random.Random, raw: dict[str, Any]) -> None:
    for name, column in raw["jobs"].items():
        if name != "name" and isinstance(column, list) and column:
            raw["jobs"][name] = [column[0]] * len(column)


def _weights(rng: random.Random, raw: dict[str, Any]) -> None:
    weights = raw.get("objective", {}).get("weights") or {}
    for name in weights:
        weights[name] *= rng.choice([0.0, 1.0, 1.0, 1e-6, 1e6])


def _names(rng: random.Random, raw: dict[str, Any]) -> None:
    raw["name"] = rng.choice(NAMES)


def _no_jobs(_rng: random.Random, raw: dict[str, Any]) -> None:
    for name, column in raw["jobs"].items():
        nothing: Any = {key: [] for key in column} if isinstance(column, dict) else []
        raw["jobs"][name] = None if column is None else nothing


TWISTS = (_carbon, _exact_fit, _scales, _equal_jobs, _weights, _names, _no_jobs)


def optimum(raw: dict[str, Any]) -> tuple[float | None, bool]:
    """Return the best objective by brute force, None without a schedule, and whether no schedule at all is better.

    For mlcluster and purchasing the value is that of a schedule: others, of times that are no slots, may be better.
    """
    if raw["objective"].get("limits") and raw["problem"] == "mosp":
        return shapes.best_of_all(raw), True
    return REFERENCES[raw["problem"]].brute_force(raw)[0], raw["problem"] in EXACT
