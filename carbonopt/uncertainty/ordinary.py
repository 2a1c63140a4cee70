"""Ordinary instances within a search for a plan under risk."""

from __future__ import annotations

from carbonopt.core.instance import Instance
from carbonopt.core.options import Options
from carbonopt.core.solution import Solution
from carbonopt.solve import solve


def solved(instance: Instance, options: Options, share: float, gap: float, plan: Solution | None = None) -> Solution:
    """Return the answer for an instance of one signal; its work counts in that of the search.

    Parameters
    ----------
    instance
        The ordinary instance.
    options
        Of the search.
    share
        Of the time or work that is left to the search, what this may take.
    gap
        At which it ends, relative.
    plan
        To start from; None for none.
    """
    part = options.part(share)
    found = solve(
        instance,
        time_limit=None if options.time_limit is None else part.seconds_left,
        work_limit=None if options.work_limit is None else part.remaining,
        mip_rel_gap=gap,
        seed=options.seed,
        threads=options.threads,
        initial_solution=plan,
    )
    options.work.units += found.work or 0.0
    return found
