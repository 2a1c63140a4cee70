"""A Slurm queue, Kubernetes Jobs and two forecasts of one night: the files of docs/tonight.md, drawn by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from math import cos, pi
from pathlib import Path
from typing import Any

NOW = datetime(2026, 11, 24, 21, tzinfo=UTC)
HOURS = 38
GATE = "kueue.x-k8s.io/admission-gated-by"
QUEUE = "kueue.x-k8s.io/queue-name"


def write(folder: Path) -> None:
    """Write the files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_json(folder / "squeue.json", _slurm())
    _write_json(folder / "jobs_kubernetes.json", {"apiVersion": "v1", "kind": "List", "items": _kubernetes()})
    for name, begin, shift in (("forecast_21h", NOW, 0), ("forecast_23h", NOW + timedelta(hours=2), 3)):
        (folder / f"{name}.csv").write_text(_forecast(begin - timedelta(hours=1), shift), encoding="utf-8")


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _number(value: float | None) -> dict[str, Any]:
    return {"set": value is not None, "infinite": False, "number": value or 0}


def _slurm() -> dict[str, Any]:
    jobs = [
        _job(4711, "cfd-mesh", "ada", 64, 480, submitted=-4, started=-3),
        _job(4712, "train-lm", "bob", 16, 720, submitted=-2, started=-1.5, gpus=2),
        _job(4713, "cfd-run", "ada", 96, 360, submitted=-1),
        _job(4714, "genome", "eva", 48, 240, submitted=-1),
        _job(4715, "train-vit", "bob", 16, 480, submitted=-0.5, gpus=2),
        _job(4716, "sweep", "kim", 8, 120, submitted=-0.5, array="0-3"),
        _job(4720, "render", "kim", 32, 180, submitted=-0.25),
        _job(4721, "backup", "root", 4, 60, submitted=-0.1),
        _job(4709, "old", "ada", 4, 60, submitted=-9, started=-8, state="COMPLETED"),
    ]
    version = {"version": {"major": "24", "micro": "5", "minor": "05"}}
    meta = {"plugin": {"type": "openapi/slurmctld"}, "slurm": version}
    return {"jobs": jobs, "meta": meta, "errors": [], "warnings": []}


def _job(
    number: int,
    name: str,
    user: str,
    cpus: int,
    minutes: int,
    submitted: float,
    started: float | None = None,
    gpus: int = 0,
    array: str = "",
    state: str = "",
) -> dict[str, Any]:
    """Return an entry of squeue; `submitted` and `started` in hours from now."""
    asked = f"cpu={cpus},mem={4 * cpus}G,node=1" + (f",gres/gpu={gpus}" if gpus else "")
    runs = started is not None
    return {
        "job_id": number,
        "name": name,
        "user_name": user,
        "job_state": [state or ("RUNNING" if runs else "PENDING")],
        "state_reason": "None" if runs else "Priority",
        "cluster": "hpc",
        "partition": "batch",
        "cpus": _number(cpus),
        "time_limit": _number(minutes),
        "submit_time": _number(int((NOW + timedelta(hours=submitted)).timestamp())),
        "start_time": _number(None if started is None else int((NOW + timedelta(hours=started)).timestamp())),
        "priority": _number(1000 + number % 7),
        "dependency": "",
        "array_job_id": _number(number if array else 0),
        "array_task_id": _number(None),
        "array_task_string": array,
        "tres_req_str": asked,
        "tres_alloc_str": asked if runs else "",
    }


def _kubernetes() -> list[dict[str, Any]]:
    jobs = [
        _kubernetes_job("etl", "2", 7200, pods=4),
        _kubernetes_job("train", "8", 14400, gpus=1),
        _kubernetes_job("report", "500m", 3600),
        _kubernetes_job("ingest", "4", 21600, pods=2),
    ]
    jobs[-1]["spec"]["suspend"] = False
    jobs[-1]["status"] = {"active": 2, "startTime": "2026-11-24T20:00:00Z"}
    return jobs


def _kubernetes_job(name: str, cpus: str, seconds: int, pods: int = 1, gpus: int = 0) -> dict[str, Any]:
    resources: dict[str, Any] = {"requests": {"cpu": cpus, "memory": "4Gi"}}
    if gpus:
        resources["limits"] = {"nvidia.com/gpu": str(gpus)}
    container = {"name": "main", "image": f"registry.example/{name}:1", "resources": resources}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "data",
            "creationTimestamp": "2026-11-24T19:30:00Z",
            "labels": {QUEUE: "night"},
            "annotations": {GATE: "carbonopt"},
        },
        "spec": {
            "suspend": True,
            "parallelism": pods,
            "completions": pods,
            "activeDeadlineSeconds": seconds,
            "template": {"spec": {"containers": [container], "restartPolicy": "Never"}},
        },
        "status": {},
    }


def _forecast(begin: datetime, shift: int) -> str:
    """Return hourly intensities [g/kWh] with an evening peak; `shift` moves it to later hours."""
    lines = ["datetime,zone,carbon_intensity_g_per_kwh"]
    for hour in range(HOURS):
        moment = begin + timedelta(hours=hour)
        grams = 330 + 110 * cos(2 * pi * ((moment.hour - 19.5 - shift) % 24) / 24)
        grams += 25 if 6 <= moment.hour < 9 else 0
        lines.append(f"{moment:%Y-%m-%dT%H:%M:%SZ},DE,{grams:.1f}")
    return "\n".join(lines) + "\n"
