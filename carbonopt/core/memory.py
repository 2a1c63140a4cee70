"""Refusing what would not fit into memory, before anything is allocated."""

from __future__ import annotations

from carbonopt.core.errors import Fault, TooLargeError


def free_bytes(beside: float = 0.0) -> float:
    """Return what this process may still allocate: what is free, and within its own limit (``ulimit -v``).

    Parameters
    ----------
    beside
        Addresses that will be taken and hardly used; only a limit of the process counts them.
    """
    import psutil

    free = float(psutil.virtual_memory().available)
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return free
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return free
    return min(free, max(0.0, limit - psutil.Process().memory_info().vms - beside))


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


def _gib(count: float) -> str:
    gib = count / 2**30
    return f"{gib:.1f}" if gib < 1e6 else f"{gib:.1e}"
