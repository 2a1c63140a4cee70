"""Numbers that are known between two ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """What holds a number that is not known better.

    Parameters
    ----------
    least, most
        Its ends; None where nothing is proven on that side.

    Examples
    --------
    >>> Interval(2.0, None).below(5.0), str(Interval(None, 3.0))
    (Interval(least=None, most=3.0), '[?, 3]')
    """

    least: float | None
    most: float | None

    def __str__(self) -> str:
        least, most = ("?" if end is None else f"{end:.6g}" for end in (self.least, self.most))
        return f"[{least}, {most}]"

    def below(self, cost: float) -> Interval:
        """Return by how much a cost is above the number."""
        return Interval(
            None if self.most is None else cost - self.most, None if self.least is None else cost - self.least
        )

    def at_least_zero(self) -> Interval:
        """Return what is left of the interval where the number cannot be negative."""
        return Interval(*(None if end is None else max(0.0, end) for end in (self.least, self.most)))
