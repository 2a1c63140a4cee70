"""From wanted shares of a slot to whole levels, and back to the levels before where that costs next to nothing."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.online.sharing import take
from carbonopt.problems.elastic.online.view import View

LEAST_SHARE = 1e-6
"""A unit that is wanted for less of a slot than this is not wanted: the plan's shares are no more exact."""


def whole_levels(view: View, share: FloatArray, level: IntArray) -> IntArray:
    """Return whole levels with about the same servers in all, the most wanted units first, shape (A,).

    Parameters
    ----------
    view
        A jobs.
    share
        Of the slot in which each unit is wanted, shape (A, U); not rising along a job's units.
    level
        What jobs have in any case, shape (A,).
    """
    servers = np.diff(view.scaling.servers, axis=1)[view.profile]
    wanted = round(float((share * servers).sum()))
    row, unit = np.nonzero(share > LEAST_SHARE)
    kept = unit >= level[row]
    row = row[kept]
    unit = unit[kept]
    order = np.lexsort((unit, row, view.slack[row], unit >= view.level[row], -np.round(share[row, unit], 6)))
    limit = min(view.capacity, max(wanted, int(view.servers(level).sum())))
    return take(view, level, row[order], unit[order], limit)


class _Changes:
    """What a plan changes against the slot before, and what undoing a change loses.

    At the prices of the plan a unit is worth mu p - CI e - lambda w to its job. A server that nobody uses
    is worth lambda as well, so that undone changes come in pairs where servers are scarce: a job keeps
    its servers, and others do not start.
    """

    def __init__(self, view: View, level: IntArray, least: IntArray, price: float, mu: FloatArray) -> None:
        scaling = view.scaling
        rows = np.arange(len(view))
        self.level, self.before, self.price = level.copy(), np.maximum(view.level, least), price
        worth = (
            mu[:, None] * scaling.work[view.profile]
            - view.intensity[0] * scaling.kwh[view.profile]
            - price * scaling.servers[view.profile]
        )
        self.loss = np.maximum(0.0, worth[rows, level] - worth[rows, self.before])
        self.needed = view.servers(self.before) - view.servers(level)
        self.free = view.capacity - int(view.servers(level).sum())

    def taking(self) -> list[int]:
        """Return the jobs that would keep servers, the least loss first."""
        rows = np.flatnonzero(self.needed > 0)
        return [int(row) for row in rows[np.argsort(self.loss[rows], kind="stable")]]

    def giving(self) -> list[int]:
        """Return the jobs that would get no more servers, the least loss first."""
        rows = np.flatnonzero((self.needed < 0) & (self.level != self.before))
        return [int(row) for row in rows[np.argsort(self.loss[rows], kind="stable")]]

    def undo(self, rows: list[int]) -> None:
        """Give jobs the levels that they had before."""
        for row in rows:
            self.level[row] = self.before[row]
            self.free -= int(self.needed[row])


def kept_levels(
    view: View, level: IntArray, least: IntArray, price: float, mu: FloatArray, change_g: float, budget: float
) -> IntArray:
    """Return levels that keep what jobs had in the slot before, where that costs little.

    Changes are undone, the least loss first: all that lose less than the price of the change, and others as
    long as they lose no more than `budget` together.

    Parameters
    ----------
    view, level
        A jobs, and the plan's levels, shape (A,).
    least
        Levels that jobs must have at least, shape (A,).
    price, mu
        lambda of the slot [g per server], and of each job's work [g per slot of work], shape (A,).
    change_g
        Price of a server that a job gains or loses [g].
    budget
        [g].
    """
    changes = _Changes(view, level, least, price, mu)
    spent = 0.0
    giving = changes.giving()
    for row in changes.taking():
        group = [row]
        enough = changes.free
        used = 0
        while enough < changes.needed[row] and used < len(giving):
            group.append(giving[used])
            enough -= int(changes.needed[giving[used]])
            used += 1
        if enough < changes.needed[row]:
            continue
        spare = max(0, enough - max(changes.free, int(changes.needed[row])))
        loss = float(changes.loss[group].sum()) + price * spare
        paid = 0.0 if loss <= change_g * float(np.abs(changes.needed[group]).sum()) else loss
        if spent + paid <= budget:
            changes.undo(group)
            giving = giving[used:]
            spent += paid
    for row in giving:  # alone: the servers that they do not get stay idle
        servers = -int(changes.needed[row])
        loss = float(changes.loss[row]) + price * servers
        paid = 0.0 if loss <= change_g * servers else loss
        if spent + paid <= budget:
            changes.undo([row])
            spent += paid
    return changes.level
