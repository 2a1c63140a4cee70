"""What a state of the cluster is made of, for learning and for looking up what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray

CARBON = ("intensity_g_per_kwh", "gradient_g_per_kwh", "share_cheaper")
"""The features of the carbon signal (CarbonFlex, table 2)."""


def feature_names(queues: int) -> tuple[str, ...]:
    """Return the names of a state's features, for so many queues.

    Examples
    --------
    >>> feature_names(2)[2:]
    ('share_cheaper', 'jobs_queue_0', 'jobs_queue_1', 'elasticity')
    """
    return (*CARBON, *(f"jobs_queue_{q}" for q in range(queues)), "elasticity")


def carbon_features(intensity: FloatArray, before: FloatArray, ahead: FloatArray) -> FloatArray:
    """Return intensity, its gradient, and the share of the next day that is strictly cheaper, shape (C, 3).

    Parameters
    ----------
    intensity
        Of each of the C slots [g/kWh], shape (C,).
    before
        Of the slot before each, shape (C,).
    ahead
        Of the day after each, shape (C, D).

    Examples
    --------
    >>> carbon_features(np.array([200.0]), np.array([250.0]), np.array([[100.0, 200.0, 300.0, 150.0]])).tolist()
    [[200.0, -50.0, 0.5]]
    """
    cheaper = (ahead < intensity[:, None]).mean(axis=1)
    return np.column_stack([intensity, intensity - before, cheaper])


@dataclass(frozen=True, eq=False)
class Cases:
    """States, and what the oracle did in them.

    Parameters
    ----------
    state
        Shape (C, F), features as `feature_names` says.
    servers
        m_t: servers that the oracle had in use, shape (C,).
    rho
        Least marginal throughput p of a unit that it had on; 1 where it idled, shape (C,).
    hour
        When it was, in hours since 1970, shape (C,).
    """

    state: FloatArray
    servers: FloatArray
    rho: FloatArray
    hour: FloatArray

    def __len__(self) -> int:
        return len(self.servers)

    def kept(self, rows: IntArray | slice) -> Cases:
        """Return some of the cases."""
        return Cases(self.state[rows], self.servers[rows], self.rho[rows], self.hour[rows])

    @classmethod
    def empty(cls, features: int) -> Cases:
        """Return no cases."""
        return cls(np.zeros((0, features)), np.zeros(0), np.zeros(0), np.zeros(0))

    @classmethod
    def joined(cls, parts: Sequence[Cases]) -> Cases:
        """Return the cases of all parts, at least one."""
        columns = ("state", "servers", "rho", "hour")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))
