"""What a solution file says of the software that made it."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache

PACKAGES = ("carbonopt", "numpy", "highspy")


def installed_versions() -> dict[str, str]:
    """Return the versions of carbonopt and of what its numbers hang on; ``unknown`` where a package is not installed.

    Carbonopt's own is that of the code that runs, which need not be installed.

    Examples
    --------
    >>> list(installed_versions())
    ['carbonopt', 'numpy', 'highspy']
    """
    return {"carbonopt": str(sys.modules["carbonopt"].__version__)} | {name: _version(name) for name in PACKAGES[1:]}


def machine() -> str:
    """Return the operating system, the kind of processor and how many there are, for a person."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs"


@cache
def _version(package: str) -> str:
    """Return what the package's metadata say; to read them again takes 2 ms, longer than to check a small schedule."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
