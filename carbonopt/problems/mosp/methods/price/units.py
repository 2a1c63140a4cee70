"""Resources in units of like size.

The steps of the ascent, and what the search calls a large job, compare units of different resources. Where memory is
counted in GB beside nodes, it would count 64 times as much as in units of a node's memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.options import Options, Progress
from carbonopt.core.solution import Outcome
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective

PriceMethod = Callable[[MospInstance, Options], Outcome]


def unit_sizes(instance: MospInstance) -> FloatArray:
    """Return how many units of each resource make one of like size, shape (R,).

    That is, as many as a cluster has for each unit of the first resource. Powers of 2, so that no digit is lost.
    """
    capacity = instance.clusters.over(instance.time.slots).capacity.mean(axis=(0, 2))
    if not (capacity > 0).all():
        return np.ones(len(capacity))
    return np.asarray(2.0 ** np.round(np.log2(capacity / capacity[0])))


def in_units(instance: MospInstance, size: FloatArray) -> MospInstance:
    """Return the instance with each resource counted in units of so many, `size` of shape (R,).

    Every schedule keeps its cost. Carbon counts demand times power, so the power of a unit grows with it. Caspian's Z1
    counts demand over capacity and power, so that the power stays.
    """
    clusters = instance.clusters
    power = clusters.watts_per_unit
    if isinstance(instance.objective, CarbonObjective):
        power = power * size
    return replace(
        instance,
        jobs=replace(instance.jobs, demand=instance.jobs.demand / size),
        clusters=replace(
            clusters,
            capacity=clusters.over(instance.time.slots).capacity / size[:, None],
            watts_per_unit=power,
        ),
    )


def in_like_units(method: PriceMethod) -> PriceMethod:
    """Let a method see resources in units of like size; its certificates are in the instance's own units."""

    @functools.wraps(method)
    def around(instance: MospInstance, options: Options) -> Outcome:
        size = unit_sizes(instance)
        if (size == 1).all():
            return method(instance, options)
        callback = options.callback
        if callback is not None:
            told = callback
            options = replace(options, callback=lambda progress: told(_in_own_units(progress, size)))
        outcome = method(in_units(instance, size), options)
        return replace(outcome, certificate=_proof_in_own_units(outcome.certificate, size))

    return around


def _in_own_units(progress: Progress, size: FloatArray) -> Progress:
    certificate = progress.certificate
    if certificate is None:
        return progress
    return replace(progress, certificate=lambda: _proof_in_own_units(certificate(), size))


def _proof_in_own_units(proof: Any, size: FloatArray) -> Any:
    """Return a certificate, or a node of its tree, with prices of the instance's own units."""
    if isinstance(proof, list) and proof and isinstance(proof[0], dict):
        return [_proof_in_own_units(part, size) for part in proof]
    if not isinstance(proof, dict):
        return proof
    made = {key: _proof_in_own_units(part, size) for key, part in proof.items()}
    if "prices" in made:
        made["prices"] = (np.array(made["prices"]) / size[:, None]).tolist()
    if "unit" in made:  # of a clique over two slots
        made["unit"] = float(made["unit"] * size[made["resource"]])
    return made
