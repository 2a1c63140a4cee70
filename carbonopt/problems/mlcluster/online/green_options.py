"""What GREEN's paper leaves open, as options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.problems.mlcluster.online.base import LEAST_ROUND_MINUTES

CHOICES: Mapping[str, tuple[str, ...]] = {
    "footprint": ("carbon", "gpu-hours"),
    "shifting": ("figure-5a", "reversed"),
    "order": ("ascending", "descending"),
    "upper": ("fcfs", "degradation"),
    "failed": ("give-back", "keep"),
    "full": ("move-on", "wait"),
    "mean": ("signal", "day", "past-day"),
}
"""Words that each option takes."""


@dataclass(frozen=True)
class GreenOptions:
    """What GREEN leaves open, and its ablations.

    Parameters
    ----------
    mu
        Strength of shifting, at least 1; 1 for none. A higher one moves high-power jobs further into green hours.
    theta
        Share of the GPUs for the upper queue, above 0, at most 1. A higher one lets more jobs grow at a time, and
        leaves fewer GPUs to the lower queue.
    gamma
        DEGRADATION that a job must keep as it grows, above 0, below 1; None for
        ``min(gamma_idle + gamma_rise demand / C, gamma_most)``. A higher one keeps jobs on fewer GPUs.
    gamma_idle
        What gamma is on an empty cluster, above 0, at most 1.
    gamma_rise
        By how much gamma rises for each time that the jobs in the queues want all GPUs C, at least 0.
    gamma_most
        What gamma is at most, above 0, at most 1.
    cap
        Most GPUs of a job, at least 1. A higher one ends jobs that scale well earlier.
    scale_minutes
        Time between two rounds in which jobs grow [min]. More of it makes jobs grow more slowly, and restart less.
    rerank_minutes
        Time between two active rounds [min]. More of it preempts fewer jobs.
    footprint
        ``carbon``, or for the ablation ``gpu-hours``.
    shifting
        ``figure-5a``: high-power jobs 1 / P* in green hours and P* in brown ones, low-power jobs the
        other way round; or ``reversed``.
    order
        Of PRIORITY: ``ascending`` or ``descending``.
    upper
        Order of the upper queue: ``fcfs`` (text) or ``degradation`` (Algorithm 1).
    failed
        A job that has grown too far: ``give-back`` the last GPU, or ``keep`` it.
    full
        A job that may not grow for want of theta: ``move-on`` to the lower queue as it is, or ``wait``.
    mean
        Mean intensity that tells green from brown: of the whole ``signal``, of the ``day`` since the
        beginning of the signal in which it is, or of the ``past-day``.
    backfill
        Whether GPUs that the lower queue leaves free go to the upper one, beyond theta.
    spare
        Whether jobs also grow, beyond theta, on GPUs that nobody waits for.
    ageing_hours
        A job of the lower queue that has waited so long comes first [h]; None for never.

    Raises
    ------
    UnsupportedError
        For a value that is none, or out of its range.
    """

    mu: float = 2.0
    theta: float = 0.3
    gamma: float | None = None
    gamma_idle: float = 0.75
    gamma_rise: float = 0.1
    gamma_most: float = 0.95
    cap: int = 8
    scale_minutes: float = 5.0
    rerank_minutes: float = 30.0
    footprint: str = "carbon"
    shifting: str = "figure-5a"
    order: str = "ascending"
    upper: str = "fcfs"
    failed: str = "give-back"
    full: str = "move-on"
    mean: str = "signal"
    backfill: bool = True
    spare: bool = True
    ageing_hours: float | None = 24.0

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            require_one_of(name, getattr(self, name), known)
        require_number("mu", self.mu, least=1)
        require_number("theta", self.theta, above=0, most=1)
        require_number("gamma", self.gamma, above=0, below=1, none=True)
        require_number("gamma_idle", self.gamma_idle, above=0, most=1)
        require_number("gamma_rise", self.gamma_rise, least=0)
        require_number("gamma_most", self.gamma_most, above=0, most=1)
        require_number("cap", self.cap, least=1, whole=True)
        require_number("scale_minutes", self.scale_minutes, least=LEAST_ROUND_MINUTES)
        require_number("rerank_minutes", self.rerank_minutes, above=0)
        require_number("ageing_hours", self.ageing_hours, least=0, none=True)
