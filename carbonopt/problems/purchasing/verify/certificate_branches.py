"""Certificates by branches on what jobs do that may not split: a tree, with prices in its leaves.

In one part of a node with a moment, a job starts on reserved CPUs by then, or does something else. In the other part it
starts there not before that moment, or does something else. In one part of a node without a moment the job runs on
reserved CPUs, and in the other it does not. So each schedule is in a leaf. The bound of a leaf is that of `certificate`
over what jobs may still do there. Weights of sizes then add up to less: fewer jobs may run in a slot.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from carbonopt.core.certificate import parts_of
from carbonopt.core.errors import Fault, InputError, shown
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_runs import Windows

MOST_WEIGHED = 200_000
"""Leaves times kinds of units of a certificate, at most."""


class Bounds(Protocol):
    """What works out the bound of a leaf."""

    def bound(self, leaf: dict[str, Any], windows: Windows) -> float:
        """Return what prices prove of the schedules in windows: `leaf` is as a certificate without branches."""


def least_of_leaves(instance: PurchasingInstance, certificate: dict[str, Any], bounds: Bounds) -> float:
    """Return the least bound of the leaves of a tree.

    Parameters
    ----------
    instance
        The instance.
    certificate
        ``{"kind": "branches", "grid_slots": k, "rounded": [...], "nodes": [node, ...]}``, the root first: units as in a
        certificate without branches, but without prices. A node is ``{"job": row, "at": hour, "parts": [by then,
        later]}``, ``{"job": row, "parts": [on reserved CPUs, not]}`` with numbers of later nodes, or ``{"prices":
        [k T], "rounded_prices": [[T], ...]}``.
    bounds
        Of its leaves.

    Raises
    ------
    InputError
        If it is no such tree, or jobs may split, or R is to be decided.
    """
    if instance.model != "no-split" or instance.reserved_cpus is None:
        words = "must be 'lagrangian': only where jobs may not split and R is given do branches bound schedules"
        raise InputError(Fault("certificate.kind", words, shown("branches")))
    nodes = certificate.get("nodes")
    if not isinstance(nodes, list) or not nodes or not all(isinstance(node, dict) for node in nodes):
        raise InputError(Fault("certificate.nodes", "must be a list of objects, not empty"))
    units = [] if certificate.get("rounded") is None else certificate["rounded"]
    if not isinstance(units, list) or not all(isinstance(entry, dict) for entry in units):
        raise InputError(Fault("certificate.rounded", "must be null or a list of divisors or weights", shown(units)))
    leaves = sum("prices" in node for node in nodes)
    if leaves * len(units) > MOST_WEIGHED:
        words = f"must have at most {MOST_WEIGHED} prices of units: {leaves} leaves with {len(units)} kinds"
        raise InputError(Fault("certificate.nodes", words))
    least = math.inf
    used = {0}
    waiting = [(0, Windows.of(instance))]
    while waiting:
        number, windows = waiting.pop()
        node = nodes[number]
        field = f"certificate.nodes[{number}]"
        if "prices" not in node:
            parts = parts_of(node, number, len(nodes), used, field)
            waiting.extend(zip(parts, _split(instance, node, windows, field), strict=True))
            continue
        prices = node.get("rounded_prices", [])
        if not isinstance(prices, list) or len(prices) != len(units):
            words = f"must be one list of prices for each of the {len(units)} in certificate.rounded"
            raise InputError(Fault(f"{field}.rounded_prices", words))
        rounded = [entry | {"prices": each} for entry, each in zip(units, prices, strict=True)]
        leaf = {"grid_slots": certificate.get("grid_slots"), "prices": node["prices"], "rounded": rounded}
        try:
            least = min(least, bounds.bound(leaf, windows))
        except InputError as error:
            raise InputError([_of_leaf(fault, field) for fault in error.faults]) from None
    return least


def _of_leaf(fault: Fault, field: str) -> Fault:
    """Return a fault of a leaf's prices under the name that these have in the tree."""
    name = re.fullmatch(r"certificate\.(?:rounded\[(\d+)\]\.)?prices", fault.field)
    if name is None:
        return fault
    return replace(fault, field=f"{field}.prices" if name[1] is None else f"{field}.rounded_prices[{name[1]}]")


def _split(instance: PurchasingInstance, node: dict[str, Any], windows: Windows, field: str) -> tuple[Windows, Windows]:
    """Return the windows of the two parts of a node."""
    job = node.get("job")
    if type(job) is not int or not 0 <= job < len(instance.jobs):
        raise InputError(Fault(f"{field}.job", f"must be a whole number below {len(instance.jobs)}", shown(job)))
    this = np.arange(len(instance.jobs)) == job
    if "at" not in node:
        on_reserved = replace(windows, beside=windows.beside & ~this)
        return on_reserved, replace(windows, reserved=windows.reserved & ~this)
    at = node["at"]
    if type(at) not in (int, float) or not abs(at) <= instance.time.hours:
        words = f"must be a number of hours, at most {instance.time.hours:g} from the beginning"
        raise InputError(Fault(f"{field}.at", words, shown(at)))
    earlier = replace(windows, last=np.where(this, np.minimum(windows.last, at), windows.last))
    return earlier, replace(windows, first=np.where(this, np.maximum(windows.first, at), windows.first))
