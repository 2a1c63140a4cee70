"""Making one run, and the row that tells what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from carbonopt.bench.runs import SIMULATED, Answer, Job, Row, Run, planned
from carbonopt.compare import not_run
from carbonopt.compare import run as run_methods
from carbonopt.core.errors import RefusedError
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Solution
from carbonopt.core.trace import Trace, seconds_to
from carbonopt.core.versions import installed_versions, machine
from carbonopt.io.read import read
from carbonopt.simulate import simulate


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
        "machine": machine(),
    }
    if "message" in solution.info:
        row["message"] = solution.info["message"]
    return row


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
        "machine": machine(),
    }


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")
