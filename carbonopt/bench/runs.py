"""Which runs a campaign has: a method on an instance with a seed, and what a process needs to make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from carbonopt.core.registry import Problem, problem_of
from carbonopt.io.read import read
from carbonopt.simulate import policy_of

Key = tuple[str, str, int]
"""What tells the runs of a campaign apart: hash of the instance, method as asked for, and seed."""
Row = dict[str, Any]
"""One finished run, as a line of the results holds it."""
AS_PLANNED = ("time_limit", "work_limit", "mip_rel_gap", "threads", "memory_mib", "kill_seconds")
"""Options that are the same for all runs of a file of results."""

FAILED = ("crashed", "killed", "memory_limit")
"""Statuses of runs whose process did not end by itself, beside those of `Status`."""
REFUSED = "error"
"""Status of a run that its method refused, as too large or of a kind that it does not take, or in which it failed."""
UNANSWERED = (REFUSED, *FAILED)
"""Statuses of runs that say nothing of what their method would find."""
PERFORM = "carbonopt.bench.perform:perform"
SIMULATED = "simulate:"
"""How names of methods begin that are online policies: ``simulate:carbon-time``."""


class Task(TypedDict):
    """What is made in a process of its own, as JSON."""

    problem: str
    memory_mib: float | None
    kill_seconds: float | None
    made_by: str
    """``module:function``, which is called with the task and returns its `Answer`."""


class Job(Task):
    """What a process needs to make one run."""

    path: str
    method: str
    seed: int
    options: dict[str, Any]
    keep_solution: bool
    raw: NotRequired[dict[str, Any]]


class Answer(TypedDict, total=False):
    """What a process says of one run: its row and maybe its solution, or why there is none."""

    row: Row
    solution: dict[str, Any]
    failed: str
    message: str
    seconds: float
    refused: str


@dataclass(frozen=True)
class Run:
    """A run to be made.

    Parameters
    ----------
    path
        Of the instance file.
    instance, problem, sense, sha256
        Of the instance.
    method
        As asked for; ``auto`` is possible.
    seed
        Of everything drawn at random.
    """

    path: Path
    instance: str
    problem: str
    sense: str
    sha256: str
    method: str
    seed: int

    @property
    def key(self) -> Key:
        """What tells it apart."""
        return (self.sha256, self.method, self.seed)


def runs_on(path: Path, methods: Sequence[str] | None, seeds: Sequence[int]) -> list[Run]:
    """Return the runs on one instance: every method with every seed.

    Raises
    ------
    InputError
        If the file is no instance.
    UnsupportedError
        If the problem has no such method or policy.
    """
    instance = read(path)
    problem = problem_of(instance.problem)
    names = problem.compared if methods is None else methods
    for name in names:
        _require_known(problem, name)
    facts = (path, instance.name, instance.problem, instance.sense, instance.sha256)
    return [Run(*facts, name, seed) for name in names for seed in seeds]


def _require_known(problem: Problem, name: str) -> None:
    """Refuse a method or policy that the problem does not have."""
    if name.startswith(SIMULATED):
        policy_of(problem, name.removeprefix(SIMULATED))
    elif name != "auto":
        problem.method(name)


def job_of(run: Run, options: Mapping[str, Any], keep_solution: bool) -> Job:
    """Return what a process needs; `options` are those of `solve`, and the limits of the process."""
    given = dict(options)
    memory, seconds = given.pop("memory_mib", None), given.pop("kill_seconds", None)
    return Job(
        made_by=PERFORM,
        path=str(run.path),
        problem=run.problem,
        method=run.method,
        seed=run.seed,
        options=given,
        memory_mib=memory,
        kill_seconds=seconds,
        keep_solution=keep_solution,
    )


def planned(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all runs of a campaign have in common, None where it is as by default."""
    return {name: options.get(name) for name in AS_PLANNED}
