"""What it means on each kind of Kubernetes object that a job is held back, and the patch that lets it go.

All changes are merge patches (RFC 7386). The one that opens a job leaves the mark `OPENED` on it, in the same patch:
so the API server itself tells, after any crash, whether a job was opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from carbonopt.core.time import format_utc, parse_utc
from carbonopt.io.queues.kubernetes import QUEUE_LABEL
from carbonopt.planning.apply import CLUSTER_LABEL, GATE

Object = dict[str, Any]
OPENED = "carbonopt/opened"
"""Annotation of a job that the controller opened: when, and on which cluster."""
OUR_GATE = "carbonopt/plan"
"""Name in Kueue's list of gates that is taken away alone; a list of one name is taken away whatever it is."""
CASPIAN_GATE = "sustainable"
"""What Caspian's own controller puts into ``dispatchingGates``."""


@dataclass(frozen=True)
class Target:
    """One kind of object.

    Parameters
    ----------
    group, version, plural
        Of the API.
    is_held
        Whether something that the controller may take away keeps an object from starting.
    opening
        Patch that starts an object on a cluster; None for the cluster where there is one alone.
    holding
        Patch that keeps it from starting; None where only its creator can do that.
    readable
        Makes an object one that the reader of queues takes.
    """

    group: str
    version: str
    plural: str
    is_held: Callable[[Object], bool]
    opening: Callable[[Object, str | None], Object]
    holding: Callable[[Object], Object] | None
    readable: Callable[[Object], Object] = lambda one: one


def opened_at(one: Object) -> tuple[datetime, str] | None:
    """Return when and on which cluster the controller opened an object; None where it did not."""
    moment, _, cluster = _annotations(one).get(OPENED, "").partition(" ")
    try:
        return parse_utc(moment), cluster
    except ValueError:
        return None


def opening_of(target: Target, one: Object, cluster: str, several: bool, now: datetime) -> Object:
    """Return the patch that opens an object, with its mark."""
    change = target.opening(one, cluster if several else None)
    metadata = change.setdefault("metadata", {})
    metadata.setdefault("annotations", {})[OPENED] = f"{format_utc(now)} {cluster}"
    return change


def of_mcad(one: Object) -> Object:
    """Return an AppWrapper of MCAD (v1beta1) with the fields of v1beta2 that the reader of queues reads."""
    spec = one.get("spec") or {}
    items = (spec.get("resources") or {}).get("GenericItems") or []
    phase = (spec.get("dispatcherStatus") or {}).get("phase", "")
    components = [{"template": item.get("generictemplate")} for item in items]
    # Queued is MCAD's word for suspended
    return {**one, "spec": {"components": components}, "status": {"phase": "" if phase == "Queued" else phase}}


def _annotations(one: Object) -> dict[str, str]:
    return one.get("metadata", {}).get("annotations") or {}


def _is_suspended(one: Object) -> bool:
    return bool(one.get("spec", {}).get("suspend"))


def _suspend(_one: Object) -> Object:
    return {"spec": {"suspend": True}}


def _resume(_one: Object, _cluster: str | None) -> Object:
    return {"spec": {"suspend": False}}


def _resume_on_nodes(_one: Object, cluster: str | None) -> Object:
    """Node selectors may change while a job is suspended, so they change in the patch that resumes it."""
    spec: Object = {"suspend": False}
    if cluster is not None:
        spec["template"] = {"spec": {"nodeSelector": {CLUSTER_LABEL: cluster}}}
    return {"spec": spec}


def _gates(one: Object) -> list[str]:
    return [name.strip() for name in _annotations(one).get(GATE, "").split(",") if name.strip()]


def _is_gated(one: Object) -> bool:
    gates = _gates(one)
    return OUR_GATE in gates or len(gates) == 1


def _ungate(one: Object, cluster: str | None) -> Object:
    """Gates of others stay: after its creation an object's gates can only be taken away."""
    others = [name for name in _gates(one) if name != OUR_GATE]
    rest = ",".join(others) if OUR_GATE in _gates(one) and others else None
    metadata: Object = {"annotations": {GATE: rest}}
    if cluster is not None:
        metadata["labels"] = {QUEUE_LABEL: cluster}
    return {"metadata": metadata}


def _dispatching(one: Object) -> list[str]:
    return list(one.get("spec", {}).get("dispatchingGates") or [])


def _dispatch(one: Object, cluster: str | None) -> Object:
    """Take Caspian's gate away and set the target cluster (its section IV-B, steps 6 and 7)."""
    spec: Object = {"dispatchingGates": [name for name in _dispatching(one) if name != CASPIAN_GATE]}
    if cluster is not None:
        spec["schedulingSpec"] = {"clusterScheduling": {"policyResult": {"targetCluster": {"name": cluster}}}}
    return {"spec": spec}


def _keep_from_dispatch(one: Object) -> Object:
    return {"spec": {"dispatchingGates": [*_dispatching(one), CASPIAN_GATE]}}


TARGETS = {
    "kubernetes": Target("batch", "v1", "jobs", _is_suspended, _resume_on_nodes, _suspend),
    "kueue": Target("batch", "v1", "jobs", _is_gated, _ungate, None),
    "appwrapper": Target("workload.codeflare.dev", "v1beta2", "appwrappers", _is_suspended, _resume, _suspend),
    "caspian": Target(
        "workload.codeflare.dev",
        "v1beta1",
        "appwrappers",
        lambda one: CASPIAN_GATE in _dispatching(one),
        _dispatch,
        _keep_from_dispatch,
        of_mcad,
    ),
}
"""By the name of the option ``--to``; ``caspian`` is the AppWrapper of MCAD, which Caspian's own controller patches."""
