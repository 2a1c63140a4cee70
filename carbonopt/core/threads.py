"""How many threads the libraries below numpy and scipy take: one for the command and for runs of a campaign.

Matrices here are small. A second thread of OpenBLAS waits in a busy loop between them:
`carbonopt.algorithms.banded` has the figures of one case.
"""

from __future__ import annotations

import os
import sys

from carbonopt.core.interrupt import is_command

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables that say how many threads a library takes."""


def take_one_thread() -> None:
    """Let the command's process have one thread a library, unless the user set a variable; before numpy is loaded."""
    if is_command(sys.argv, sys.orig_argv):
        for variable in THREADS:
            os.environ.setdefault(variable, "1")
