"""Put a job where it has room and costs least at the prices."""

from __future__ import annotations

import numpy as np

from carbonopt.algorithms.kernel import kernel, managed_kernel
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.mosp.methods.price.packing import has_room, is_open, put
from carbonopt.problems.mosp.methods.price.places import Places
from carbonopt.problems.mosp.methods.price.records import State


@kernel
def filled_slots(left: FloatArray, demand: FloatArray, least: FloatArray, place: int, length: int) -> int:
    """Return in how many slots of a run a demand would leave less room than any job needs."""
    slots = 0
    for s in range(place, place + length):
        for r in range(len(demand)):
            if left[r, s] - demand[r] < least[r]:
                slots += 1
                break
    return slots


@kernel
def listed_cost(i: int, entry: np.record, places: Places, st: State) -> float:
    """Return what job i costs at a place of its list."""
    job = st.jobs[i]
    demand = st.demand[i]
    price = places.price
    slots = price.shape[2] - 1
    cost = job.lowest + entry.excess
    j = entry.place // slots
    t = entry.place % slots
    for r in range(len(demand)):
        cost -= demand[r] * (price[j, r, t + job.length] - price[j, r, t])
    return float(cost)


@managed_kernel
def insert(
    i: int, most: float, most_excess: float, skipped: float, rng: np.random.Generator, places: Places, st: State
) -> bool:
    """Put job i where it has room, costs at most `most`, and has least excess less what full_slot_bonus slots count.

    Places of more than `most_excess` are not looked at, and some are passed over. Returns whether one was found.
    """
    job = st.jobs[i]
    demand = st.demand[i]
    left = st.capacity_left
    room = st.room
    least = st.least_demand
    level = job.level
    length = job.length
    is_level = job.is_level
    entries = places.entry[job.member]
    full_slot_bonus = st.now[0].full_slot_bonus
    found = -1
    best = np.inf
    paid = 0.0
    for k in range(places.size[job.member]):
        place = entries[k].place
        excess = entries[k].excess
        if excess > most_excess or excess - full_slot_bonus * length >= best:
            break
        if is_open(room, level, place, length) and (is_level or has_room(left, demand, place, length)):
            score = excess - full_slot_bonus * filled_slots(left, demand, least, place, length)
            if score < best and (skipped <= 0.0 or rng.random() >= skipped):
                cost = listed_cost(i, entries[k], places, st)
                if cost <= most:
                    found = k
                    best = score
                    paid = cost
    if found >= 0:
        place = np.int64(entries[found].place)
        excess = np.float64(entries[found].excess)  # else `put` compiles twice
        put(i, int(place), paid, float(excess), st)
    return found >= 0


@managed_kernel
def insert_all(order: IntArray, rng: np.random.Generator, places: Places, st: State) -> int:
    """Insert jobs one after the other; return how many find no room."""
    failed = 0
    for i in order:
        if not insert(i, st.jobs[i].rejection_cost, np.inf, 0.0, rng, places, st):
            failed += 1
    return failed
