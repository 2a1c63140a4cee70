"""Make every shipped instance, its index and the JSON Schemas: `python instances/build.py`.

Everything is generated from seeds here or written out by hand in tiny_<problem>.py; nothing is
fetched. A test runs this and compares with what is committed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import tiny_ecas
import tiny_elastic
import tiny_mlcluster
import tiny_mosp
import tiny_purchasing
import tonight

import carbonopt as co
from carbonopt.core.arrays import plain
from carbonopt.core.jsonfile import write_json
from carbonopt.core.registry import problem_names, problem_of
from carbonopt.io.solution import SolutionFile

HERE = Path(__file__).parent
CASPIAN_SEEDS = range(1, 6)
NORMALIZERS = {  # z1, z2, z3 by seed: optima of their LPs, rounded up. Fixed, so that values of all solutions compare
    1: (0.0075571, 200.0, 17.990),
    2: (0.0020189, 200.0, 18.958),
    3: (0.0044113, 200.0, 17.956),
    4: (0.0046717, 200.0, 18.904),
    5: (0.0063125, 200.0, 16.670),
}
MOSP_BENCH = [  # jobs, clusters, slots, load
    (50, 3, 24, 0.7),
    (200, 3, 48, 0.7),
    (1000, 10, 48, 0.7),
    (1000, 3, 48, 1.2),
]
WEEK_SEEDS = range(1, 3)
ELASTIC_BENCH = [  # jobs, hours in which they arrive, utilisation, model
    (60, 48, 0.5, "integer"),
    (60, 48, 0.75, "integer"),
    (60, 48, 0.88, "integer"),
    (300, 168, 0.5, "integer"),
    (300, 168, 0.75, "integer"),
    (300, 168, 0.88, "integer"),
    (300, 168, 0.75, "fluid"),
]
WEEK_SHARES = (0.0, 0.5, 0.95)
PURCHASING_BENCH = [  # jobs, hours in which they arrive, reserved CPUs over mean demand, what else, its name
    (60, 24, 0.5, {}, ""),
    (60, 24, 0.5, {"model": "no-split"}, "nosplit"),
    (60, 24, 0.5, {"model": "suspend-resume"}, "suspend"),
    (60, 24, 0.5, {"evictions_per_hour": 0.1}, "spot"),
    (60, 24, None, {"decide_reserved": True}, "plan"),
    (300, 72, 0.8, {"max_cpus": 32}, "large"),
    (300, 72, 0.8, {"max_cpus": 32, "model": "no-split"}, "largenosplit"),
]
ECAS_BENCH = (0.45, 0.7)
"""Loads of 200 jobs on ten machines."""
HEAVY: dict[str, dict[str, Any]] = {  # sizes, lengths and arrivals of supercomputers: few jobs are most of the work
    "mosp": {"preset": "supercomputer", "clusters": 3, "slots": 48, "jobs": 200, "max_demand": 128},
    "elastic": {"workload": "supercomputer", "jobs": 60, "arrival_hours": 48, "utilisation": 0.6},
    "purchasing": {
        "workload": "supercomputer",
        "jobs": 300,
        "arrival_hours": 72,
        "reserved_share": 0.5,
        "max_cpus": 256,
    },
    "mlcluster": {"workload": "supercomputer", "jobs": 80, "gpus": 32, "load": 0.6},
    "ecas": {"family": "heavy-tails", "jobs": 200, "machines": 10, "resources": 2, "load": 0.55},
}


def tiny() -> Iterator[co.Instance]:
    """Yield the instances that are written by hand."""
    for module in (tiny_mosp, tiny_elastic, tiny_purchasing, tiny_mlcluster, tiny_ecas):
        for raw in module.tiny_instances():
            yield problem_of(raw["problem"]).role("read")(raw)


def paper() -> Iterator[co.Instance]:
    """Yield the workloads of the papers: Caspian's two days, the weeks of CarbonFlex and GAIA, GREEN's day."""
    for seed in CASPIAN_SEEDS:
        yield co.generate("mosp", preset="caspian", jobs=200, slots=48, seed=seed)
        made = co.generate("mosp", preset="caspian", jobs=200, slots=48, seed=seed, objective="caspian")
        yield replace(made, objective=replace(made.objective, normalizers=NORMALIZERS[seed]))
    for seed in WEEK_SEEDS:
        yield _named(co.generate("elastic", capacity=150, utilisation=0.5, seed=seed), "week")
    for share in WEEK_SHARES:
        yield _named(co.generate("purchasing", jobs=1000, reserved_share=share, seed=1), f"week{100 * share:03.0f}")
    yield _named(co.generate("mlcluster", seed=1), "day")


def bench() -> Iterator[co.Instance]:
    """Yield instances of several sizes and loads."""
    for jobs, clusters, slots, load_ in MOSP_BENCH:
        yield co.generate("mosp", preset="bench", jobs=jobs, clusters=clusters, slots=slots, load=load_, seed=1)
    for jobs, hours, utilisation, model in ELASTIC_BENCH:
        made = co.generate("elastic", jobs=jobs, arrival_hours=hours, utilisation=utilisation, model=model, seed=1)
        yield _named(made, f"bench{100 * utilisation:03.0f}" + ("fluid" if model == "fluid" else ""))
    for jobs, hours, share, terms, name in PURCHASING_BENCH:
        made = co.generate("purchasing", jobs=jobs, arrival_hours=hours, reserved_share=share, seed=1, **terms)
        yield _named(made, "bench" + ("" if share is None else f"{100 * share:03.0f}") + name)
    yield _named(co.generate("mlcluster", jobs=80, gpus=8, arrival_hours=20, seed=1), "bench")
    for load_ in ECAS_BENCH:
        yield co.generate("ecas", jobs=200, machines=10, resources=2, load=load_, seed=1)
    for problem, parameters in HEAVY.items():
        yield _named(co.generate(problem, seed=1, **parameters), "heavy")


def _named(instance: co.Instance, source: str) -> co.Instance:
    """Return the instance with another source in its name."""
    problem, _, rest = instance.name.split("-", 2)
    return replace(instance, name=f"{problem}-{source}-{rest}")


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each problem's instance file and of the solution file."""
    files = {name: problem_of(name).role("schema") for name in problem_names()}
    made = {name: model.model_json_schema() for name, model in files.items()}  # type: ignore[attr-defined]
    made["solution"] = SolutionFile.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: head | schema for name, schema in made.items()}


def build(target: Path) -> None:
    """Write everything below `target`."""
    index: dict[str, Any] = {}
    for kind, instances in {"tiny": tiny(), "paper": paper(), "bench": bench()}.items():
        (target / kind).mkdir(parents=True, exist_ok=True)
        for instance in instances:
            file = f"{kind}/{instance.name}.json"
            instance.write(target / file)
            index[instance.name] = plain({"file": file, "sha256": instance.sha256, **instance.features()})
    write_json(target / "index.json", index)
    tonight.write(target / "tonight")
    (target / "schema").mkdir(exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
        (target / "schema" / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
