"""Every decision that GREEN's paper leaves open, changed alone: what it does to carbon and completion times.

    python benchmarks/peers/mlcluster_sensitivity.py [--zones GB,DE,...] [--seeds 2] [--jobs 791] [--bounds]

Prints a Markdown table. Each row is one change of a policy, in percent of Tiresias with the same seeds and zones: total
carbon over the common horizon (idle power included), carbon that the jobs add, mean completion time (JCT). With
--bounds also how far the added carbon is above the certified least at the policy's own mean JCT, and how much of the
total carbon of Tiresias no scheduler could save at Tiresias' own mean JCT. Signals and profiles are synthetic.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import carbonopt as co
from carbonopt.core.options import Options
from carbonopt.problems.mlcluster.instance import MlClusterInstance
from carbonopt.problems.mlcluster.limited import at_equal
from carbonopt.problems.mlcluster.prices.bound import ascend

CHANGES = {
    "GREEN as decided": "green",
    "no shifting (Table 4: mu = 1)": "green-no-shifting",
    "GPU hours in place of the footprint (Table 4)": "green-gpu-hours",
    "both": "green-gpu-hours-no-shifting",
    "mu = 4": "green:mu=4",
    "Fig. 5a reversed": "green:shifting=reversed",
    "PRIORITY descending": "green:order=descending",
    "upper queue by degradation (Algorithm 1)": "green:upper=degradation",
    "a scale-out that fails keeps the GPU": "green:failed=keep",
    "a job that theta stops waits in the upper queue": "green:full=wait",
    "gamma = 0.75": "green:gamma=0.75",
    "gamma = 0.85": "green:gamma=0.85",
    "gamma = 0.95": "green:gamma=0.95",
    "scale every 30 min": "green:scale_minutes=30",
    "scale every minute": "green:scale_minutes=1",
    "re-rank every 10 min": "green:rerank_minutes=10",
    "re-rank every 2 h": "green:rerank_minutes=120",
    "theta = 0.15": "green:theta=0.15",
    "theta = 0.6": "green:theta=0.6",
    "no backfill from the upper queue": "green:backfill=false",
    "no growth into spare GPUs": "green:spare=false",
    "mean intensity of the past day": "green:mean=past-day",
    "cap 2": "green:cap=2",
    "cap 4": "green:cap=4",
    "ageing after 6 h": "green:ageing_hours=6",
    "no ageing": "green:ageing_hours=none",
    "Tiresias, two queues": "tiresias-2",
    "Tiresias on 1 GPU": "tiresias:gpus=1",
    "Tiresias on 4 GPUs": "tiresias:gpus=4",
    "Carbon-Time (GAIA), W = 12 h": "carbon-time",
    "Ecovisor, 10th percentile": "ecovisor",
    "fixed 1 GPU": "fixed-1",
    "fixed 2 GPUs": "fixed-2",
    "FCFS": "fcfs",
}
BASELINE = "tiresias"
HEAD = ("change", "total carbon", "added carbon", "mean JCT", "above the bound")


def measured(instance: MlClusterInstance, policy: str, bounds: bool) -> tuple[float, float, float, float]:
    """Return total and added carbon [kg], mean JCT [h] and the distance from the bound."""
    solution = co.simulate(instance, policy)
    if not solution.has_solution:
        return (np.nan,) * 4
    metrics, above = solution.metrics, np.nan
    if bounds:
        target, metric = at_equal(instance, metrics)
        above = metrics[metric] / ascend(target, Options(time_limit=120)).bound - 1
    return metrics["carbon_kg"], metrics["added_carbon_kg"], metrics["mean_jct_hours"], above


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zones", default="GB,DE,US-CAL-CISO,AU-SA")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=791)
    parser.add_argument("--bounds", action="store_true")
    options = parser.parse_args(arguments)
    hours = 24 * options.jobs / 791
    instances = [
        co.generate("mlcluster", jobs=options.jobs, arrival_hours=hours, zone=zone, seed=seed)
        for zone in options.zones.split(",")
        for seed in range(1, options.seeds + 1)
    ]
    base = np.array([measured(instance, BASELINE, options.bounds) for instance in instances])
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    print(f"| Tiresias on 2 GPUs | 0 | 0 | 0 | {_percent(base[:, 3].mean())} |")
    for name, policy in CHANGES.items():
        found = np.array([measured(instance, policy, options.bounds) for instance in instances])
        change = (found[:, :3] / base[:, :3] - 1).mean(axis=0)
        print(f"| {name} | " + " | ".join(map(_percent, (*change, found[:, 3].mean()))) + " |", flush=True)
    if options.bounds:
        saved = base[:, 1] * base[:, 3] / (1 + base[:, 3]) / base[:, 0]
        print(f"\nAt Tiresias' own mean JCT no scheduler saves more than {_percent(saved.max())} of its total carbon.")


def _percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:+.1f} %"


if __name__ == "__main__":
    main(sys.argv[1:])
