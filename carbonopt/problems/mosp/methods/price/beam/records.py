"""What the kernels of a beam read and write."""

from __future__ import annotations

from typing import NamedTuple

from carbonopt.core.arrays import BoolArray, ByteArray, FloatArray, IntArray, ShortArray


class Program(NamedTuple):
    """What the kernels need of a part of n jobs in A types on M clusters in T slots, with S profiles.

    Attributes
    ----------
    first
        Jobs of type a (equal length, demand, and places allowed) are first[a] to first[a + 1] - 1, shape (A + 1,).
    step
        Profile after the start of a job of each type, -1 beyond capacity, shape (A, S).
    units, later
        Units that a profile holds in the slots to come, shape (S, L), and the profile one slot later, shape (S,).
    open
        Whether others leave room for a profile on a cluster in a slot, shape (M, T, S); always for the one that holds
        nothing.
    cost
        Of each start, infinite where there is none, shape (M, T, n).
    arrival, last
        First slot in which each job may start, and last one in which it can, -1 for none, shape (n,).
    heuristic_to_go
        Least excess that is still possible for each job from a slot on, shape (n, T + 1).
    twin
        The job before that is equal in everything, -1 for none, shape (n,); where jobs are ordered.
    rejection_cost
        Cost of a job that does not run; infinite where it must.
    is_ordered
        Whether of two jobs of a type the one with the earlier deadline may always start first.
    """

    first: IntArray
    step: IntArray
    units: IntArray
    later: IntArray
    open: BoolArray
    cost: FloatArray
    arrival: IntArray
    last: IntArray
    heuristic_to_go: FloatArray
    twin: IntArray
    rejection_cost: float
    is_ordered: bool


class Paths(NamedTuple):
    """Shortest paths at given job prices, for profiles that are open. Entries of others are not filled, and never read.

    Attributes
    ----------
    waits
        Whether a job is still waiting in some state, shape (n,).
    value
        Cost of the shortest path from a profile at the begin of a slot to the end, shape (M, T + 1, S).
    best
        How many jobs of a type it starts there, shape (M, T, A, S).
    ranked, ready
        Jobs of each type that are worth starting in a slot, by reduced cost, in the type's columns, shape (M, T, n);
        and how many, shape (M, T, A).
    stage
        The same values in a slot before the starts of each type, and after all, shape (A + 1, S).
    reduced
        Work space, shape (n,).
    """

    waits: BoolArray
    value: FloatArray
    best: ByteArray
    ranked: IntArray
    ready: IntArray
    stage: FloatArray
    reduced: FloatArray


class States(NamedTuple):
    """States of the dynamic program, as many as there is room for.

    Attributes
    ----------
    least
        A bound on what the best schedule costs that comes from it, shape (K,).
    cost
        Of what has started, shape (K,).
    heuristic_to_go
        Sum of the least excesses that are still possible for the jobs that wait: a guide, no bound, shape (K,).
    tag
        A mark of the set of jobs that have started, shape (K,).
    next
        Position among the candidates of a type after the last one started, shape (K,).
    profile
        Of each cluster, shape (K, M).
    start
        Cluster x T + slot of each job, -1 while it waits, M T if it will not run, shape (K, n).
    """

    least: FloatArray
    cost: FloatArray
    heuristic_to_go: FloatArray
    tag: IntArray
    next: IntArray
    profile: IntArray
    start: ShortArray
