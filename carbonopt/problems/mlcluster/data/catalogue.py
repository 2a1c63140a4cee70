"""Scaling profiles of training jobs: modelled families, measured ones from files, and mixes of both.

The profiles of GREEN's jobs are private. The families here bear the names of public models and are
*modelled*, as data-parallel training with a ring all-reduce (Patarasuk and Yuan 2009) of the gradients in
every iteration: n GPUs do the work of n in

    t(n) = t_1 + (1 - overlap) 2 (n - 1) / n  bytes / bandwidth(n),    X(n) = n t_1 / t(n),

with the bandwidth inside a host up to its number of GPUs and that between hosts beyond. A GPU draws its
full power for the share X(n) / n of the time in which it computes, and P_idle while it communicates; the
host adds a constant for each GPU:

    P(n) = n (P_idle + X(n) / n (P_full - P_idle) + P_cpu).

Published are the numbers of parameters: ResNet-50 (He et al. 2016), VGG-16 (Simonyan and Zisserman 2015),
BERT-base (Devlin et al. 2019), GPT-2 small (Radford et al. 2019), MobileNetV2 (Sandler et al. 2018). Assumed
are 4 bytes a parameter and all of `ASSUMED`, and of each family time and power of an iteration on one GPU.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import Fault, InputError, UnsupportedError, one_of, shown
from carbonopt.io.profiles import profile_name, read_scaling
from carbonopt.problems.mlcluster.data.instance import Profile


@dataclass(frozen=True)
class Family:
    """A model that is trained.

    Parameters
    ----------
    parameters
        Number of parameters, published.
    iteration_seconds
        t_1: time of an iteration on one GPU [s], assumed.
    full_watts
        P_full: power of a GPU that computes [W], assumed.
    """

    parameters: float
    iteration_seconds: float
    full_watts: float


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "mobilenetv2": Family(3.4e6, 0.12, 200.0),  # Sandler et al. 2018
        "resnet50": Family(25.6e6, 0.25, 260.0),  # He et al. 2016
        "bert-base": Family(110e6, 0.40, 280.0),  # Devlin et al. 2019
        "gpt2": Family(124e6, 0.50, 290.0),  # Radford et al. 2019, small
        "vgg16": Family(138e6, 0.30, 280.0),  # Simonyan and Zisserman 2015
    }
)
"""Models by name: their parameters are published, their time and power on one GPU are assumed."""
ASSUMED: Mapping[str, float] = MappingProxyType(
    {
        "bytes_per_parameter": 4.0,
        "overlap": 0.5,
        "host_bytes_per_second": 10e9,
        "network_bytes_per_second": 3.125e9,
        "cpu_watts_per_gpu": 40.0,
    }
)
"""What is assumed of all families: 4 bytes a parameter, the share of transfers hidden behind computing, PCIe within a
host, 25 Gbit/s between hosts, and the power that a host's CPUs and memory add for each GPU in use [W]."""
MIX = "mix"
"""All families in equal shares."""

Key = str | os.PathLike[str] | Profile
Mix = str | Mapping[Key, float]
"""``"resnet50:3,mine.csv:1"``, or what stands in it as keys and shares; keys may be profiles."""


def throughput(family: Family, max_gpus: int, gpus_per_host: int) -> FloatArray:
    """Return X(1..max_gpus) of the ring all-reduce model, shape (max_gpus,).

    Examples
    --------
    >>> throughput(FAMILIES["vgg16"], 4, gpus_per_host=2).round(2).tolist()
    [1.0, 1.83, 2.15, 2.77]
    """
    gpus = np.arange(1, max_gpus + 1)
    inside = ASSUMED["host_bytes_per_second"]
    between = ASSUMED["network_bytes_per_second"]
    sent = 2 * (gpus - 1) / gpus * family.parameters * ASSUMED["bytes_per_parameter"]
    waiting = (1 - ASSUMED["overlap"]) * sent / np.where(gpus <= gpus_per_host, inside, between)
    return np.asarray(gpus * family.iteration_seconds / (family.iteration_seconds + waiting))


