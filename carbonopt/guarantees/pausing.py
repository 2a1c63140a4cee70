"""The loop of the rules that pause: it sees one value a slot."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import BoolArray, FloatArray


def pause_and_resume(values: FloatArray, thresholds: FloatArray, ease: float, work: int) -> BoolArray:
    """Return the slots in which a job runs that starts at or below a threshold.

    Parameters
    ----------
    values
        Shape (T,).
    thresholds
        Of the 1st, 2nd, ... slot of work, at least `work` of them.
    ease
        By how much a value may exceed the threshold in a job that ran in the slot before.
    work
        Slots of work, at most T. After T less `work` slots of waiting the job runs whatever the value is.

    Returns
    -------
    ndarray
        Shape (T,): `work` of them are true.
    """
    wait = len(values) - work
    runs = np.zeros(len(values), dtype=bool)
    done = 0
    for slot, value in enumerate(values.tolist()):
        if done == work:
            break
        went = slot > 0 and runs[slot - 1]
        limit = thresholds[done] + (ease if went else 0.0)
        if slot - done >= wait or value <= limit:
            runs[slot] = True
            done += 1
    return runs
