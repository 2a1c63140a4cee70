"""The linear program over places with cliques, as one that grows: it begins small, and is solved from its last basis.

Places become columns where prices call for them, and cliques become rows where a solution violates them. Rows that have
long had no price go out again, so that the program stays fast. Between two solves places are closed and opened: by
dives, which have placed some jobs, and by the branches of a tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import BoolArray, FloatArray, IntArray, rank_within
from carbonopt.core.options import Options
from carbonopt.milp.warm import AT_UPPER, BASIC, Basis, Point, WarmProgram
from carbonopt.problems.mosp.methods.price.cliques import CliqueBound
from carbonopt.problems.mosp.methods.price.place_program import Columns, program_over

LEAST_VIOLATION = 1e-3
"""By which a clique must be violated to become a row."""
LEAST_OF_HALVES = 0.02
"""By which a new cut by halves must be violated."""
LEAST_EXCESS = 1e-6
"""How far below 0 a reduced cost must be for a place to become a column, over the mean cost of a job."""
PLACE_STEPS = 20.0
"""Loop steps for each place when these are priced."""
LEAST_PART = 1e-6
"""Of a job that does not run, below which it counts as none."""
LEFT_OUT = 10.0
"""Cost of leaving out a job that must run, over the sum of its most expensive place and that of a mean job."""
RAISED = 10.0
MOST_RAISED = 1e5
"""By how much it becomes more for a job that is left out though all places are open, and by how much in all."""
MOST_NEW = 1_500
"""Places that become columns at a time, at most."""
MOST_IDLE = 2
"""Solves in which a clique may have no price before its row goes out."""
MOST_ROUNDS = 2
"""Solves until a program counts as settled: what it violates then has to wait for the next one."""
LEAST_GONE = 50
"""Rows that go out at a time, at least."""
LEAST_SHARE_GONE = 0.1
"""Share of all rows that go out between rounds, at least."""


class Prices(NamedTuple):
    """Prices of capacity, shape (M, R, T), of cliques, shape (Q,), and what a job of each kind costs at these, (K,)."""

    capacity: FloatArray
    cliques: FloatArray
    jobs: FloatArray


class ProgramBasis(NamedTuple):
    """Where the program ended, whatever rows it has by then.

    Attributes
    ----------
    columns, rows
        HiGHS's status of each column, and of each row that is not a clique.
    cliques
        Numbers of the cliques whose rows bind.
    """

    columns: npt.NDArray[np.int8]
    rows: npt.NDArray[np.int8]
    cliques: IntArray


class Start(NamedTuple):
    """Where a dive begins.

    Attributes
    ----------
    is_open
        Whether each possible placement of the kinds may be used, shape (placements,).
    basis
        Of a program over these; None to begin where the last solve ended.
    """

    is_open: BoolArray
    basis: ProgramBasis | None


class GrowingProgram:
    """The program of one instance.

    Parameters
    ----------
    cliques
        All places and cliques, and the prices that they have. Those with a price are rows from the beginning.
    goal
        Cost of the best schedule known; infinite if none is. Places that cannot be in a better one are no columns at
        the beginning.
    options
        Count the work.
    known
        Which of the others are columns at the beginning, shape (placements,); None for those of least reduced cost.
        Some of each kind of jobs are, too.

    Attributes
    ----------
    columns
        The columns.
    slots
        First slot with rows of capacity, and the one after the last.
    must_run
        Whether jobs of each kind must run, shape (K,).
    left_out, penalty
        What it costs to leave out a job of each kind, and one that must run, shape (K,).
    column_of
        Column of each possible placement, -1 for none, shape (placements,).
    """

    def __init__(self, cliques: CliqueBound, goal: float, options: Options, known: BoolArray | None = None) -> None:
        self.cliques = cliques
        self.samples = samples = cliques.samples
        self.slots = cliques.choices.slots
        chosen = cliques.likely(goal, known)
        self.must_run: BoolArray = ~np.isfinite(cliques.choices.rejection_cost)
        self.penalty = self._penalty()
        self.left_out = np.where(self.must_run, self.penalty, cliques.choices.rejection_cost)
        self._most_left_out = MOST_RAISED * self.left_out
        self._is_closed = self.must_run.copy()
        count = cliques.kinds.count
        program = program_over(samples, cliques.places, cliques.cost, chosen, self.left_out, count, slots=self.slots)
        self._warm = WarmProgram(program, options)
        rows = np.flatnonzero(chosen)
        every = np.arange(len(count))
        none = np.full(len(every), -1)
        at = cliques.places
        self.columns = Columns(
            np.concatenate([rows, none]),
            np.concatenate([at.job[rows], every]),
            np.concatenate([at.cluster[rows], none]),
            np.concatenate([at.start[rows], none]),
        )
        self.column_of = np.full(len(chosen), -1, dtype=np.int64)
        self.column_of[rows] = np.arange(len(rows))
        self.other_rows = self._warm.rows
        self.row_of = np.full(len(cliques.cliques), -1, dtype=np.int64)
        self.idle = np.zeros(len(cliques.cliques), dtype=np.int64)
        self.add_cliques(cliques.proof.numbers, options)

    def _penalty(self) -> FloatArray:
        """Return what it costs at first to leave out a job of each kind that must run, (K,): more than its places.

        Not so much more that the prices of all other jobs would follow where one has no place for a moment.
        """
        cliques = self.cliques
        most = np.zeros(len(cliques.kinds.first))
        np.maximum.at(most, cliques.places.job, np.abs(cliques.cost))
        most = np.maximum(most, np.where(self.must_run, 0.0, cliques.choices.rejection_cost))
        return np.asarray(LEFT_OUT * (most + (float(most.mean()) or 1.0)))

    def _require(self, runs: BoolArray | None) -> None:
        """Let it cost a penalty to leave out jobs of some kinds, shape (K,), beside those that always must run."""
        closed = self.must_run if runs is None else self.must_run | runs
        changed = np.flatnonzero(closed != self._is_closed)
        if len(changed):
            self._is_closed = closed
            column = np.flatnonzero(self.columns.row < 0)[changed]
            self._warm.set_cost(column, np.where(closed, self.penalty, self.left_out)[changed])

    # To solve it

    @property
    def counts(self) -> FloatArray:
        """How many jobs may be in each column at most, where all places are open; shape (C,)."""
        return self.cliques.kinds.count[self.columns.job].astype(np.float64)

    def solve(
        self, upper: FloatArray, goal: float, options: Options, required: BoolArray | None = None
    ) -> Point | None:
        """Return the best solution below `upper` bounds, shape (C,); None above `goal`, or without time or work.

        To leave out jobs of `required` kinds, shape (K,), costs a penalty, even if they may be rejected.
        """
        self._require(required)
        self._warm.set_bounds(upper)
        return self._solve(goal, options)

    def _solve(self, goal: float, options: Options) -> Point | None:
        """Solve the program as it is, and count for each row since when it has had no price."""
        point = self._warm.solve(options, goal)
        if point is not None:
            has_row = np.flatnonzero(self.row_of >= 0)
            has_price = point.row_dual[self.row_of[has_row]] != 0
            self.idle[has_row] = np.where(has_price, 0, self.idle[has_row] + 1)
        return point

    def settled(
        self, upper: FloatArray, goal: float, options: Options, lower: FloatArray | float = 0.0
    ) -> Point | None:
        """Return what `solve` does, but within both bounds, and after violated cliques have become rows."""
        self._require(None)
        self._warm.set_bounds(upper, lower)
        for left in reversed(range(MOST_ROUNDS)):
            point = self._solve(goal, options) if options.remaining > 0 else None
            if point is None or not left or not self.add_cliques(self.violated(point), options):
                break
        return point

    def bound_after(
        self, most_iterations: int, upper: FloatArray, options: Options, required: BoolArray | None = None
    ) -> float:
        """Return what some iterations of the dual simplex method prove, with arguments as those of `solve`."""
        self._require(required)
        self._warm.set_bounds(upper)
        return self._warm.bound_after(most_iterations, options)

    def begin_at(self, basis: ProgramBasis, options: Options) -> None:
        """Begin the next solve where another one ended; rows that bind there come in, and idle ones go out."""
        self._extend_row_of()
        self._drop_idle(basis)
        self.add_cliques(basis.cliques[self.row_of[basis.cliques] < 0], options)
        rows = np.full(self._warm.rows, BASIC, np.int8)
        rows[: self.other_rows] = basis.rows
        rows[self.row_of[basis.cliques]] = AT_UPPER
        self._warm.begin_at(Basis(basis.columns, rows), options)

    def _idle(self, basis: ProgramBasis) -> BoolArray:
        """Return which cliques have a row that has long had no price, and that does not bind at a basis."""
        is_idle = (self.row_of >= 0) & (self.idle > MOST_IDLE)
        is_idle[basis.cliques] = False
        return is_idle

    def _drop_idle(self, basis: ProgramBasis) -> None:
        """Take out the rows that have long had no price, if there are some, but for those that bind at a basis."""
        goes = self._idle(basis)
        if goes.sum() < LEAST_GONE:
            return
        gone = np.sort(self.row_of[goes])
        self._warm.delete_rows(gone)
        self.row_of[goes] = -1
        stays = self.row_of >= 0
        self.row_of[stays] -= np.searchsorted(gone, self.row_of[stays])

    def basis(self) -> ProgramBasis:
        """Return where the last solve ended."""
        columns, rows = self._warm.basis()
        numbers = np.flatnonzero((self.row_of >= 0) & (self.row_of < len(rows)))
        binds = rows[self.row_of[numbers]] != BASIC
        return ProgramBasis(columns, rows[: self.other_rows], numbers[binds])

    # What a solution says

    def has_unplaced(self, point: Point) -> bool:
        """Return whether a part of a job does not run."""
        return bool((point.values[self.columns.row[: len(point.values)] < 0] > LEAST_PART).any())

    def insist(self, point: Point) -> bool:
        """Make it more expensive to leave out what a solution over all places leaves out; return whether there is any.

        A small job that must run may have no other place than where a large one runs, which then has to move.
        """
        columns = np.flatnonzero(self.columns.row[: len(point.values)] < 0)
        jobs = self.columns.job[columns]
        raised = self.must_run[jobs] & (point.values[columns] > LEAST_PART)
        raised &= self.left_out[jobs] < self._most_left_out[jobs]
        self.left_out[jobs[raised]] *= RAISED
        self._warm.set_cost(columns[raised], self.left_out[jobs[raised]])
        return bool(raised.any())

    def starts(self, point: Point) -> FloatArray:
        """Return how many jobs of each kind start in each place, shape (K, M, T)."""
        count = len(point.values)
        job, cluster, start = (part[:count] for part in self.columns[1:])
        runs = np.flatnonzero(cluster >= 0)
        shares = np.zeros(self.cliques.row.shape)
        shares[job[runs], cluster[runs], start[runs]] = point.values[runs]
        return shares

    def prices(self, point: Point) -> Prices:
        """Return the prices that a solution has."""
        self._extend_row_of()
        dual = point.row_dual
        begin, end = self.slots
        capacity = np.zeros(self.samples.clusters.limit.shape)
        jobs = len(self.samples.jobs)
        rows = capacity[:, :, begin:end]
        rows[:] = np.maximum(0.0, -dual[jobs : jobs + rows.size]).reshape(rows.shape)
        has_row = (self.row_of >= 0) & (self.row_of < len(dual))
        cliques = np.zeros(len(self.row_of))
        cliques[has_row] = np.maximum(0.0, -dual[self.row_of[has_row]]) / self.cliques.most[has_row]
        return Prices(capacity, cliques, dual[:jobs])

    def violated(self, point: Point) -> IntArray:
        """Return the cliques without a row that a solution violates."""
        self._extend_row_of()
        used = np.asarray(self.cliques.use.T @ self.amount(point))
        return np.flatnonzero((used > 1 + LEAST_VIOLATION) & (self.row_of < 0))

    def amount(self, point: Point) -> FloatArray:
        """Return how many jobs a solution has in each possible placement, shape (placements,)."""
        amount = np.zeros(len(self.is_column))
        runs = self.columns.row[: len(point.values)]
        amount[runs[runs >= 0]] = point.values[runs >= 0]
        return amount

    def missing(self, cost: FloatArray, prices: Prices) -> IntArray:
        """Return the places that prices call for: `cost` less than their jobs pay by them, by how much, the most first.

        Parameters
        ----------
        cost
            Of each possible place at these prices, infinite where it is closed.
        prices
            Of a solution.
        """
        jobs = self.cliques.places.job
        reduced = cost - prices.jobs[jobs]
        least = -LEAST_EXCESS * abs(self.cliques.proof.bound) / len(self.cliques.instance.jobs)
        rows = np.flatnonzero((reduced < least) & ~self.is_column)
        return rows[np.argsort(reduced[rows], kind="stable")]

    def one_of_each(self, rows: IntArray) -> IntArray:
        """Return some of the places that prices call for: the first of each kind, then the second of each, and so on.

        A large job pays so much that all of its places would come before the first ones of small jobs.
        """
        order = np.argsort(rank_within(self.cliques.places.job[rows]), kind="stable")
        return rows[order[:MOST_NEW]]

    # To let it grow

    def extend(
        self,
        point: Point,
        starts: FloatArray,
        cost: FloatArray,
        prices: Prices,
        least: float,
        options: Options,
        *,
        over_pairs: bool = False,
        by_halves: bool = False,
    ) -> bool:
        """Add what a solution lacks: known cliques that it violates, new ones, and places; return whether any.

        Parameters
        ----------
        point, prices
            The solution, and its prices.
        starts
            That new cliques must violate: its own, or a mean of several solutions.
        cost
            Of each possible place at these prices, infinite where it is closed.
        least
            By which the starts of a new clique must exceed 1.
        options
            Count the work.
        over_pairs
            Cliques over two slots, too, where there are few others.
        by_halves
            New cuts by halves that the solution violates, instead of new cliques; `starts` and `least` do not matter.
        """
        is_new = self.add_cliques(self.violated(point), options)
        if by_halves:
            found = self.cliques.add_halves(self.amount(point), LEAST_OF_HALVES, options)
        else:
            found = self.cliques.add_violated(starts, least, options, over_pairs=over_pairs)
        count = len(self.cliques.cliques)
        is_new |= self.add_cliques(np.arange(count - found, count), options)
        return self.add_places(cost, prices, options) or is_new

    def add_places(self, cost: FloatArray, prices: Prices, options: Options) -> bool:
        """Add the places that prices call for, with arguments as for `extend`; return whether there are any."""
        return self.add_columns(self.one_of_each(self.missing(cost, prices)), options)

    def tidy(self, options: Options) -> None:
        """Take out rows that have long had no price, if they are many: the basis is factorised anew then."""
        most = max(LEAST_GONE, LEAST_SHARE_GONE * self._warm.rows)
        if (self.idle[self.row_of >= 0] > MOST_IDLE).sum() < most:
            return
        basis = self.basis()
        if self._idle(basis).sum() >= most:
            self.begin_at(basis, options)

    @property
    def is_column(self) -> BoolArray:
        """Whether each possible placement is a column, shape (placements,)."""
        return self.column_of >= 0

    @property
    def is_whole(self) -> bool:
        """Whether all placements are columns."""
        return bool(self.is_column.all())

    def add_cliques(self, numbers: IntArray, options: Options) -> bool:
        """Make cliques rows; return whether there are any."""
        self._extend_row_of()
        if not len(numbers):
            return False
        begin, column, value = self.cliques.entries(numbers, self.column_of)
        self.row_of[numbers] = self._warm.rows + np.arange(len(numbers))
        self.idle[numbers] = 0
        self._warm.add_rows(np.ones(len(numbers)), begin, column, value, options)
        return True

    def _extend_row_of(self) -> None:
        """Give new cliques an entry: they have no row yet."""
        new = len(self.cliques.cliques) - len(self.row_of)
        self.row_of = np.concatenate([self.row_of, np.full(new, -1, dtype=np.int64)])
        self.idle = np.concatenate([self.idle, np.zeros(new, dtype=np.int64)])

    def add_columns(self, rows: IntArray, options: Options) -> bool:
        """Make places columns; return whether there are any."""
        self._extend_row_of()
        if not len(rows):
            return False
        instance = self.samples
        new = self.columns_of(rows)
        jobs = len(instance.jobs)
        resources = instance.clusters.limit.shape[1]
        begin, end = self.slots
        slots = end - begin
        start = np.maximum(new.start, begin)
        length = np.minimum(new.start + instance.jobs.duration[new.job], end) - start
        each = np.repeat(np.arange(len(rows)), length)
        slot = np.arange(len(each)) - np.repeat(np.cumsum(length) - length - start, length) - begin
        column = [np.arange(len(rows))]
        row = [new.job]
        value = [np.ones(len(rows))]
        for r in range(resources):
            column.append(each)
            row.append(jobs + (new.cluster[each] * resources + r) * slots + slot)
            value.append(instance.jobs.demand[new.job[each], r])
        use = self.cliques.use[rows].tocoo()
        has_row = self.row_of[use.col] >= 0
        column.append(use.row[has_row].astype(np.int64))
        row.append(self.row_of[use.col[has_row]])
        value.append(use.data[has_row])
        whole_column = np.concatenate(column)
        order = np.argsort(whole_column, kind="stable")
        first = np.searchsorted(whole_column[order], np.arange(len(rows) + 1))
        cost = self.cliques.cost[rows]
        upper = self.cliques.kinds.count[new.job].astype(np.float64)
        self._warm.add_columns(cost, upper, first, np.concatenate(row)[order], np.concatenate(value)[order], options)
        self.column_of[rows] = len(self.columns.row) + np.arange(len(rows))
        self.columns = Columns(*(np.concatenate(parts) for parts in zip(self.columns, new, strict=True)))
        return True

    def columns_of(self, rows: IntArray) -> Columns:
        """Return the columns of placements."""
        at = self.cliques.places
        return Columns(rows, at.job[rows], at.cluster[rows], at.start[rows])
