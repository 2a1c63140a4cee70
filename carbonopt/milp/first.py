"""Solvers of HiGHS, the first of which would print a banner."""

from __future__ import annotations

import os
import sys
from typing import Any

import highspy

STDOUT = 1
"""File descriptor that HiGHS prints to, past `sys.stdout`."""
_is_first = True


def new_highs() -> Any:
    """Return a solver; the first of a process, which prints a banner since HiGHS 1.16, without stdout."""
    global _is_first
    if not _is_first:
        return highspy.Highs()
    _is_first = False
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        kept = os.dup(STDOUT)
    except OSError:  # there is no stdout
        return highspy.Highs()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, STDOUT)
        return highspy.Highs()
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)
        os.close(nowhere)
