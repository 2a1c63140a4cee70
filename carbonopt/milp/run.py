"""One run of HiGHS in a thread of its own, so that Ctrl-C, progress and the time limit reach the calling thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from math import inf, sqrt
from typing import Any, Protocol

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.interrupt import is_asked
from carbonopt.core.leftover import leave
from carbonopt.core.options import Options, Schedule

POLL_SECONDS = 0.1
GRACE_SECONDS = 0.5
"""What HiGHS gets at least to stop in, once it should; presolve and factorisations may take a minute to notice."""
GRACE_SHARE = 0.025
"""What it gets of a long time limit."""
PASS_STEPS = 200.0
LOOK_STEPS = 1_000.0
INTERIOR_STEPS = 60.0
"""Loop steps for each nonzero of the program: of presolve, between two looks of the tree at its limits, and of an
interior-point iteration. Where HiGHS looks, and what it counts, does not depend on the machine."""
SIMPLEX_STEPS = 200.0
"""Loop steps of a simplex iteration, for the square root of the number of nonzeros: vectors are sparse."""


class Judged(Protocol):
    """A schedule with its true value; the objective is infinite where it is not feasible."""

    @property
    def objective(self) -> float:
        """To be minimised."""

    @property
    def schedule(self) -> Schedule:
        """As the checker reads it."""

    @property
    def info(self) -> Mapping[str, Any]:
        """What the checker needs to know beside it."""


class Run:
    """One run in a thread of its own, so that Ctrl-C, progress and the time limit reach the calling thread.

    Attributes
    ----------
    is_left_behind
        Whether HiGHS did not stop when it should have. It goes on in its thread, and must not be asked anything.
    incumbent
        The last feasible columns that it reported, shape (columns,); None if there were none.
    best
        Of the schedules that `judge` made of all columns reported, the one of least objective; None if none is
        feasible.
    state
        Objective and bound that it reported last.
    root_bound
        The last bound that it reported before it branched; None if there was none.
    steps
        Loop steps that it took, about.
    """

    def __init__(
        self,
        highs: Any,
        options: Options,
        schedule_of: Callable[[FloatArray], Any] | None,
        factor: float,
        slack: float,
        nonzeros: int = 0,
        judge: Callable[[FloatArray], Judged] | None = None,
    ) -> None:
        self.highs = highs
        self.options = options
        self.schedule_of = schedule_of
        self.judge = judge
        self.best: Judged | None = None
        self.factor = factor
        self.slack = slack
        self.nonzeros = nonzeros
        self.steps = PASS_STEPS * nonzeros
        self.looks = 0
        self.most_steps = options.steps_left
        self.stopped_by_user = False
        self.is_left_behind = False
        self.failure: BaseException | None = None
        self.incumbent: FloatArray | None = None
        self.is_new = False
        self.state: dict[str, float | None] = {"incumbent": None, "bound": None}
        self.root_bound: float | None = None
        self.finished = threading.Event()
        self.should_stop_since: float | None = None

    def to_the_end(self) -> None:
        """Run, and return when the solver has stopped, or when it is late to stop.

        Raises
        ------
        KeyboardInterrupt
            At the second Ctrl-C, if the solver has not stopped after the first.
        """
        callbacks = (self.highs.cbMipInterrupt, self.highs.cbSimplexInterrupt, self.highs.cbIpmInterrupt)
        for callback in callbacks:
            callback += self._on_interrupt_check
        self.highs.cbMipImprovingSolution += self._on_improvement
        thread = threading.Thread(target=self._work, daemon=True)
        try:
            thread.start()
        except KeyboardInterrupt:  # it has begun all the same
            self.stopped_by_user = True
        while True:
            try:
                if self.finished.is_set() or self._is_late():
                    break
                self.finished.wait(POLL_SECONDS)
                self._poll()
            except KeyboardInterrupt:  # the first asks the solver to stop: what it has is still wanted
                if self.stopped_by_user:
                    leave(thread)
                    raise
                self.stopped_by_user = True
        self.options.spend(self.steps)
        if not self.finished.is_set():
            self.is_left_behind = True
            leave(thread)
            return
        thread.join()
        if self.failure is not None:
            raise self.failure

    def _is_late(self) -> bool:
        """Return whether HiGHS should have stopped so long ago that nobody waits for it any longer."""
        if not self.stopped_by_user and self.options.seconds_left > 0:
            return False
        if self.should_stop_since is None:
            self.should_stop_since = time.perf_counter()
        grace = max(GRACE_SECONDS, GRACE_SHARE * (self.options.time_limit or 0.0))
        return time.perf_counter() - self.should_stop_since >= grace

    def _work(self) -> None:
        try:
            self.highs.run()
        except BaseException as error:  # reaches the caller in to_the_end
            self.failure = error
        finally:
            self.finished.set()

    def _poll(self) -> None:
        if self.options.callback is None:
            return
        make, is_new = None, self.is_new
        self.is_new = False
        if self.judge is not None:
            self._tell_best(is_new)
            return
        if is_new and self.incumbent is not None and self.schedule_of is not None:
            make = _bind(self.schedule_of, self.incumbent)
        self.options.report(**self.state, schedule=make)

    def _tell_best(self, is_new: bool) -> None:
        best = self.best
        if best is None:
            self.options.report(bound=self.state["bound"])
            return
        schedule = (lambda: best.schedule) if is_new else None
        self.options.report(incumbent=best.objective, bound=self.state["bound"], schedule=schedule, info=best.info)

    def _on_interrupt_check(self, event: Any) -> None:
        self._count(event)
        late = self.should_stop_since is not None or self.steps >= self.most_steps
        if late or self.stopped_by_user or is_asked():
            event.data_in.user_interrupt = True
        bound = event.data_out.mip_dual_bound
        if bound and np.isfinite(bound):
            self.state["bound"] = float(bound) / self.factor + self.slack
            if event.data_out.mip_node_count == 0:
                self.root_bound = self.state["bound"]

    def _count(self, event: Any) -> None:
        """Count the steps so far, from what HiGHS counts itself."""
        found = event.data_out
        is_of_tree = found.mip_node_count >= 0
        self.looks += is_of_tree
        steps = (PASS_STEPS + LOOK_STEPS * self.looks) * self.nonzeros
        if not is_of_tree:
            steps += SIMPLEX_STEPS * sqrt(self.nonzeros) * max(found.simplex_iteration_count, 0)
            steps += INTERIOR_STEPS * self.nonzeros * max(found.ipm_iteration_count, 0)
        self.steps = max(self.steps, steps)

    def _on_improvement(self, event: Any) -> None:
        self.incumbent = np.array(event.data_out.mip_solution, dtype=np.float64)
        self.state["incumbent"] = float(event.data_out.objective_function_value) / self.factor
        if self.judge is None:
            self.is_new = True
            return
        try:
            judged = self.judge(self.incumbent)
        except Exception as error:  # reaches the caller in to_the_end
            self.failure, self.most_steps = error, 0.0
            return
        if judged.objective < (inf if self.best is None else self.best.objective):
            self.best, self.is_new = judged, True


def _bind(function: Callable[[FloatArray], Any], values: FloatArray) -> Callable[[], Any]:
    return lambda: function(values)