def modelled(
    name: str, max_gpus: int = 8, gpus_per_host: int = 2, idle_watts: float = 50.0, restart_minutes: float = 2.0
) -> Profile:
    """Return the modelled profile of a family.

    Parameters
    ----------
    name
        Of `FAMILIES`.
    max_gpus
        Entries of the profile.
    gpus_per_host
        GPUs that talk to each other without the network.
    idle_watts
        P_idle of a GPU [W].
    restart_minutes
        What a restart takes.

    Raises
    ------
    UnsupportedError
        For a family that is none.
    """
    if name not in FAMILIES:
        known = one_of((*FAMILIES, MIX), limit=len(FAMILIES) + 1)
        raise UnsupportedError(f"unknown profile {name!r}: must be {known}, or a CSV file (nodes,throughput,power)")
    family = FAMILIES[name]
    speed = throughput(family, max_gpus, gpus_per_host)
    gpus = np.arange(1, max_gpus + 1)
    watts = gpus * (idle_watts + ASSUMED["cpu_watts_per_gpu"]) + speed * max(0.0, family.full_watts - idle_watts)
    return Profile(name, speed, np.maximum.accumulate(watts), restart_minutes)


def measured(path: str | os.PathLike[str], max_gpus: int, restart_minutes: float = 2.0) -> Profile:
    """Return a profile measured on 1, 2, ... nodes (see `carbonopt.io.profiles.read_scaling`)."""
    found = read_scaling(path)
    if found.nodes[0] != 1:
        words = "must begin at 1: throughput is in units of that on one GPU"
        raise InputError(Fault("nodes", words, shown(int(found.nodes[0])), file=str(path)))
    speed = found.throughput[:max_gpus] / found.throughput[0]
    return Profile(profile_name(path), speed, found.watts[:max_gpus], restart_minutes)


def profile_mix(mix: Mix, **model: Any) -> tuple[tuple[Profile, ...], FloatArray]:
    """Return profiles and the share of jobs that each has.

    Parameters
    ----------
    mix
        ``mix``, or names of families and files, each with an optional share: ``resnet50:3,mine.csv``.
    **model
        Of `modelled`; ``max_gpus`` and ``restart_minutes`` count for files too.

    Raises
    ------
    UnsupportedError
        For unknown names and shares that are none.
    InputError
        For every fault of a file.

    Examples
    --------
    >>> parts, shares = profile_mix("resnet50:3,vgg16")
    >>> [part.name for part in parts], shares.tolist()
    (['resnet50', 'vgg16'], [0.75, 0.25])
    """
    pairs = dict(_pairs(mix) if isinstance(mix, str) else mix)
    shares = np.array(list(pairs.values()), dtype=float)
    if not len(shares) or not ((shares > 0) & (shares < np.inf)).all():
        raise UnsupportedError(f"profiles = {shown(mix)}: must name profiles with shares above 0")
    return tuple(_profile(key, model) for key in pairs), shares / shares.sum()


def _pairs(mix: str) -> dict[Key, float]:
    if mix == MIX:
        return dict.fromkeys(FAMILIES, 1.0)
    pairs: dict[Key, float] = {}
    for item in mix.split(","):
        name, colon, share = item.strip().rpartition(":")
        try:
            key = name if colon else share
            pairs[key] = pairs.get(key, 0.0) + (float(share) if colon else 1.0)
        except ValueError:
            raise UnsupportedError(f"profiles = {shown(mix)}: {item!r} must be a name, or name:share") from None
    return pairs


def _profile(key: Key, model: dict[str, Any]) -> Profile:
    if isinstance(key, Profile):
        return key
    if not isinstance(key, str) or key.removesuffix(".gz").endswith(".csv"):
        return measured(key, model.get("max_gpus", 8), model.get("restart_minutes", 2.0))
    return modelled(key, **model)
