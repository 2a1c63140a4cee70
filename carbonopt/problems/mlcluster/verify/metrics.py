"""What a schedule costs: carbon, energy and completion times; part of the checker."""

from __future__ import annotations

from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray, prefix_sums
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.verify.runs import Runs, level_after


def carbon_between(instance: MlClusterInstance, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the carbon of a watt from `start` to `end` [min], elementwise [kg]; beyond the signal there is none."""
    return _carbon_until(instance, end) - _carbon_until(instance, start)


def _carbon_until(instance: MlClusterInstance, moment: FloatArray) -> FloatArray:
    minutes = instance.slot_minutes
    slots = instance.time.slots
    place = np.clip(moment / minutes, 0.0, slots)
    slot = np.minimum(place.astype(np.int64), slots - 1)
    sums = prefix_sums(instance.kg_per_watt_minute)
    return np.asarray(minutes * (sums[slot] + (place - slot) * instance.kg_per_watt_minute[slot]))


def metrics_of(instance: MlClusterInstance, runs: Runs, work: FloatArray) -> dict[str, Any]:
    """Evaluate a schedule; `work` is what each job gets done [1-GPU minutes], shape (N,)."""
    jobs = instance.jobs
    cluster = instance.cluster
    scales = instance.scales
    profile = instance.profile_of_job[runs.job]
    watts = scales.watts[profile, runs.gpus - 1]
    added = scales.added_watts[profile, runs.gpus - 1]
    share = watts + cluster.host_watts_per_gpu * runs.gpus
    per_watt = carbon_between(instance, runs.start, runs.end)
    whole = carbon_between(instance, np.zeros(1), np.full(1, instance.horizon_minutes))
    idle_kg = cluster.idle_watts * float(whole[0])
    added_kg = float((added * per_watt).sum())
    added_kwh = float((added * runs.minutes).sum()) / 6e4
    gpu_minutes = float((runs.gpus * runs.minutes).sum())
    makespan = float(runs.end.max(initial=0.0))
    begin = float(jobs.arrival_minutes.min(initial=makespan))
    done = work >= jobs.required
    _, load = level_after(runs.start, runs.end, added)
    return {
        "carbon_kg": idle_kg + added_kg,
        "added_carbon_kg": added_kg,
        "idle_carbon_kg": idle_kg,
        "footprint_kg": float((share * per_watt).sum()),
        "energy_kwh": cluster.idle_watts * instance.time.hours / 1000 + added_kwh,
        "added_energy_kwh": added_kwh,
        "peak_kw": (cluster.idle_watts + float(load.max(initial=0.0))) / 1000,
        **_completion_times(instance, runs, done),
        "gpu_hours": gpu_minutes / 60,
        "mean_gpus": gpu_minutes / float(runs.minutes.sum()) if len(runs.job) else 0.0,
        "utilisation": gpu_minutes / (cluster.gpus * (makespan - begin)) if makespan > begin else 0.0,
        "preemptions": int(runs.resumed.sum()),
        "rescalings": int(runs.rescaled.sum()),
        "churn": int(runs.resumed.sum() + runs.rescaled.sum()),
        "restart_gpu_hours": float((runs.gpus * runs.idle_minutes).sum()) / 60,
        "jobs_completed": int(done.sum()),
        "jobs_completed_share": float(done.mean()) if len(jobs) else 1.0,
        "makespan_hours": makespan / 60,
    }


def _completion_times(instance: MlClusterInstance, runs: Runs, done: Any) -> dict[str, Any]:
    """Return statistics of the time from arrival to the end of the last run, of jobs that do their work [h]."""
    jobs = instance.jobs
    end = np.full(len(jobs), -np.inf)
    first = np.full(len(jobs), np.inf)
    np.maximum.at(end, runs.job, runs.end)
    np.minimum.at(first, runs.job, runs.start)
    times = (end - jobs.arrival_minutes)[done] / 60
    waits = (first - jobs.arrival_minutes)[done] / 60
    if not times.size:
        times = waits = np.zeros(1)
    return {
        "jct_hours": float(times.sum()),
        "mean_jct_hours": float(times.mean()),
        "median_jct_hours": float(np.median(times)),
        "p95_jct_hours": float(np.percentile(times, 95)),
        "max_jct_hours": float(times.max()),
        "mean_wait_hours": float(waits.mean()),
    }
