"""Scaling profiles: modelled classes, measured ones from files, and mixes of both.

The classes are those of CarbonFlex, Table 3: High, Moderate, Low and Low* elasticity, for CPU clusters
(up to 16 servers a job) and GPU clusters (up to 8). Their numbers are modelled, not the paper's: by Amdahl's
law k servers have the throughput

    S(k) = 1 / (s + (1 - s) / k),   p(k) = S(k) - S(k - 1),

with the serial share s of `SERIAL_SHARES`, so that p(1) = 1 and p falls strictly. Every server draws the
same power, 100 W (CPU) or 300 W (GPU): round assumptions, which scale the objective and change no decision.

`WORKLOADS` are the 13 of Table 3: each has the serial share of its printed class, and traffic made from its printed
size of communication. Servers exchange it once in `EXCHANGE_SECONDS`, by a ring all-reduce on GPUs (PyTorch: 2 (k - 1)
sizes in all) and to one neighbour on CPUs (MPI: k - 1 sizes). GPUs draw unlike power, those that scale well the
most (section 6.2); the paper prints no powers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.errors import UnsupportedError, one_of, shown
from carbonopt.io.profiles import profile_name, read_scaling
from carbonopt.problems.elastic.data.instance import Profile

SERIAL_SHARES = {"high": 0.01, "moderate": 0.05, "low": 0.15, "low*": 0.3}
"""Serial share s of each class by Amdahl's law: assumed, as the paper gives names alone."""
K_MAX = {"cpu": 16, "gpu": 8}
"""Most servers of a job, by kind of cluster."""
WATTS = {"cpu": 100.0, "gpu": 300.0}
"""Power of a server [W], by kind of cluster: assumed."""
NO_SCALING = "no-scaling"
"""The class of jobs that run on one server, of the CPU kind."""


@dataclass(frozen=True)
class Workload:
    """A workload of Table 3.

    Parameters
    ----------
    kind
        ``cpu`` or ``gpu``.
    megabytes
        Size of its communication [MB], printed.
    elasticity
        Its class of scalability, printed.
    watts
        Power of a server [W], assumed.
    """

    kind: str
    megabytes: float
    elasticity: str
    watts: float


WORKLOADS: Mapping[str, Workload] = {
    "n-body-100k": Workload("cpu", 5.3, "high", 100.0),
    "n-body-10k": Workload("cpu", 0.53, "high", 100.0),
    "n-body-3k": Workload("cpu", 0.16, "moderate", 100.0),
    "n-body-2k": Workload("cpu", 0.1, "moderate", 100.0),
    "jacobi-3k": Workload("cpu", 51.2, "low", 100.0),
    "jacobi-2k": Workload("cpu", 28.6, "low", 100.0),
    "jacobi-1k": Workload("cpu", 7.16, "low*", 100.0),
    "alexnet": Workload("gpu", 233.1, "low", 150.0),
    "resnet18": Workload("gpu", 44.7, "low", 180.0),
    "resnet50": Workload("gpu", 97.8, "moderate", 240.0),
    "resnet101": Workload("gpu", 170.5, "high", 300.0),
    "effnet-s": Workload("gpu", 82.7, "high", 280.0),
    "vit-b32": Workload("gpu", 336.6, "moderate", 260.0),
}
"""The 13 workloads of CarbonFlex, Table 3."""
NETWORK_WATTS_PER_GBPS = 0.1
"""Power that moving data takes [W per Gbit/s], the paper's (section 5)."""
EXCHANGES = {"cpu": 1.0, "gpu": 2.0}
"""Sizes of communication that a server more adds to each exchange, by kind: MPI to a neighbour, ring all-reduce."""
EXCHANGE_SECONDS = 1.0
"""Time from one exchange to the next [s]: assumed."""
CLASSES = (*(f"{kind}-{elasticity}" for kind in K_MAX for elasticity in SERIAL_SHARES), NO_SCALING, *WORKLOADS)
"""All classes, those of CPU clusters first, and all workloads."""
MIXES = {name: CLASSES[first : first + 4] for name, first in (("mix", 0), ("gpu-mix", 4))} | {
    f"{kind}-table-3": tuple(name for name, load in WORKLOADS.items() if load.kind == kind) for kind in K_MAX
}
"""Several classes or workloads in equal shares."""


