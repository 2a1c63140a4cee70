"""Compiled loops of the search: which jobs a move takes out, around a job or to close a machine for a while."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.ecas.methods.price.tables import State, Tables

DRAWS = 3
"""Machines and slots drawn to close a machine: the one is taken that idles at the highest cost for each job."""
CLOSING_DRAWS = 2 * DRAWS + 5
"""Random numbers that choose what a move takes out that closes a machine, beside one for each job."""


class Members(NamedTuple):
    """The jobs of each machine, and of none, as linked lists.

    Attributes
    ----------
    first
        First job of each machine; the last entry is of those without a place. Below 0 for none, shape (M + 1,).
    next, previous
        Beside each job in its list, below 0 at the ends, shape (N,).
    """

    first: IntArray
    next: IntArray
    previous: IntArray


@kernel
def join(members: Members, j: int, m: int) -> None:
    """Put a job at the front of a machine's list."""
    second = members.first[m]
    members.next[j] = second
    members.previous[j] = -1
    if second >= 0:
        members.previous[second] = j
    members.first[m] = j


@kernel
def leave(members: Members, j: int, m: int) -> None:
    """Take a job out of a machine's list."""
    before = members.previous[j]
    after = members.next[j]
    if before >= 0:
        members.next[before] = after
    else:
        members.first[m] = after
    if after >= 0:
        members.previous[after] = before


@kernel
def draw_more(random: FloatArray, around: IntArray, found: int, taken: IntArray, count: int) -> int:
    """Fill `taken`, which has `count` jobs, with some of those found, each as likely; return how many it has."""
    drawn = min(len(taken) - count, found)
    for k in range(drawn):
        pick = k + int(random[k] * (found - k))
        taken[count + k] = around[pick]
        around[pick] = around[k]
    return count + drawn


@kernel
def choose_jobs(
    tables: Tables,
    state: State,
    members: Members,
    random: FloatArray,
    reach: int,
    around: IntArray,
    taken: IntArray,
) -> int:
    """Write jobs to take out around a random one, in `taken`, and return how many.

    They run beside it within `reach` slots: on its machine, on its machine and another one, or on any. For these,
    machines are looked at in steps of random width until they have four times as many jobs as are needed. Any of them
    are as likely as any others. Jobs without a place come first.

    Parameters
    ----------
    random
        Shape (6 + len(taken),).
    around
        Work space, shape (N,).
    """
    jobs = len(state.machine)
    machines = len(tables.up)
    j = min(int(random[0] * jobs), jobs - 1)
    most = min(2 + int(random[1] * (len(taken) - 1)), len(taken))
    middle = state.start[j] + tables.duration[j] // 2
    half = 1 + int(random[2] * reach)
    count = 1
    taken[0] = j
    i = members.first[machines]
    while i >= 0 and count < most:
        if i != j:
            taken[count] = i
            count += 1
        i = members.next[i]
    m = state.machine[j]
    step = 0
    looked_at = 1
    if random[3] < 1 / 3 or m < 0:
        m = min(int(random[4] * machines), machines - 1)
        step = 1 + int(random[5] * (machines - 1))
        looked_at = machines
    elif random[3] > 2 / 3:
        step = int(random[4] * machines)  # 0: its own alone
        looked_at = 2 if step > 0 else 1
    first = m
    found = 0
    for _ in range(looked_at):
        i = members.first[m]
        while i >= 0:
            start = state.start[i]
            if i != j and start < middle + half and start + tables.duration[i] > middle - half:
                around[found] = i
                found += 1
            i = members.next[i]
        m = (m + step) % machines
        if m == first or found >= 4 * most:
            break
    return draw_more(random[6:], around, found, taken[:most], count)


@kernel
def lonely_slot(tables: Tables, state: State, random: FloatArray) -> tuple[int, int]:
    """Return a machine and a slot of high idle cost for each job that runs: of some drawn, the one of the highest.

    It is (-1, 0) where none of them has a job.

    Parameters
    ----------
    random
        Shape (2 DRAWS,).
    """
    machines, slots = state.running.shape
    machine = -1
    slot = 0
    highest = -np.inf
    for k in range(DRAWS):
        m = min(int(random[2 * k] * machines), machines - 1)
        t = min(int(random[2 * k + 1] * slots), slots - 1)
        jobs = state.running[m, t]
        if jobs > 0 and tables.idle[m, t] / jobs > highest:
            highest = tables.idle[m, t] / jobs
            machine = m
            slot = t
    return machine, slot


@kernel
def choose_to_close(
    tables: Tables,
    state: State,
    members: Members,
    random: FloatArray,
    reach: int,
    closed_jobs: int,
    others: int,
    around: IntArray,
    taken: IntArray,
) -> tuple[int, int, int, int]:
    """Write all jobs of a machine in a window to `taken`, and jobs of others that may be in their way.

    The window is around a slot in which the machine idles for few jobs at a high cost. Others are machines that run in
    this slot: from them come jobs that run beside those of the window, but not in it, for they could use the room that
    is left before and after.

    Parameters
    ----------
    random
        Shape (CLOSING_DRAWS + len(taken),).
    reach
        Slots of the window before and after the slot, at most.
    closed_jobs
        Jobs of the machine, at most.
    others
        Machines, at most.
    around
        Work space, shape (N,).

    Returns
    -------
    count : int
        Jobs in `taken`; 0 where the window has more.
    machine, first, end : int
        The machine, and its window.
    """
    machines, slots = state.running.shape
    most = len(taken)
    machine, middle = lonely_slot(tables, state, random)
    draws = random[2 * DRAWS :]
    half = 1 + int(draws[0] * reach)
    of_machine = min(most, 1 + int(draws[1] * closed_jobs))
    first = max(0, middle - half)
    end = min(slots, middle + half)
    count = 0
    begin = first
    last = end
    i = members.first[machine] if machine >= 0 else -1
    while i >= 0:
        start = state.start[i]
        stop = start + tables.duration[i]
        if start < end and stop > first:
            if count == of_machine:
                return 0, machine, first, end
            taken[count] = i
            count += 1
            begin = min(begin, start)
            last = max(last, stop)
        i = members.next[i]
    found = 0
    m = min(int(draws[2] * machines), machines - 1)
    wanted = 1 + int(draws[3] * others) if count > 0 else 0
    for _ in range(machines):
        if wanted == 0:
            break
        if m != machine and state.running[m, middle] > 0:
            wanted -= 1
            i = members.first[m]
            while i >= 0:
                start = state.start[i]
                stop = start + tables.duration[i]
                if start < last and stop > begin and (start >= end or stop <= first):
                    around[found] = i
                    found += 1
                i = members.next[i]
        m = (m + 1) % machines
    more = min(most, count + int(draws[4] * (most + 1)))
    return draw_more(draws[5:], around, found, taken[:more], count), machine, first, end


@kernel
def shut(tables: Tables, state: State, m: int, first: int, end: int, sign: int) -> None:
    """Take a machine's room in a window away (sign 1), or give it back (sign -1)."""
    word = tables.fields.word[-1]
    unit = tables.fields.unit[-1]
    for t in range(first, end):
        if tables.idle[m, t] < np.inf:  # else it has none
            state.free[m, word, t] -= sign * unit
