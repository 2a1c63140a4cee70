"""One run of a campaign: a method on an instance with a seed, and the row that tells what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from carbonopt.compare import not_run
from carbonopt.compare import run as run_methods
from carbonopt.core.errors import RefusedError
from carbonopt.core.instance import Instance
from carbonopt.core.registry import Problem, problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.trace import Trace, seconds_to
from carbonopt.core.versions import installed_versions
from carbonopt.io.read import read
from carbonopt.simulate import policy_of, simulate

Key = tuple[str, str, int]
"""What tells the runs of a campaign apart: hash of the instance, method as asked for, and seed."""
Row = dict[str, Any]
"""One finished run, as a line of the results holds it."""
AS_PLANNED = ("time_limit", "mip_rel_gap", "threads", "memory_mib", "kill_seconds")
"""Options that are the same for all runs of a file of results."""

FAILED = ("crashed", "killed", "memory_limit")
"""Statuses of runs whose process did not end by itself, beside those of `Status`."""
SIMULATED = "simulate:"
"""How names of methods begin that are online policies: ``simulate:carbon-time``."""


class Job(TypedDict):
    """What a process needs to make one run, as JSON."""

    path: str
    problem: str
    method: str
    seed: int
    options: dict[str, Any]
    memory_mib: float | None
    kill_seconds: float | None
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
        path=str(run.path),
        problem=run.problem,
        method=run.method,
        seed=run.seed,
        options=given,
        memory_mib=memory,
        kill_seconds=seconds,
        keep_solution=keep_solution,
    )


def perform(job: Job) -> Answer:
    """Make one run in this process."""
    trace = Trace()
    solution = _solution(job, _instance(job), trace)
    trace.end(solution)
    answer = Answer(row=_row(solution, job, trace))
    if job["keep_solution"]:
        answer["solution"] = solution.to_dict()
    return answer


def _solution(job: Job, instance: Instance, trace: Trace) -> Solution:
    """Return what a method or a policy makes; a policy has no time limit but that of its process."""
    method, seed = job["method"], job["seed"]
    if not method.startswith(SIMULATED):
        return run_methods(instance, [method], callback=trace, seed=seed, **job["options"])[0]
    try:
        return simulate(instance, method.removeprefix(SIMULATED), seed=seed)
    except RefusedError as error:
        return not_run(instance, method, error)


def _instance(job: Job) -> Instance:
    """Return the instance, which a job for another machine holds itself."""
    if "raw" not in job:
        return read(job["path"])
    instance: Instance = problem_of(job["problem"]).role("read")(job["raw"])
    return instance


def failed_row(run: Run, options: Mapping[str, Any], answer: Answer) -> Row:
    """Return the row of a run whose process was stopped or crashed."""
    return {
        "instance": run.instance,
        "instance_file": str(run.path),
        "problem": run.problem,
        "instance_sha256": run.sha256,
        "method": run.method,
        "method_asked": run.method,
        "seed": run.seed,
        **planned(options),
        "date": _today(),
        "status": answer["failed"],
        "message": answer["message"],
        "sense": run.sense,
        "objective": None,
        "bound": None,
        "gap": None,
        "wall_seconds": answer["seconds"],
        "versions": installed_versions(),
    }


def planned(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what all runs of a campaign have in common, None where it is as by default."""
    return {name: options.get(name) for name in AS_PLANNED}


def _row(solution: Solution, job: Job, trace: Trace) -> Row:
    points = trace.points()
    limits = {"memory_mib": job["memory_mib"], "kill_seconds": job["kill_seconds"]}
    row = {
        "date": _today(),
        "instance_sha256": solution.instance_sha256,
        "method_asked": job["method"],
        "seed": job["seed"],
        **planned(job["options"] | limits),
        **solution.summary(),
        "root_bound": solution.info.get("root_bound"),
        "seconds_to_1_percent": seconds_to(points, 1e-2),
        "seconds_to_0.1_percent": seconds_to(points, 1e-3),
        "trajectory": [list(point) for point in points],
        "versions": installed_versions(),
    }
    if "message" in solution.info:
        row["message"] = solution.info["message"]
    return row


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")
