"""Deterministic work: what a run does, counted in elementary loop steps rather than by a clock.

Methods count the steps of their loops by formulas: so many for an evaluation of a dual function, for a move of a
search, for a look that HiGHS takes at its limits. The numbers depend on the instance and on what was computed, never on
the machine or on what else it does. A run that ends by work therefore ends at the same place everywhere.

The formulas were fitted to times roughly: a unit takes a method between a third of a second and three seconds on one
core of a server of today. What happens once a run, such as to read the instance or to compile loops, is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

STEPS_A_UNIT = 4e8
"""Elementary loop steps in a unit of work, some 2.5 ns each."""


@dataclass
class Work:
    """Work that was done, shared by all options of a run.

    Attributes
    ----------
    units
        So far [work units].

    Examples
    --------
    >>> work = Work()
    >>> work.add(2e8)
    >>> work.units
    0.5
    """

    units: float = 0.0

    def add(self, steps: float) -> None:
        """Count elementary loop steps."""
        self.units += steps / STEPS_A_UNIT
