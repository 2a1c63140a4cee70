"""One run of HiGHS in a thread of its own, so that Ctrl-C and progress reach the calling thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from carbonopt.core.arrays import FloatArray
from carbonopt.core.interrupt import is_asked
from carbonopt.core.options import Options

POLL_SECONDS = 0.1


class Run:
    """One run in a thread of its own, so that Ctrl-C and progress reach the calling thread."""

    def __init__(
        self,
        highs: Any,
        options: Options,
        schedule_of: Callable[[FloatArray], Any] | None,
        factor: float,
        slack: float,
    ) -> None:
        self.highs = highs
        self.options = options
        self.schedule_of = schedule_of
        self.factor = factor
        self.slack = slack
        self.stopped_by_user = False
        self.failure: BaseException | None = None
        self.incumbent: FloatArray | None = None
        self.state: dict[str, float | None] = {"objective": None, "bound": None}
        self.finished = threading.Event()

    def to_the_end(self) -> None:
        """Run, and return when the solver has stopped.

        Raises
        ------
        KeyboardInterrupt
            At the second Ctrl-C, if the solver has not stopped after the first.
        """
        callbacks = (self.highs.cbMipInterrupt, self.highs.cbSimplexInterrupt, self.highs.cbIpmInterrupt)
        for callback in callbacks:
            callback += self._on_interrupt_check
        if self.schedule_of is not None:
            self.highs.cbMipImprovingSolution += self._on_improvement
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        while not self.finished.is_set():
            try:
                self.finished.wait(POLL_SECONDS)
                self._poll()
            except KeyboardInterrupt:  # the first asks the solver to stop: what it has is still wanted
                if self.stopped_by_user:
                    raise
                self.stopped_by_user = True
        thread.join()
        if self.failure is not None:
            raise self.failure

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
        values, self.incumbent = self.incumbent, None
        make = None
        if values is not None and self.schedule_of is not None:
            make = _bind(self.schedule_of, values)
        self.options.report(**self.state, incumbent=make)

    def _on_interrupt_check(self, event: Any) -> None:
        if self.stopped_by_user or is_asked():
            event.data_in.user_interrupt = True
        bound = event.data_out.mip_dual_bound
        if bound and np.isfinite(bound):
            self.state["bound"] = float(bound) / self.factor + self.slack

    def _on_improvement(self, event: Any) -> None:
        self.incumbent = np.array(event.data_out.mip_solution, dtype=np.float64)
        self.state["objective"] = float(event.data_out.objective_function_value) / self.factor


def _bind(function: Callable[[FloatArray], Any], values: FloatArray) -> Callable[[], Any]:
    return lambda: function(values)
