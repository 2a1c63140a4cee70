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
        A name of `carbonopt.core.registry.problem_names`.
    **parameters
        Of the problem's generator, e.g. ``jobs=200, seed=1``; see ``generate`` in
        ``carbonopt.problems.<problem>.data.generate``.

    Examples
    --------
    >>> instance = generate("mosp", preset="caspian", jobs=20, seed=1)
    >>> instance.name, len(instance.jobs), instance.clusters.name
    ('mosp-caspian-j0020-t048-z3-s01', 20, ('CA-ON', 'JP-KN', 'DE'))
    >>> instance = generate("elastic", capacity=20, utilisation=0.6, profiles="gpu-mix", model="fluid")
    >>> instance.name, round(instance.provenance["utilisation"], 2)
    ('elastic-synthetic-j0212-t272-AU-SA-s01', 0.6)
    >>> instance = generate("purchasing", jobs=100, arrival_hours=24, reserved=5)
    >>> instance.name, instance.reserved_cpus
    ('purchasing-synthetic-j0100-t058-AU-SA-s01', 5)
    """
    instance: Instance = problem_of(problem).role("generate")(**parameters)
    return instance
