"""Numbers as Slurm and Kubernetes print them."""

from __future__ import annotations

import math
import re

_GPU = re.compile(r"gres[/:]gpu(?!mem|util)(?::[^=:,()]+)?[=:](\d+)")
_TYPED = re.compile(r"gres[/:]gpu:[^=:,()]+[=:]\d+")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)(?:B|i)?[nc]?", re.IGNORECASE)
_POWER = {"": -1, "K": -2, "M": -1, "G": 0, "T": 1, "P": 2}
"""Of 1024 GiB a unit is; a number alone is of MiB, as in Slurm."""
_TASKS = re.compile(r"\d{1,18}(-\d{1,18}(:\d{1,18})?)?(,\d{1,18}(-\d{1,18}(:\d{1,18})?)?)*")
LARGEST_ARRAY = 100_000
"""Tasks of one array; Slurm's own MaxArraySize is 4,000,001 at most, and by default 1,001."""


def tres(text: str) -> dict[str, str]:
    """Return trackable resources by name.

    Examples
    --------
    >>> tres("cpu=4,mem=8G,gres/gpu=2")
    {'cpu': '4', 'mem': '8G', 'gres/gpu': '2'}
    """
    pairs = (part.partition("=") for part in text.split(",") if "=" in part)
    return {name.strip(): value.strip() for name, _, value in pairs}


def gpus(text: str) -> float:
    """Return the GPUs that a text of resources asks for.

    Where it counts both all GPUs and those of a type, the latter are not counted again.

    Examples
    --------
    >>> gpus("cpu=4,gres/gpu=2,gres/gpu:a100=2"), gpus("gres:gpu:a100:3"), gpus("gres/gpu:1"), gpus("cpu=4")
    (2.0, 3.0, 1.0, 0.0)
    """
    parts = [part for part in text.split(",") if _GPU.match(part.strip())]
    total = [part for part in parts if not _TYPED.match(part.strip())]
    return sum((float(found[1]) for part in total or parts if (found := _GPU.match(part.strip()))), 0.0)


def slurm_memory_gb(text: str) -> float | None:
    """Return memory such as ``8G`` or ``4000M`` in GiB; None where it is none.

    Examples
    --------
    >>> slurm_memory_gb("8G"), slurm_memory_gb("512"), slurm_memory_gb("?")
    (8.0, 0.5, None)
    """
    found = _MEMORY.fullmatch(text.strip())
    return None if found is None else float(found[1]) * 1024.0 ** _POWER[found[2].upper()]


_SUFFIX = {
    "n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip
_QUANTITY = re.compile(r"(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([a-zA-Z]{0,2}))")


def quantity(value: object) -> float:
    """Return a Kubernetes quantity as a number, NaN where it is none.

    Examples
    --------
    >>> quantity("500m"), quantity("2Gi"), quantity(4), quantity("1e3")
    (0.5, 2147483648.0, 4.0, 1000.0)
    """
    found = _QUANTITY.fullmatch(str(value).strip())
    if found is None or isinstance(value, bool) or (found[3] or "") not in _SUFFIX:
        return math.nan
    return float(found[1] + (found[2] or "")) * _SUFFIX[found[3] or ""]


def array_tasks(text: str) -> list[int] | None:
    """Return the tasks of an array such as ``0-6:2,9``; None where it is none, or larger than `LARGEST_ARRAY`.

    Examples
    --------
    >>> array_tasks("0-6:2,9"), array_tasks("3"), array_tasks("1-"), array_tasks("5-1")
    ([0, 2, 4, 6, 9], [3], None, None)
    """
    if not _TASKS.fullmatch(text):
        return None
    found: dict[int, None] = {}
    for part in text.split(","):
        span, _, step = part.partition(":")
        first, _, last = span.partition("-")
        tasks = range(int(first), int(last or first) + 1, int(step or 1) or 1)
        if not tasks or len(found) + len(tasks) > LARGEST_ARRAY:
            return None
        found |= dict.fromkeys(tasks)
    return list(found)
