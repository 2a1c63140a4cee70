"""What is patched is still what the API server takes: the published schemas, with unknown fields refused."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import carbonopt as co
from carbonopt.planning.apply import GATE, commands

kubernetes_validate = pytest.importorskip("kubernetes_validate")
TONIGHT = ROOT / "instances/tonight"
JOBS = {
    f"{item['metadata']['namespace']}/{item['metadata']['name']}": item
    for item in json.loads((TONIGHT / "jobs_kubernetes.json").read_text())["items"]
}
SEVERAL = ("night=DE:16", "day=DE:16")
WRAPPER = {
    "type": "object",
    "required": ["spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "workload.codeflare.dev/v1beta2"},
        "kind": {"const": "AppWrapper"},
        "metadata": {"type": "object"},
        "spec": {
            "type": "object",
            "required": ["components"],
            "additionalProperties": False,
            "properties": {
                "components": {"type": "array", "items": {"type": "object", "required": ["template"]}},
                "suspend": {"type": "boolean"},
                "managedBy": {"type": "string"},
            },
        },
    },
}
"""The fields of AppWrapper v1beta2 that stand in a wrapper of ours, as its API documentation names them."""


def merged(whole: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Apply a merge patch (RFC 7386)."""
    found = copy.deepcopy(whole)
    for key, value in change.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict):
            found[key] = merged(found.get(key, {}), value)
        else:
            found[key] = value
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


def test_patched_wrappers_are_wrappers():
    from jsonschema import ValidationError, validate

    for job, change in patches(planned("night=DE:16"), "appwrapper"):
        inner = {key: value for key, value in JOBS[job].items() if key != "status"}
        head = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": {"name": "x"}}
        whole = head | {"spec": {"suspend": True, "components": [{"template": inner}]}}
        validate(merged(whole, change), WRAPPER)
        with pytest.raises(ValidationError):
            validate(merged(whole, {"spec": {"suspended": False}}), WRAPPER)


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
