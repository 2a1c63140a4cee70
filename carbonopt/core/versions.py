"""What a solution file says of the software that made it."""

from __future__ import annotations

PACKAGES = ("carbonopt", "numpy", "highspy")


def installed_versions() -> dict[str, str]:
    """Return the versions of carbonopt and of what its numbers hang on; ``unknown`` where a package is not installed.

    Examples
    --------
    >>> list(installed_versions())
    ['carbonopt', 'numpy', 'highspy']
    """
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
