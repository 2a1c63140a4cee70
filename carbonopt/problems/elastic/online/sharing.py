"""Ways to share the servers of a slot among jobs."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.online.view import View


def first_come(view: View, order: IntArray, limit: int | None = None, level: IntArray | None = None) -> IntArray:
    """Give jobs k_min servers in an order, as long as `limit` holds.

    Parameters
    ----------
    view
        A jobs.
    order
        Rows of the view.
    limit
        Servers of all jobs together; None for the capacity.
    level
        What jobs have already, shape (A,); None for nothing. It is not changed.

    Returns
    -------
    ndarray
        Levels, shape (A,).
    """
    given = np.zeros(len(view), dtype=np.int64) if level is None else level.copy()
    free = (view.capacity if limit is None else min(limit, view.capacity)) - int(view.servers(given).sum())
    base = view.servers(np.ones(len(view), dtype=np.int64))
    for row in order.tolist():
        if not given[row] and base[row] <= free:
            given[row] = 1
            free -= int(base[row])
    return given


def by_slack(view: View, rows: IntArray | None = None) -> IntArray:
    """Return rows of the view, those with the least slack first."""
    chosen = np.arange(len(view)) if rows is None else rows
    return chosen[np.argsort(view.slack[chosen], kind="stable")]


def forced_first(view: View) -> IntArray:
    """Give k_min servers to the jobs that would be late otherwise, as far as there are any: levels, shape (A,)."""
    return first_come(view, by_slack(view, np.flatnonzero(view.forced)))


def by_gain(view: View, level: IntArray, ceiling: IntArray, limit: int, least: float = 0.0) -> IntArray:
    """Give away servers unit by unit: by marginal throughput p, then to the job with the least slack.

    Parameters
    ----------
    view
        A jobs.
    level
        What they have already, shape (A,).
    ceiling
        The most that each may have, shape (A,).
    limit
        Servers of all jobs together, as far as the capacity has them.
    least
        Units with p below this are not given.

    Returns
    -------
    ndarray
        Levels, shape (A,).
    """
    gain = np.diff(view.scaling.work, axis=1)[view.profile]
    row, unit = np.nonzero(np.arange(gain.shape[1])[None, :] < ceiling[:, None])
    kept = (unit >= level[row]) & (gain[row, unit] >= least - 1e-12)
    row = row[kept]
    unit = unit[kept]
    order = np.lexsort((unit, row, view.slack[row], -gain[row, unit]))
    return take(view, level, row[order], unit[order], min(limit, view.capacity))


def take(view: View, level: IntArray, row: IntArray, unit: IntArray, limit: int) -> IntArray:
    """Take units in their order where the one below is taken and servers are free; return levels, shape (A,)."""
    given: list[int] = level.tolist()
    free = limit - int(view.servers(level).sum())
    need = view.scaling.servers[:, 1].astype(np.int64)[view.profile].tolist()
    for i, u in zip(row.tolist(), unit.tolist(), strict=True):
        if free <= 0:
            break
        if given[i] == u:
            servers = need[i] if u == 0 else 1
            if servers <= free:
                given[i] = u + 1
                free -= servers
    return np.array(given, dtype=np.int64)


def cheapest_levels(intensity: FloatArray, gain: FloatArray, kwh: FloatArray, work: float) -> IntArray:
    """Return the levels at which one job alone does its work for the least carbon per work, slot by slot.

    CarbonScaler's greedy: units of all slots in the order of p / (e CI), until the work is done.

    Parameters
    ----------
    intensity
        Of the slots that it may use [g/kWh], shape (T,).
    gain, kwh
        Of each unit, shape (U,).
    work
        To be done [slots at k_min]; all units of all slots if they cannot do it.

    Examples
    --------
    >>> cheapest_levels(np.array([2.0, 1.0]), np.array([1.0, 0.6]), np.array([1.0, 1.0]), 1.5).tolist()
    [0, 2]
    """
    cost = intensity[:, None] * kwh[None, :]
    ratio = np.divide(cost, gain[None, :])
    ratio = np.maximum.accumulate(ratio, axis=1)  # no unit before the one below it
    slot, unit = np.divmod(np.lexsort((np.tile(np.arange(len(gain)), len(intensity)), ratio.ravel())), len(gain))
    before = np.concatenate([[0.0], np.cumsum(gain[unit])[:-1]])
    taken = before < work - 1e-9
    return np.bincount(slot[taken], minlength=len(intensity)).astype(np.int64)