def kind_of(name: str) -> str:
    """Return the kind of cluster that a profile is of: ``gpu`` for the GPU classes and workloads, else ``cpu``."""
    if name in WORKLOADS:
        return WORKLOADS[name].kind
    return "gpu" if name in CLASSES and name.startswith("gpu-") else "cpu"


Key = str | os.PathLike[str] | Profile
Mix = str | Mapping[Key, float]
"""``"cpu-high:3,low.csv:1"``, or what stands in it as keys and shares; keys may be profiles."""


def amdahl(serial_share: float, k_max: int) -> FloatArray:
    """Return p(1..k_max) of Amdahl's law, shape (k_max,).

    Examples
    --------
    >>> amdahl(0.5, 3).round(3).tolist()
    [1.0, 0.333, 0.167]
    """
    servers = np.arange(1, k_max + 1)
    marginal = np.diff(1 / (serial_share + (1 - serial_share) / servers), prepend=0.0)
    marginal[0] = 1.0  # but for rounding
    return marginal


def class_profile(name: str, watts: float | None = None) -> Profile:
    """Return a profile of `CLASSES`.

    Parameters
    ----------
    name
        E.g. ``cpu-high``, ``gpu-low*``, ``no-scaling`` or ``resnet50``.
    watts
        Power of a server [W]; None for that of `WATTS` or of the workload.

    Raises
    ------
    UnsupportedError
        For a name or a power that is none.
    """
    if name not in CLASSES:
        known = one_of((*CLASSES, *MIXES), limit=len(CLASSES) + len(MIXES))
        raise UnsupportedError(f"unknown profile {name!r}: must be {known}, or a CSV file (nodes,throughput,power)")
    if name in WORKLOADS:
        return _workload_profile(name, watts)
    kind, _, elasticity = name.partition("-") if name != NO_SCALING else ("cpu", "", "")
    gain = amdahl(SERIAL_SHARES[elasticity], K_MAX[kind]) if elasticity else np.ones(1)
    return Profile(name, 1, gain, np.full(len(gain), WATTS[kind] if watts is None else watts))


def _workload_profile(name: str, watts: float | None) -> Profile:
    load = WORKLOADS[name]
    gain = amdahl(SERIAL_SHARES[load.elasticity], K_MAX[load.kind])
    gbps = np.full(len(gain), EXCHANGES[load.kind] * load.megabytes * 8e-3 / EXCHANGE_SECONDS)
    gbps[0] = 0.0  # a single server has nobody to talk to
    return Profile(name, 1, gain, np.full(len(gain), load.watts if watts is None else watts), gbps)


def network_price(profiles: tuple[Profile, ...]) -> float:
    """Return the power that moving data takes [W per Gbit/s]: the paper's where a profile tells its traffic, else 0."""
    if any(profile.marginal_gbps is not None for profile in profiles):
        return NETWORK_WATTS_PER_GBPS
    return 0.0


def read_profile(path: str | os.PathLike[str], k_max: int | None = None) -> Profile:
    """Return a measured profile from a CSV file with the columns ``nodes,throughput,power``.

    k_min is the least number of nodes above 0 in the file. Throughput is taken in units of that at k_min.

    Parameters
    ----------
    path
        See `carbonopt.io.profiles.read_scaling`.
    k_max
        Leave out what is above; None for all.

    Raises
    ------
    InputError
        For every fault of the file.
    UnsupportedError
        If `k_max` leaves nothing.
    """
    measured = read_scaling(path)
    gain = np.diff(measured.throughput, prepend=0.0) / measured.throughput[0]
    gain = np.minimum.accumulate(gain)  # what the reader lets pass as rounding
    watts = np.diff(measured.watts, prepend=0.0)
    return _cut(Profile(measured.name, int(measured.nodes[0]), gain, watts), k_max)


