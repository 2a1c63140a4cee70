"""Write carbonopt/library/recipes.json: `python instances/library.py FOLDER [--measure [--again]]`.

FOLDER has the public files, downloaded beforehand, under their own names. With --measure, the difficulty of instances
of at most `MEASURED_JOBS` jobs is told by runs of deterministic work, where it is not known; with --again everywhere.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import carbonopt as co
from carbonopt.compare import run
from carbonopt.core.jsonfile import write_json
from carbonopt.core.solution import relative_gap
from carbonopt.core.status import Status
from carbonopt.library.build import converted
from carbonopt.library.recipes import INFEASIBLE, WORK, Generated, Public, PublicFile, difficulty_of

TARGET = Path(__file__).parents[1] / "carbonopt" / "library" / "recipes.json"
MEASURED_JOBS = 1_000
SIZES = (20, 100, 1_000, 10_000, 100_000)
SEEDS = {20: (1, 2), 100: (1, 2), 1_000: (1, 2), 10_000: (1,), 100_000: (1,)}
"""Seeds of each size."""

GAIA = "https://raw.githubusercontent.com/umassos/GAIA/62a5efccb20fa04d6e507e12350eb4468eab9888/src/cluster_traces"
CASPIAN = (
    "https://raw.githubusercontent.com/sustainablecomputing/caspian/"
    "00dc8c784197c593686ed2bcf8a37bf8a7c0879d/monitoring/data"
)
CSPLIB = (
    "https://raw.githubusercontent.com/csplib/csplib/2b13c5922cab57759eb36dbecd6e5d0145659531/Problems/prob059/data"
)
PAI = PublicFile(f"{GAIA}/pai_1k.csv", "f1fb822a29bff1a12948a482423f761d68ac7c88ae541f646fe4e6e149361069")
ZONES = {
    "CA-ON": PublicFile(f"{CASPIAN}/CA-ON.csv", "2324aa093c2b259979d353f1c6d6abb2ed06dcbcb1a446a0ed67a4dc13f8adbd"),
    "DE": PublicFile(f"{CASPIAN}/DE.csv", "3adbe20e5ebf79f2d1750a785c81902988640166db68b2d496c123ed47bc4d8e"),
    "JP-KN": PublicFile(f"{CASPIAN}/JP-KN.csv", "a72023979e0c7d924aabe8ee9bfc9cbe3270d45e8f9d855910471bf5f7690922"),
}
SAMPLES = (f"{CSPLIB}/sampleinstances.zip", "361e6357edacbc191e990d8d68afc78c36e1d66fabe5ceeec664359f5aba9832")
LEADERBOARD = (
    f"{CSPLIB}/leaderboardinstances.zip",
    "89b4a03b8934e1caa5f7c49916f42b000b27785b4edadeb17d7d155f767aa411",
)
ICON_SOURCE = "ICON Challenge 2014 on energy-cost aware scheduling, CSPLib problem 059 (CC BY 4.0)"


def families() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield problem and parameters of each generated instance."""
    for jobs in SIZES:
        for seed in SEEDS[jobs]:
            slots = 24 if jobs <= 100 else 48
            sized = {"jobs": jobs, "seed": seed}
            bench = {"preset": "bench", "clusters": 3, "slots": slots} | sized
            tails = {"preset": "supercomputer", "clusters": 3, "slots": 2 * slots} | sized
            yield "mosp", bench
            yield "mosp", bench | {"load": 1.2}
            yield "mosp", tails
            yield "mosp", tails | {"memory": True, "restricted_share": 0.2, "day_capacity": 0.7}
            yield "mosp", tails | {"array_tail": 0.9}
            for workload in ("paper", "supercomputer"):
                cpus = 4 if workload == "paper" else 256
                cloud = {"arrival_hours": 48 if jobs <= 100 else 168, "max_cpus": cpus, "workload": workload} | sized
                yield "purchasing", cloud
                yield "purchasing", cloud | {"model": "suspend-resume"}
                if jobs <= 10_000:
                    yield "elastic", {"utilisation": 0.7, "workload": workload} | sized
                if jobs <= 1_000:
                    yield "mlcluster", {"gpus": max(8, jobs // 12), "load": 0.8, "workload": workload} | sized
            for load in (0.45, 0.7) if jobs <= 1_000 else ():
                yield "ecas", {"machines": max(3, jobs // 20), "resources": 2, "load": load} | sized


def named(instance: co.Instance, parameters: dict[str, Any], taken: set[str]) -> co.Instance:
    """Return the instance with a name of its own, where the generator's is taken."""
    if instance.name not in taken:
        return instance
    kind = str(parameters.get("model", "shaped")).replace("-", "")
    return replace(instance, name=instance.name.replace("-j", f"{kind}-j", 1))


def public() -> Iterator[Public]:
    """Yield the recipes of public data, without hashes of their instances."""
    gaia = "GAIA's week of Alibaba's PAI trace, and Caspian's carbon files of 2023-11-14, repeated"
    trace = {"jobs": "{pai_1k}", "time_unit": "seconds", "wrap": True}
    one = {"pai_1k": PAI, "DE": ZONES["DE"]}
    yield Public("purchasing-pai1k", "purchasing", "", 0, gaia, one, trace | {"carbon": ["{DE}"]})
    all_zones = [f"{{{zone}}}" for zone in ZONES]
    yield Public("mosp-pai1k", "mosp", "", 0, gaia, {"pai_1k": PAI, **ZONES}, trace | {"carbon": all_zones})
    for number in range(1, 10):
        yield icon(f"sample{number:02d}", SAMPLES, "sampleinstances")
    for number in range(50):
        yield icon(f"instance{number:02d}", LEADERBOARD, "leaderboardinstances_wactuals")


def icon(folder: str, archive: tuple[str, str], root: str) -> Public:
    """Return the recipe of one instance of the challenge."""
    files = {folder: PublicFile(*archive, member=f"{root}/{folder}")}
    return Public(f"ecas-icon-{folder}", "ecas", "", 0, ICON_SOURCE, files, {"icon": f"{{{folder}}}"})


def difficulty(instance: co.Instance) -> str:
    """Return the class of an instance, by the gap of the best schedule to the best bound, after so much work each."""
    found = run(instance, ["price", "milp"], work_limit=WORK, seed=1)
    if any(solution.status is Status.INFEASIBLE for solution in found):
        return INFEASIBLE
    values = [solution.objective for solution in found if solution.objective is not None]
    bounds = [solution.bound for solution in found if solution.bound is not None]
    return difficulty_of(relative_gap(min(values), max(bounds)) if values and bounds else None)


def write(folder: Path, measure: bool, again: bool) -> None:
    """Write the recipes; those whose difficulty is measured, `again` without regard to what is known."""
    before = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.exists() else {"generated": [], "public": []}
    known = {recipe["sha256"]: recipe["difficulty"] for kind in before.values() for recipe in kind}
    taken: set[str] = set()
    made: dict[str, list[dict[str, Any]]] = {"generated": [], "public": []}
    for problem, parameters in families():
        instance = named(co.generate(problem, **parameters), parameters, taken)
        taken.add(instance.name)
        recipe = Generated(instance.name, problem, parameters, instance.sha256, len(instance.jobs))
        made["generated"].append(_told(recipe, instance, {} if again else known, measure))
        print(instance.name, made["generated"][-1]["difficulty"], flush=True)
    for data in public():
        instance = converted(data, lambda part: folder / Path(part.url).name)
        told = asdict(data) | {"sha256": instance.sha256, "jobs": len(instance.jobs)}
        made["public"].append(told | {"difficulty": known.get(instance.sha256, "")})
    write_json(TARGET, made)


def _told(recipe: Generated, instance: co.Instance, known: dict[str, str], measure: bool) -> dict[str, Any]:
    told = known.get(recipe.sha256, "")
    if measure and not told and recipe.jobs <= MEASURED_JOBS:
        told = difficulty(instance)
    return asdict(recipe) | {"difficulty": told}


if __name__ == "__main__":
    write(Path(sys.argv[1]), "--measure" in sys.argv, "--again" in sys.argv)
