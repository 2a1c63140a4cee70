"""Reader of Kubernetes Jobs and AppWrappers: one object or a list, as ``kubectl get jobs -o json`` prints it.

YAML (``-o yaml``) is read as well.

Run time is ``spec.activeDeadlineSeconds``, or Kueue's label ``kueue.x-k8s.io/max-exec-time-seconds``. A job holds
what ``parallelism`` of its pods request. Format: https://kubernetes.io/docs/reference/kubernetes-api (batch/v1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime
from importlib import import_module
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.core.time import to_utc
from carbonopt.io.queues.entry import Entry, Settings, queue_of
from carbonopt.io.queues.job import PENDING, RUNNING, Queue, QueuedJob
from carbonopt.io.queues.units import quantity

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
LONGEST_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"
GPUS = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915")
KINDS = ("Job", "AppWrapper", "List", "JobList", "AppWrapperList")


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, populate_by_name=True)


class _Resources(_Part):
    requests: dict[str, str | int | float] = Field(default_factory=dict)
    limits: dict[str, str | int | float] = Field(default_factory=dict)


class _Container(_Part):
    resources: _Resources = Field(default_factory=_Resources)


class _PodSpec(_Part):
    containers: list[_Container]


class _Template(_Part):
    spec: _PodSpec


class _Spec(_Part):
    template: _Template
    suspend: bool = False
    parallelism: int | None = Field(default=None, ge=0, lt=2**31)
    active_deadline_seconds: int | None = Field(default=None, ge=1, lt=2**63)


class _Condition(_Part):
    type: str
    status: str = ""
    last_transition_time: datetime | None = None


class _Status(_Part):
    start_time: datetime | None = None
    active: int = 0
    conditions: list[_Condition] = Field(default_factory=list)


class _Metadata(_Part):
    name: str = Field(min_length=1)
    namespace: str = "default"
    labels: dict[str, str] = Field(default_factory=dict)
    creation_timestamp: datetime | None = None


class KubernetesJob(_Part):
    """A Job of batch/v1."""

    kind: Literal["Job"] = "Job"
    metadata: _Metadata
    spec: _Spec
    status: _Status = Field(default_factory=_Status)

    @property
    def state(self) -> str:
        """Pending, running, or the condition that it ended with."""
        ended = [c.type for c in self.status.conditions if c.status == "True" and c.type in ("Complete", "Failed")]
        if ended:
            return ended[0].upper()
        runs = self.status.active > 0 and not self.spec.suspend and self.status.start_time is not None
        return RUNNING if runs else PENDING

    def amount(self, *names: str) -> float:
        """Return what all pods at a time request of the first of some resources that they name."""
        pods = 1 if self.spec.parallelism is None else self.spec.parallelism
        total = 0.0
        for container in self.spec.template.spec.containers:
            asked = container.resources.limits | container.resources.requests
            total += next((quantity(asked[name]) for name in names if name in asked), 0.0)
        return pods * total


def _job_of_pod(raw: Any) -> Any:
    """Return the Job of one pod where an object is a Pod of v1."""
    if not isinstance(raw, dict) or raw.get("kind") != "Pod":
        return raw
    inner = raw.get("spec")
    spec = {"template": {"spec": inner}}
    if isinstance(inner, dict) and inner.get("activeDeadlineSeconds") is not None:
        spec["activeDeadlineSeconds"] = inner["activeDeadlineSeconds"]
    return {**raw, "kind": "Job", "spec": spec}


class _Component(_Part):
    template: Annotated[KubernetesJob, BeforeValidator(_job_of_pod)]


class _WrapperSpec(_Part):
    components: Annotated[list[_Component], Field(min_length=1)]
    suspend: bool = False


class _WrapperStatus(_Part):
    phase: str = ""
    conditions: list[_Condition] = Field(default_factory=list)


class AppWrapper(_Part):
    """An AppWrapper of workload.codeflare.dev/v1beta2, whose components are Jobs of batch/v1 or Pods of v1."""

    metadata: _Metadata
    spec: _WrapperSpec
    status: _WrapperStatus = Field(default_factory=_WrapperStatus)

    def as_job(self) -> QueuedJob:
        """Return what its components are together."""
        longest = self.metadata.labels.get(LONGEST_LABEL)
        limit = {} if longest is None else {LONGEST_LABEL: longest}  # of the whole, where a component has none
        parts = [_as_job(part.template, limit) for part in self.spec.components]
        ready = [c.last_transition_time for c in self.status.conditions if c.type == "PodsReady" and c.status == "True"]
        since = ready[0] if ready else None
        runs = self.status.phase == "Running" and not self.spec.suspend and since is not None
        waits = self.status.phase in ("", "Suspended", "Admitted", "Resuming", "Suspending")
        state = PENDING if waits else self.status.phase.upper()
        memory = sum(part.memory_gb or 0.0 for part in parts)
        created = self.metadata.creation_timestamp
        return QueuedJob(
            id=f"{self.metadata.namespace}/{self.metadata.name}",
            name=self.metadata.name,
            user=self.metadata.namespace,
            state=RUNNING if runs else state,
            hours=max(part.hours for part in parts),
            cpus=sum(part.cpus for part in parts),
            gpus=sum(part.gpus for part in parts),
            memory_gb=memory or None,
            submitted=None if created is None else to_utc(created),
            started=None if since is None or not runs else to_utc(since),
            cluster=self.metadata.labels.get(QUEUE_LABEL, ""),
        )


def kubernetes_queue(content: dict[str, Any], file: str, settings: Settings) -> Queue:
    """Return the queue that the content of a file holds.

    Raises
    ------
    InputError
        With every fault: file, field, job, value and what would be right.
    UnsupportedError
        For objects of other kinds.
    """
    is_list = isinstance(content.get("items"), list)
    rows = content["items"] if is_list else [content]
    faults: list[Fault] = []
    entries: list[Entry] = []
    for row, raw in enumerate(rows):
        place = f"items[{row}]" if is_list else ""
        kind = raw.get("kind", "Job" if is_list else None) if isinstance(raw, dict) else None
        if kind not in ("Job", "AppWrapper"):
            words = "must be a Job of batch/v1 or an AppWrapper, or a list of them"
            faults.append(Fault(f"{place}.kind".lstrip("."), words, shown(kind), file=file))
            continue
        try:
            if kind == "Job":
                job = _as_job(KubernetesJob.model_validate(raw))
            else:
                job = AppWrapper.model_validate(raw).as_job()
            entries.append(_entry(job, place, file))
        except ValidationError as error:
            faults += list(_schema_faults(error, place, file))
    if faults:
        raise InputError(faults)
    return queue_of("kubernetes", file, entries, settings)


def _schema_faults(error: ValidationError, place: str, file: str) -> Iterator[Fault]:
    for item in error.errors(include_url=False):
        path = ".".join(part for part in (place, *map(str, item["loc"])) if part)
        if item["type"] == "missing":
            yield Fault(path, "is missing: a Job must have it", file=file)
        else:
            words = item["msg"].removeprefix("Input should be ")
            yield Fault(path, f"must be {words}", shown(item["input"]), file=file)


def _as_job(one: KubernetesJob, labels: dict[str, str] | None = None) -> QueuedJob:
    """Return a Job; `labels` stand in for those that it does not have."""
    meta = one.metadata
    longest = ((labels or {}) | meta.labels).get(LONGEST_LABEL, "")
    seconds = one.spec.active_deadline_seconds or (float(longest) if longest.isdecimal() else math.inf)
    created, started = meta.creation_timestamp, one.status.start_time
    memory = one.amount("memory")
    return QueuedJob(
        id=f"{meta.namespace}/{meta.name}",
        name=meta.name,
        user=meta.namespace,
        state=one.state,
        hours=seconds / 3600,
        cpus=one.amount("cpu"),
        gpus=one.amount(*GPUS),
        memory_gb=memory / 2**30 if memory > 0 else None,
        submitted=None if created is None else to_utc(created),
        started=None if started is None or one.state != RUNNING else to_utc(started),
        cluster=meta.labels.get(QUEUE_LABEL, ""),
    )


def _entry(job: QueuedJob, place: str, file: str) -> Entry:
    def fault(field: str, problem: str, value: str) -> Fault:
        path = ".".join(part for part in (place, field) if part)
        return Fault(path, problem, shown(value) if value else None, file=file)

    return Entry(job, "", "", fault)


def read_yaml(text: str, file: str) -> Any:
    """Return the object that YAML text holds; several documents as a list of objects.

    Raises
    ------
    UnsupportedError
        If PyYAML is not installed.
    InputError
        If it is not YAML.
    """
    if not text.strip():
        raise InputError(Fault("", "is empty: must hold a queue", file=file))
    try:
        yaml = import_module("yaml")  # an extra
    except ImportError:
        words = "is not JSON, and YAML needs PyYAML: install carbonopt[kubernetes], or use kubectl -o json"
        raise UnsupportedError(f"{file}: {words}") from None
    try:
        documents = [found for found in yaml.safe_load_all(text) if found is not None]
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        line = None if place is None else place.line + 1
        words = getattr(error, "problem", None) or "cannot be read"
        raise InputError(Fault("", f"is neither JSON nor YAML: {words}", file=file, line=line)) from None
    if len(documents) == 1:
        return documents[0]
    return {"kind": "List", "items": documents}


def require_kubernetes(content: Any, file: str) -> dict[str, Any]:
    """Refuse what is no object of a known kind.

    Raises
    ------
    InputError
        It says which kinds are known.
    """
    if not isinstance(content, dict) or content.get("kind") not in KINDS:
        kind = content.get("kind") if isinstance(content, dict) else content
        words = f"must be {one_of(KINDS)} of Kubernetes, or jobs of squeue --json"
        raise InputError(Fault("kind", words, shown(kind), file=file))
    return content
