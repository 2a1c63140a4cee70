"""Refusing what would not fit into memory, before anything is allocated."""

from __future__ import annotations

import os
import sys
from math import inf

from carbonopt.core.errors import Fault, TooLargeError
from carbonopt.core.interrupt import is_command

LEAST_MEBIBYTES = 350
"""Addresses that the command takes to load what it imports, rounded up [MiB]."""


def require_addresses() -> None:
    """End the process of the command in one line where ``ulimit -v`` leaves too little to load numpy.

    OpenBLAS begins threads while it is loaded, and sends the process an interrupt where there is no room for them.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    enough = limit == resource.RLIM_INFINITY or limit >= LEAST_MEBIBYTES * 2**20
    if not enough and is_command(sys.argv, sys.orig_argv):
        told = f"error: ulimit -v allows {limit // 2**20} MiB: must be at least {LEAST_MEBIBYTES}\n"
        os.write(2, told.encode())
        os._exit(2)


def free_bytes(beside: float = 0.0) -> float:
    """Return what this process may still allocate: what is free, and within its own limit (``ulimit -v``).

    Parameters
    ----------
    beside
        Addresses that will be taken and hardly used; only a limit of the process counts them.
    """
    import psutil

    return min(float(psutil.virtual_memory().available), max(0.0, _free_addresses() - beside))


def _free_addresses() -> float:
    """Return what this process may still allocate within its own limit (``ulimit -v``)."""
    import psutil

    try:
        import resource
    except ImportError:  # Windows has no such limits
        return inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return inf if limit == resource.RLIM_INFINITY else float(limit - psutil.Process().memory_info().vms)


def require_bytes(what: str, needed: float) -> None:
    """Refuse `what` if it takes more memory than is free.

    Raises
    ------
    TooLargeError
        With the estimate and with what is free.
    """
    free = free_bytes()
    if needed > free:
        raise TooLargeError(Fault("", f"{what}: about {_gib(needed)} GiB; {free / 2**30:.1f} GiB are free"))


def require_free_addresses(what: str, needed: float) -> None:
    """Refuse `what` if it takes more addresses than ``ulimit -v`` leaves, for code that is loaded and hardly used.

    Raises
    ------
    TooLargeError
        With the estimate and with what is free.
    """
    free = _free_addresses()
    if needed > free:
        words = f"about {needed / 2**20:.0f} MiB of addresses; ulimit -v leaves {max(free, 0.0) / 2**20:.0f}"
        raise TooLargeError(Fault("", f"{what}: {words}"))


def _gib(count: float) -> str:
    gib = count / 2**30
    return f"{gib:.1f}" if gib < 1e6 else f"{gib:.1e}"
