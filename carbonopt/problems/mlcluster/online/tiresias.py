"""Tiresias: least attained service first (Gu et al., NSDI 2019)."""

from __future__ import annotations

from carbonopt.core.ranges import require_number
from carbonopt.problems.mlcluster.online.base import LEAST_ROUND_MINUTES, FixedScale
from carbonopt.simulation import State


class Tiresias(FixedScale):
    """Preempt those that have had most GPU time: ``tiresias`` and ``tiresias-2``.

    Parameters
    ----------
    gpus, gamma
        See `FixedScale`: Tiresias does not scale. All baselines follow one rule.
    round_minutes
        Time between two rounds at which jobs may be preempted: by default GREEN's quantum (section 6.3), so that
        both pay for as many restarts. The shorter it is, the more often jobs restart.
    threshold_gpu_hours
        Two queues: service beyond which a job is in the second one; both are first come, first served.
        None: continuous, the least served first.
    """

    def __init__(
        self,
        gpus: int | None = None,
        gamma: float | None = None,
        round_minutes: float = 30.0,
        threshold_gpu_hours: float | None = None,
    ) -> None:
        super().__init__(gpus, gamma)
        require_number("round_minutes", round_minutes, least=LEAST_ROUND_MINUTES)
        require_number("threshold_gpu_hours", threshold_gpu_hours, above=0, none=True)
        self.epoch = round_minutes
        self.threshold = threshold_gpu_hours

    def on_epoch(self, state: State) -> None:
        """Rank all jobs, and run the first."""
        if not state.queued:
            return
        alive = sorted([*state.running, *state.queued], key=lambda job: self._rank(state, job))
        target = self.protected(state)
        room = self.total - sum(target.values())
        self.select(((job, self.scale_of(job)) for job in alive), room, target)
        self.allocate(state, target)

    def on_settled(self, state: State) -> None:
        """Fill GPUs that are free."""
        if self.free(state):
            self.start_in_order(state, sorted(state.queued, key=lambda job: self._rank(state, job)))

    def _rank(self, state: State, job: int) -> tuple[float, int]:
        had = self.attained(state, job)
        if self.threshold is None:
            return (had, job)
        return (float(had >= 60 * self.threshold), job)
