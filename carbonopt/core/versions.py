"""What a solution file says of the software that made it."""

from __future__ import annotations

import sys

PACKAGES = ("carbonopt", "numpy", "highspy")


def installed_versions() -> dict[str, str]:
    """Return the versions of carbonopt and of what its numbers hang on; ``unknown`` where a package is not installed.

    Carbonopt's own is that of the code that runs, which need not be installed.

    Examples
    --------
    >>> list(installed_versions())
    ['carbonopt', 'numpy', 'highspy']
    """
    from importlib.metadata import PackageNotFoundError, version

    found = {"carbonopt": str(sys.modules["carbonopt"].__version__)}
    for package in PACKAGES[1:]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
