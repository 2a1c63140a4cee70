"""The base class of policies: what to write in a file of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carbonopt.core.arrays import FloatArray

if TYPE_CHECKING:
    from carbonopt.simulation.state import State


class Policy:
    """Decides when, where and on how much each job runs.

    A subclass overrides the hooks that it needs; those that it does not are never called. Each hook gets
    the `State`, which tells what is known and takes the actions: `start`, `suspend`, `scale`, `migrate`,
    `plan`, `wake`. Events of one moment come in this order: ends of runs, changes of capacity, arrivals,
    epochs, wake-ups, planned starts (in the order of the jobs' arrival); then `on_settled`, once.

    Attributes
    ----------
    epoch
        Period of `on_epoch`; None for none.
    plans_arrivals
        Whether it plans with jobs that have not arrived, where `State.arrivals_known` lets it know them.

    Examples
    --------
    Jobs one after the other, in the order of their arrival:

    >>> class Queue(Policy):
    ...     def on_settled(self, state):
    ...         for job in list(state.queued):
    ...             if state.fits(job):
    ...                 state.start(job)
    """

    epoch: float | None = None
    plans_arrivals: bool = False

    @property
    def name(self) -> str:
        """What messages call the policy."""
        return type(self).__name__

    def on_begin(self, state: State) -> None:
        """Look at pools, forecast and instance before the first event."""

    def plan_all(self, state: State) -> FloatArray | None:
        """Return the planned start of every job at once, shape (N,); None to plan at arrivals.

        For speed, where a decision depends on what is known at the job's arrival alone. No entry may be
        before the job's arrival; NaN for a job without a plan.
        """

    def on_arrival(self, state: State, job: int) -> None:
        """Decide on a job that has just arrived."""

    def on_completion(self, state: State, job: int) -> None:
        """Use what a completed job has left."""

    def on_suspension(self, state: State, job: int) -> None:
        """Decide on a job whose run reached the time that `start` set for it (``until``)."""

    def on_eviction(self, state: State, job: int) -> None:
        """Decide on a job that was evicted; it has lost what it had done."""

    def on_capacity(self, state: State, pool: int) -> None:
        """Make room in a pool whose capacity has changed: its load must not exceed it afterwards."""

    def on_epoch(self, state: State) -> None:
        """Re-plan: called at 0 and every `epoch` as long as a job is not complete."""

    def on_wake(self, state: State) -> None:
        """Do what `State.wake` was called for."""

    def on_due(self, state: State, job: int) -> None:
        """Start a job whose planned start has come."""
        state.start(job)

    def on_settled(self, state: State) -> None:
        """Decide once all that happens at this moment has happened."""