def profile_mix(
    profiles: Mix, k_max: int | None = None, watts: float | None = None
) -> tuple[tuple[Profile, ...], FloatArray]:
    """Return the profiles of a mix and the share of jobs that each gets, shape (P,), summing to 1.

    Parameters
    ----------
    profiles
        Names of `CLASSES` or `MIXES` and CSV files, with shares or without (then 1), separated by commas;
        or a mapping of names, files and `Profile` objects to shares. What stands twice gets both shares.
    k_max
        Cut every profile there; None to cut none.
    watts
        Power of a server of the modelled classes [W]; None for that of `WATTS`.

    Raises
    ------
    InputError
        For every fault of a file.
    UnsupportedError
        For unknown names, shares that are not above 0, and options out of range.

    Examples
    --------
    >>> found, shares = profile_mix("cpu-high:3,no-scaling", k_max=4)
    >>> [(profile.name, profile.k_max) for profile in found], shares.tolist()
    ([('cpu-high', 4), ('no-scaling', 1)], [0.75, 0.25])
    """
    for option, value, least in (("k_max", k_max, 1.0), ("watts", watts, 0.0)):
        if value is not None and not least <= value < np.inf:
            raise UnsupportedError(f"{option} = {shown(value)}: must be at least {least:g}")
    shares: dict[Key, float] = {}
    for key, share in _parsed(profiles) if isinstance(profiles, str) else profiles.items():
        if not 0 < share < np.inf:
            raise UnsupportedError(f"profiles: the share of {_label(key)!r} is {shown(share)}: must be above 0")
        members = MIXES.get(key, (key,)) if isinstance(key, str) else (key,)
        for member in members:
            shares[member] = shares.get(member, 0.0) + share / len(members)
    if not shares:
        raise UnsupportedError("profiles: must name at least one profile")
    found = tuple(_profile(key, k_max, watts) for key in shares)
    for name, group in groupby(sorted(profile.name for profile in found)):
        if len(list(group)) > 1:
            raise UnsupportedError(f"profiles: several are called {name!r}: give the files different names")
    weights = np.array(list(shares.values()))
    return found, weights / weights.sum()


def _parsed(text: str) -> list[tuple[Key, float]]:
    """Return the names and shares of ``"a:3,b"``; what follows a colon may also belong to a file's name."""
    pairs: list[tuple[Key, float]] = []
    for part in text.split(","):
        name, colon, share = part.strip().rpartition(":")
        try:
            pairs.append((name.strip(), float(share)) if colon else (share, 1.0))
        except ValueError:
            if name in CLASSES or name in MIXES or _is_file(name):
                raise UnsupportedError(f"profiles: the share of {name!r} is {share!r}: must be a number") from None
            pairs.append((part.strip(), 1.0))
    return pairs


def _profile(key: Key, k_max: int | None, watts: float | None) -> Profile:
    if isinstance(key, Profile):
        return _cut(key, k_max)
    if not isinstance(key, str) or _is_file(key):
        return read_profile(key, k_max)
    return _cut(class_profile(key, watts), k_max)


def _is_file(name: str) -> bool:
    return name not in CLASSES and (profile_name(name) != Path(name).name or Path(name).is_file())


def _cut(profile: Profile, k_max: int | None) -> Profile:
    if k_max is None or k_max >= profile.k_max:
        return profile
    if k_max < profile.k_min:
        raise UnsupportedError(f"k_max = {k_max}: profile {profile.name!r} needs at least {profile.k_min} servers")
    units = k_max - profile.k_min + 1
    gbps = profile.marginal_gbps
    return replace(
        profile,
        marginal_throughput=profile.marginal_throughput[:units],
        marginal_watts=profile.marginal_watts[:units],
        marginal_gbps=None if gbps is None else gbps[:units],
    )


def _label(key: Key) -> str:
    return key.name if isinstance(key, Profile) else str(key)
