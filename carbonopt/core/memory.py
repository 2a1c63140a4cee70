"""Refusing what would not fit into memory, before anything is allocated."""

from __future__ import annotations

from carbonopt.core.errors import Fault, TooLargeError


def require_bytes(what: str, needed: float) -> None:
    """Refuse `what` if it takes more memory than is free.

    Raises
    ------
    TooLargeError
        With the estimate and with what is free.
    """
    import psutil

    free = psutil.virtual_memory().available
    if needed > free:
        raise TooLargeError(Fault("", f"{what}: about {needed / 2**30:.1f} GiB; {free / 2**30:.1f} GiB are free"))
