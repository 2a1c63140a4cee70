"""Runs on the clusters: where a job has room, and jobs put into the schedule and taken out of it.

Jobs demand few different amounts. For each of these levels there is one bit a slot that says whether so much is free,
so a look at a run of up to 32 slots costs one comparison. Of many different demands, some share a level, the least of
them; what the bits let pass is then looked at slot by slot.
"""

from __future__ import annotations

from carbonopt.algorithms.kernel import kernel
from carbonopt.core.arrays import FloatArray, IntArray, RecordArray
from carbonopt.problems.mosp.methods.price.records import State

LEVELS = 24
"""Demands that have bits of their own, at most."""
SHIFT = 5
"""Slots of a word, as a power of 2: a slot's word is its number shifted by this."""
WORD = 32
"""Slots a word of 64 bits, 2^SHIFT: two of them side by side still fit into one."""


@kernel
def is_open(room: IntArray, level: int, place: int, length: int) -> bool:
    """Return whether a run of slots has room for a level."""
    at = place
    end = place + length
    while at < end:
        word = at >> SHIFT
        bit = at & (WORD - 1)
        run = (room[level, word] >> bit) | (room[level, word + 1] << (WORD - bit))
        mask = (1 << min(end - at, WORD)) - 1
        if run & mask != mask:
            return False
        at += WORD
    return True


@kernel
def has_room(left: FloatArray, demand: FloatArray, place: int, length: int) -> bool:
    """Return whether a run of slots has room for a demand, slot by slot."""
    for r in range(len(demand)):
        for s in range(place, place + length):
            if left[r, s] < demand[r]:
                return False
    return True


@kernel
def fits(i: int, place: int, st: State) -> bool:
    """Return whether job i has room there."""
    job = st.jobs[i]
    if not is_open(st.room, job.level, place, job.length):
        return False
    return job.is_level or has_room(st.capacity_left, st.demand[i], place, job.length)


@kernel
def add(
    sign: float, demand: FloatArray, place: int, length: int, left: FloatArray, levels: FloatArray, room: IntArray
) -> None:
    """Add a demand, times a sign, to what is free in a run of slots."""
    for s in range(place, place + length):
        word = s >> SHIFT
        bit = 1 << (s & (WORD - 1))
        for r in range(len(demand)):
            left[r, s] += sign * demand[r]
        for v in range(len(levels)):
            enough = True
            for r in range(len(demand)):
                enough = enough and left[r, s] >= levels[v, r]
            room[v, word] &= ~bit
            if enough:
                room[v, word] |= bit


@kernel
def settle(
    i: int, place: int, cost: float, excess: float, jobs: RecordArray, high_regret: IntArray, now: RecordArray
) -> None:
    """Write where job i is, and whether it is one of large regret."""
    job = jobs[i]
    one = now[0]
    job.place = place
    job.cost = cost
    job.excess = excess
    at = job.high_regret_at
    if excess > one.high_regret_excess and at < 0:
        job.high_regret_at = one.high_regret_count
        high_regret[one.high_regret_count] = i
        one.high_regret_count += 1
    elif excess <= one.high_regret_excess and at >= 0:
        one.high_regret_count -= 1
        other = high_regret[one.high_regret_count]
        high_regret[at] = other
        jobs[other].high_regret_at = at
        job.high_regret_at = -1


@kernel
def unlist_rejected(i: int, st: State) -> None:
    """Take job i from the list of rejected jobs."""
    jobs = st.jobs
    rejected = st.rejected
    one = st.now[0]
    at = jobs[i].rejected_at
    one.rejected_count -= 1
    other = rejected[one.rejected_count]
    rejected[at] = other
    jobs[other].rejected_at = at
    jobs[i].rejected_at = -1


@kernel
def put(i: int, place: int, cost: float, excess: float, st: State) -> None:
    """Run job i there."""
    jobs = st.jobs
    head = st.head
    job = jobs[i]
    first = head[place]
    add(-1.0, st.demand[i], place, job.length, st.capacity_left, st.levels, st.room)
    settle(i, place, cost, excess, jobs, st.high_regret, st.now)
    unlist_rejected(i, st)
    job.after = first
    job.before = -1
    head[place] = i
    if first >= 0:
        jobs[first].before = i


@kernel
def take(i: int, st: State) -> None:
    """Take job i out of the schedule."""
    jobs = st.jobs
    now = st.now
    job = jobs[i]
    add(1.0, st.demand[i], job.place, job.length, st.capacity_left, st.levels, st.room)
    if job.before >= 0:
        jobs[job.before].after = job.after
    else:
        st.head[job.place] = job.after
    if job.after >= 0:
        jobs[job.after].before = job.before
    settle(i, -1, job.rejection_cost, job.rejection_regret, jobs, st.high_regret, now)
    job.rejected_at = now[0].rejected_count
    st.rejected[job.rejected_at] = i
    now[0].rejected_count += 1
