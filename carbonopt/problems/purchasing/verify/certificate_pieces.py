"""The least that a job can cost at given prices when it may be interrupted: a part of `certificate`.

Without a price of waiting it runs in the cheapest L hours of its window. With one, w_w, its completion is in some cell:
hours in that cell cost w_w more each, as they put off the completion, and cells after it are of no use. The least over
that cell is exact. Cells are taken one after the other, and the cheapest L hours so far are kept, by price.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.verify.certificate_runs import CHUNK, EPSILON, Priced


def least_of_pieces(instance: PurchasingInstance, priced: Priced, shared: FloatArray) -> FloatArray:
    """Return a lower bound on carbon, wait and the price of `shared` reserved CPUs of each job, shape (N,)."""
    jobs = instance.jobs
    least = np.empty(len(jobs))
    for some, cell in _chunks(instance, priced):
        inside = np.minimum(cell, len(priced.prices) - 1)
        hours = np.where(cell == inside, _open_hours(instance, priced, some, inside), 0.0)
        price = (
            shared[some, None] * priced.prices[inside] + (priced.carbon * jobs.cpus[some])[:, None] * priced.kg[inside]
        )
        length = jobs.length_hours[some]
        if priced.wait == 0:
            least[some] = _cheapest(price, hours, length)
        else:
            before = np.maximum(0.0, priced.edges[inside] - jobs.arrival_hours[some, None]) - length[:, None]
            least[some] = _cheapest_with_wait(price, hours, length, before, priced.wait)
        most = price.max(axis=1) * length + priced.wait * (length + instance.max_wait_hours[some])
        least[some] -= EPSILON * 2 * (cell.shape[1] + 16) * most
    return np.asarray(least - priced.rounding(jobs.cpus, shared))


def _open_hours(instance: PurchasingInstance, priced: Priced, some: IntArray, cell: IntArray) -> FloatArray:
    """Return the hours of each cell that are in the job's window."""
    begin = instance.jobs.arrival_hours[some, None]
    end = instance.latest_end_hours[some, None]
    hours = np.minimum(priced.edges[cell + 1], end) - np.maximum(priced.edges[cell], begin)
    return np.asarray(np.maximum(0.0, hours))


def _chunks(instance: PurchasingInstance, priced: Priced) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield groups of jobs of similar length, and the cells of their windows, shape (J, C)."""
    jobs = instance.jobs
    first = priced.cell(jobs.arrival_hours)
    window = instance.max_wait_hours + jobs.length_hours
    count = np.ceil(window / priced.cell_hours).astype(np.int64) + 2
    order = np.lexsort((jobs.length_hours, count))
    at = 0
    while at < len(order):
        last = order[min(at + CHUNK // int(count[order[at]]), len(order) - 1)]
        some = order[at : at + max(1, CHUNK // int(count[last]))]
        yield some, first[some, None] + np.arange(count[some].max())
        at += len(some)


def _cheapest(price: FloatArray, hours: FloatArray, length: FloatArray) -> FloatArray:
    """Return the cost of the cheapest `length` hours of each row, shape (J,)."""
    order = np.argsort(price, axis=1)
    hours = np.take_along_axis(hours, order, 1)
    price = np.take_along_axis(price, order, 1)
    before = np.cumsum(hours, axis=1) - hours
    return np.asarray((np.clip(length[:, None] - before, 0.0, hours) * price).sum(axis=1))


def _cheapest_with_wait(
    price: FloatArray, hours: FloatArray, length: FloatArray, before: FloatArray, wait: float
) -> FloatArray:
    """Return the least over the cell of the completion; `before` is the wait if it were at the cell's beginning."""
    rows = len(price)
    kept_price, kept_hours = np.zeros((rows, 0)), np.zeros((rows, 0))  # by price, together at most the length
    least = np.full(rows, np.inf)
    for column in range(price.shape[1]):
        here = hours[:, column]
        fee = price[:, column] + wait
        lacks = np.maximum(0.0, length - kept_hours.sum(axis=1))
        must = np.minimum(lacks, here)
        after = np.cumsum(kept_hours[:, ::-1], axis=1)[:, ::-1] - kept_hours  # dearer hours than these
        moved = np.clip((here - must)[:, None] - after, 0.0, kept_hours)
        saved = (moved * np.maximum(0.0, kept_price - fee[:, None])).sum(axis=1)
        value = (kept_price * kept_hours).sum(axis=1) + must * fee - saved + wait * before[:, column]
        enough = (lacks - must <= 1e-9 * length) & (here > 0)
        least = np.where(enough, np.minimum(least, value), least)
        kept_price, kept_hours = _inserted(kept_price, kept_hours, price[:, column], here, length)
    return least


def _inserted(
    price: FloatArray, hours: FloatArray, new_price: FloatArray, new_hours: FloatArray, length: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the cheapest hours with a cell more, cut to the length; columns that no row needs are dropped."""
    price = np.column_stack([price, new_price])
    hours = np.column_stack([hours, new_hours])
    order = np.argsort(price, axis=1, kind="stable")
    price = np.take_along_axis(price, order, 1)
    hours = np.take_along_axis(hours, order, 1)
    left = length[:, None] - (np.cumsum(hours, axis=1) - hours)
    hours = np.clip(left, 0.0, hours)
    used = hours.any(axis=0)
    return price[:, used], hours[:, used]
