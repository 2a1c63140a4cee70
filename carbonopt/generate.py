"""`generate` an instance of any problem."""

from __future__ import annotations

from typing import Any

from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of


def generate(problem: str, **parameters: Any) -> Instance:
    """Generate a seeded instance; the same parameters always give the same one.

    Parameters
    ----------
    problem
        E.g. ``mosp``.
    **parameters
        Of the problem's generator, e.g. ``preset="caspian", jobs=200, seed=1``; see
        `carbonopt.problems.mosp.generate.generate`.

    Examples
    --------
    >>> instance = generate("mosp", preset="caspian", jobs=20, seed=1)
    >>> instance.name, len(instance.jobs), instance.clusters.name
    ('mosp-caspian-j0020-t048-z3-s01', 20, ('CA-ON', 'JP-KN', 'DE'))
    """
    instance: Instance = problem_of(problem).function("generate")(**parameters)
    return instance
