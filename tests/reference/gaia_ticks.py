"""GAIA's public simulator, as naively as can be: every tick, a real heap, and whole numbers.

Written from its behaviour alone, sharing nothing with the package; for tests on small instances, in which all
data are whole numbers, so that sums are exact and ties are ties.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from math import floor
from typing import NamedTuple

HOUR = 720


class _Entry:
    """An entry of the queue: compared by the arrival of its job alone."""

    def __init__(self, priority: int, task: Task) -> None:
        self.priority, self.task = priority, task

    def __lt__(self, other: _Entry) -> bool:
        return self.priority < other.priority


class Task(NamedTuple):
    """A job or a piece of one."""

    job: int
    due: int
    length: int
    spot: bool


class Week(NamedTuple):
    """Jobs in ticks and the hourly signal."""

    arrival: list[int]
    length: list[int]
    cpus: list[int]
    hourly: list[int]
    waits: tuple[int, int]
    """Waiting limits of the short and the long queue [ticks]."""
    reserved: int

    @property
    def ticks(self) -> list[int]:
        return [value for value in self.hourly for _ in range(HOUR)]

    def wait(self, job: int) -> int:
        return self.waits[0] if self.length[job] < 2 * HOUR else self.waits[1]

    def mean(self, job: int) -> int:
        short = [length for length in self.length if length <= 2 * HOUR]
        long = [length for length in self.length if length >= 2 * HOUR]
        own = short if self.length[job] < 2 * HOUR else long
        return floor(Fraction(sum(own), len(own)))


def simulate(week: Week, base: str, form: str, lengths: str) -> list[tuple[int, int, int, str]]:
    """Return rows of (job, start, end, option)."""
    signal = week.ticks
    queue: list[_Entry] = []
    free, releases, rows = week.reserved, [], []
    todo = list(range(len(week.arrival)))
    for now in range(len(signal)):
        for job in [job for job in todo if week.arrival[job] <= now]:
            todo.remove(job)
            for task in _plan(week, signal, job, base, form, lengths):
                heapq.heappush(queue, _Entry(week.arrival[job], task))
        left = []
        while queue:
            entry = heapq.heappop(queue)
            task = entry.task
            cpus = week.cpus[task.job]
            conserving = form in ("res-first", "spot-res") or base == "all-wait-threshold"
            if now < task.due and not (conserving and not task.spot and free >= cpus):
                left.append(entry)
                continue
            option = "spot" if task.spot else "reserved" if free >= cpus else "on-demand"
            if option == "reserved":
                free -= cpus
                releases.append((now + task.length, cpus))
            rows.append((task.job, now, now + task.length, option))
        for entry in left:
            heapq.heappush(queue, entry)
        free += sum(cpus for at, cpus in releases if at == now)
        if not todo and not queue:
            break
    return sorted(rows)


def _plan(week: Week, signal: list[int], job: int, base: str, form: str, lengths: str) -> list[Task]:
    now, length, wait = week.arrival[job], week.length[job], week.wait(job)
    spot = form.startswith("spot") and length <= 2 * HOUR
    if base == "wait-awhile":
        ahead = range(now, min(len(signal), now + length + wait))
        runs = sorted(sorted(ahead, key=lambda tick: (signal[tick], tick))[:length])
        return _pieces(job, runs, spot, form)
    if base == "ecovisor":
        runs, used, tick = [], 0, now
        limit = _quantile(sorted(signal[now : now + 24 * HOUR]))
        while len(runs) < length:
            if signal[tick] < limit or used >= wait:
                runs.append(tick)
            else:
                used += 1
            tick += 1
        return [Task(task.job, task.due, task.length, spot) for task in _pieces(job, runs, spot, "")]
    known = length if lengths == "true" else week.mean(job)
    return [Task(job, now + _offset(signal, now, known, wait, base), length, spot)]


def _offset(signal: list[int], now: int, length: int, wait: int, base: str) -> int:
    if base == "no-wait":
        return 0
    if base == "all-wait-threshold":
        return wait
    if base == "lowest-slot":
        view = signal[now : now + wait + 1]
        return view.index(min(view))
    offsets = [o for o in range(0, wait + 1, HOUR) if now + o + length <= len(signal)] or [0]
    carbon = {o: sum(signal[now + o : now + o + length]) for o in offsets}
    if base == "lowest-window":
        return min(offsets, key=lambda o: (carbon[o], o))
    return max(offsets, key=lambda o: (Fraction(carbon[0] - carbon[o], o + length), -o))


def _quantile(values: list[int]) -> Fraction:
    place = Fraction(3, 10) * (len(values) - 1)
    low = floor(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])


def _pieces(job: int, runs: list[int], spot: bool, form: str) -> list[Task]:
    starts = [at for before, at in zip([-2, *runs], runs, strict=False) if at != before + 1]
    ends = [at + 1 for at, after in zip(runs, [*runs[1:], -2], strict=True) if after != at + 1]
    own = form.startswith("spot") and len(starts) > 1
    return [
        Task(job, start, end - start, end - start <= 2 * HOUR if own else spot)
        for start, end in zip(starts, ends, strict=True)
    ]
