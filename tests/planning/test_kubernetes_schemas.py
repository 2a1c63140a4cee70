"""What is patched is still what the API server takes: the published schemas, with unknown fields refused."""

from __future__ import annotations

import copy
import json
import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import carbonopt as co
from carbonopt.io.queues.read import read_queue
from carbonopt.planning.apply import GATE, commands
from carbonopt.planning.controller.kubernetes import merged
from carbonopt.planning.controller.targets import TARGETS, opened_at, opening_of

kubernetes_validate = pytest.importorskip("kubernetes_validate")
jsonschema = pytest.importorskip("jsonschema")
yaml = pytest.importorskip("yaml")
NOW = datetime(2026, 11, 24, 21, tzinfo=UTC)
TONIGHT = ROOT / "instances/tonight"
JOBS = {
    f"{item['metadata']['namespace']}/{item['metadata']['name']}": item
    for item in json.loads((TONIGHT / "jobs_kubernetes.json").read_text())["items"]
}
SEVERAL = ("night=DE:16", "day=DE:16")
CRD = Path(os.environ.get("CARBONOPT_DATA", ROOT.parent / "shared" / "data")) / "crd"


@cache
def published(file: str, version: str) -> dict[str, Any]:
    """Return the schema of a resource definition, with unknown fields refused; skip where it is not there."""
    if not (CRD / file).is_file():
        pytest.skip(f"no {file} in {CRD} (CARBONOPT_DATA)")
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    versions = yaml.load((CRD / file).read_text(), Loader=fast)["spec"]["versions"]
    schema = next(one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == version)
    schema["properties"]["metadata"] = {"type": "object", "additionalProperties": True}  # of every object alike
    return closed(schema)


def closed(schema: Any) -> Any:
    """Refuse fields that a schema does not name, unless it says that it keeps them."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    if isinstance(schema.get("properties"), dict) and "type" in schema and not keeps:
        found["additionalProperties"] = False
    return found


def planned(*clusters: str, forecast: object = (TONIGHT / "forecast_21h.csv",)) -> co.Plan:
    queue = TONIGHT / "jobs_kubernetes.json"
    return co.plan(queue, forecast, now="2026-11-24T21:00Z", tz="Europe/Berlin", clusters=clusters)


def patches(plan: co.Plan, to: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for command in commands(plan, to):
        text = next(word for word in command.words if word.startswith("--patch="))
        found.append((command.job, json.loads(text.removeprefix("--patch="))))
    return found


@pytest.mark.parametrize("to", ["kubernetes", "kueue"])
@pytest.mark.parametrize("clusters", [("night=DE:16",), SEVERAL])
def test_patched_jobs_are_jobs(to, clusters):
    now = copy.deepcopy(JOBS)
    applied = patches(planned(*clusters), to)
    assert {job for job, _ in applied} == {"data/etl", "data/train", "data/report"}
    for job, change in applied:
        now[job] = merged(now[job], change)
        kubernetes_validate.validate(now[job], kubernetes_validate.latest_version(), strict=True)
    for job, _ in applied:
        if to == "kueue":
            assert GATE not in now[job]["metadata"]["annotations"]
        else:
            assert now[job]["spec"]["suspend"] is False


def test_unknown_fields_are_refused():
    wrong = merged(JOBS["data/etl"], {"spec": {"suspended": True}})
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def validated(whole: dict[str, Any], schema: dict[str, Any]) -> None:
    """Validate an AppWrapper and the Jobs in it."""
    jsonschema.validate(whole, schema)
    for component in whole["spec"]["components"]:
        kubernetes_validate.validate(component["template"], kubernetes_validate.latest_version(), strict=True)


def wrapper(job: str) -> dict[str, Any]:
    inner = {key: value for key, value in JOBS[job].items() if key != "status"}
    head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": {"name": "x"}}
    return head | {"spec": {"suspend": True, "components": [{"template": inner}]}}


def test_patched_wrappers_are_wrappers():
    schema = published("workload.codeflare.dev_appwrappers.yaml", "v1beta2")
    applied = patches(planned("night=DE:16"), "appwrapper")
    assert len(applied) == 3
    for job, change in applied:
        validated(merged(wrapper(job), change), schema)
        with pytest.raises(jsonschema.ValidationError):
            validated(merged(wrapper(job), {"spec": {"suspended": False}}), schema)


@pytest.mark.parametrize("to", ["kubernetes", "kueue", "appwrapper"])
@pytest.mark.parametrize("several", [False, True])
def test_what_the_controller_patches_is_what_the_server_takes(to, several):
    target = TARGETS[to]
    for job in JOBS:
        one = copy.deepcopy(JOBS[job]) if to != "appwrapper" else wrapper(job)
        for change in (target.holding(one) if target.holding else {}, opening_of(target, one, "night", several, NOW)):
            one = merged(one, change)
            if to == "appwrapper":
                validated(one, published("workload.codeflare.dev_appwrappers.yaml", "v1beta2"))
            else:
                kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
        assert not target.is_held(one)
        assert opened_at(one) == (NOW, "night")


def test_kueue_takes_what_its_objects_of_a_gated_job_hold():
    """Kueue makes a Workload of a Job: the gate is copied as an annotation, the label of the queue as a field."""
    queues = published("kueue.x-k8s.io_localqueues.yaml", "v1beta2")
    workloads = published("kueue.x-k8s.io_workloads.yaml", "v1beta2")
    plan = planned(*SEVERAL)
    for site in plan.sites:
        jsonschema.validate({"metadata": {"name": site.name}, "spec": {"clusterQueue": "all"}}, queues)
    for job, change in patches(plan, "kueue"):
        after = merged(JOBS[job], change)["metadata"]
        pods = {"name": "main", "count": 1, "template": JOBS[job]["spec"]["template"]}
        spec = {"queueName": after["labels"]["kueue.x-k8s.io/queue-name"], "podSets": [pods]}
        whole = {"metadata": {"annotations": after["annotations"]}, "spec": spec}
        jsonschema.validate(whole, workloads)
        with pytest.raises(jsonschema.ValidationError, match="queue"):
            jsonschema.validate({**whole, "spec": spec | {"queue": "x"}}, workloads)


def test_published_samples_of_wrappers_are_read():
    schema = published("workload.codeflare.dev_appwrappers.yaml", "v1beta2")
    found = {}
    for name in ("gpu-job", "job", "pod"):
        path = CRD / f"sample_wrapped-{name}.yaml"
        jsonschema.validate(yaml.safe_load(path.read_text()), schema)
        (one,) = read_queue(path, default_hours=2.0).jobs
        found[one.id] = (one.state, one.hours, one.cpus, one.gpus, one.cluster)
    assert found == {
        "default/sample-gpu-job": ("PENDING", 2.0, 1.0, 4.0, "default-queue"),
        "default/sample-job": ("PENDING", 2.0, 1.0, 0.0, "default-queue"),
        "default/sample-pod": ("PENDING", 2.0, 1.0, 0.0, "default-queue"),
    }


def test_node_selectors_change_while_a_job_is_suspended():
    """The API server refuses them at other times, so a job that is due now is suspended first, too."""
    flat = co.CarbonSignal(
        ("DE",), np.full((1, 48), 100.0), co.TimeGrid(48, 0.5, datetime(2026, 11, 24, 21, tzinfo=UTC))
    )
    plan = planned(*SEVERAL, forecast=flat)
    suspended = set()
    for job, change in patches(plan, "kubernetes"):
        assert ("template" in change["spec"]) == (job in suspended)
        suspended.add(job)
    assert len(suspended) == 3
    assert any(row.begin == plan.now for row in plan.rows)
