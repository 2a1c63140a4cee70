"""`solve`, `formulate` and `diagnose`: one way from an instance to a checked solution."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from carbonopt.algorithms.kernel import noting_missed
from carbonopt.check import AGREEMENT, check, report_on
from carbonopt.core.clock import left_of
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.files import require_log
from carbonopt.core.instance import Instance
from carbonopt.core.interrupt import is_asked
from carbonopt.core.leftover import wait
from carbonopt.core.options import DEFAULT_SECONDS, Options, Progress, Schedule, TimeLimit, seconds_of
from carbonopt.core.registry import GivenParameters, problem_of
from carbonopt.core.report import Diagnosis
from carbonopt.core.solution import WITHOUT_LOOPS, Outcome, Solution
from carbonopt.core.status import Status
from carbonopt.judge import Run, judged

if TYPE_CHECKING:
    from carbonopt.milp.program import Program

CHECKPOINT_SECONDS = 1.0
"""Between two checkpoints at least, and `CHECKPOINT_REST` times what the last one took."""
CHECKPOINT_REST = 10.0
CERTIFIED_AFTER = 10.0
"""Until then a checkpoint holds the schedule alone: to recheck a bound may take seconds, which short runs lack."""


def solve(
    instance: Instance,
    method: str = "auto",
    *,
    time_limit: TimeLimit = "auto",
    work_limit: float | None = None,
    mip_rel_gap: float = 1e-4,
    mip_abs_gap: float = 0.0,
    seed: int = 0,
    threads: int | None = None,
    verbose: bool = False,
    log_file: str | os.PathLike[str] | None = None,
    initial_solution: Solution | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
    checkpoint: Callable[[Solution], None] | None = None,
    params: GivenParameters = None,
    solver_options: Mapping[str, Any] | None = None,
) -> Solution:
    """Solve an instance.

    Parameters
    ----------
    instance
        From `read`, a generator, or made in the program.
    method
        A method of the instance's problem, or ``auto`` to choose by size.
    time_limit
        Wall time [s]; None for no limit; ``auto`` for 60 s, or no limit where `work_limit` is given.
    work_limit
        Work [work units], about as many as seconds on one core; None for no limit. A run that ends by work gives the
        same schedule and bound on a busy machine as on an idle one, see `carbonopt.core.work`. Where a time limit is
        given as well, the first that is reached ends the run.
    mip_rel_gap, mip_abs_gap
        Stop when the gap between objective and proven bound is at most one of these. A relative gap
        of 1e-7 counts as none.
    seed
        Of everything drawn at random.
    threads
        Of the solver; None lets it choose. With `work_limit` it is 1, and no other number is taken.
    verbose, log_file
        Show the solver's log, and keep it in a file.
    initial_solution
        A feasible solution of the same instance to start from.
    callback
        Called with `Progress` a few times a second. Once it returns True, the method stops as after Ctrl-C: the
        incumbent is kept, with status ``interrupted``.
    checkpoint
        Called with every new incumbent as a checked solution (status ``interrupted``), at most once
        a second: what to write to disk so that not even a kill loses it.
    params
        Of the method: an object of its class of parameters, a mapping such as ``{"search": {"moves": 100}}``, or
        the path of a TOML file. What is not named is as by default.
    solver_options
        Of HiGHS, under its own names: ``{"presolve": "off"}``. Every run of HiGHS within the method has them.

    Returns
    -------
    Solution
        Re-evaluated by the problem's checker: `objective` and `metrics` are the checker's. After
        Ctrl-C the incumbent, with status ``interrupted``.

    Raises
    ------
    UnsupportedError
        If the problem has no such method, an option is out of range, or the initial solution is not
        a feasible solution of this instance, or the method would not use it.
    RefusedError
        If the instance has an optional constraint that the method does not respect.
    InputError
        If the log file cannot be written.
    TooLargeError
        If the method's program would not fit into memory.
    """
    problem = problem_of(instance.problem)
    if log_file is not None:
        require_log(log_file)
    keeper = _Keeper(callback, instance)
    start = None if initial_solution is None else _checked_start(instance, initial_solution)
    wait()
    seconds = seconds_of(time_limit, work_limit)
    options = Options(seconds, mip_rel_gap, mip_abs_gap, seed, threads, verbose, log_file, start, keeper)
    options = replace(options, work_limit=work_limit)
    if solver_options:
        from carbonopt.milp.solver_options import checked_options

        options = replace(options, solver_options=checked_options(solver_options))
    name = problem.choose(instance, start is not None) if method == "auto" else method
    options = replace(options, params=problem.parameters(name, params))
    if start is not None:
        problem.require_start_taken(name)
    with noting_missed() as missed:
        if checkpoint is not None:
            keeper.save = lambda outcome: checkpoint(_solution(instance, name, options, _noted(outcome, missed)))
        try:
            outcome = problem.run(name, instance, replace(options, time_limit=left_of(options.time_limit)))
        except KeyboardInterrupt:
            outcome = keeper.outcome(start)
    outcome = _noted(outcome, missed)
    if keeper.stopped or is_asked():  # and the signal was lost in code of others: the run ended early, or just then
        outcome = replace(outcome, status=Status.INTERRUPTED)
    try:
        return _solution(instance, name, options, outcome)
    except KeyboardInterrupt:  # what was found is not lost: a signal raises once
        return _solution(instance, name, options, replace(outcome, status=Status.INTERRUPTED))


def _noted(outcome: Outcome, missed: list[str]) -> Outcome:
    """Return an outcome that says whether the method did without its loops: what it found is then not its best."""
    if not missed:
        return outcome
    words = f"loops were not compiled, and the time was too short for it: `{missed[0]}` does it beforehand"
    return replace(outcome, info={**outcome.info, WITHOUT_LOOPS: words})


class _Keeper:
    """Keeps the best incumbent and bound that a method reported, for when it is interrupted."""

    def __init__(self, callback: Callable[[Progress], bool | None] | None, instance: Instance) -> None:
        self.callback = callback
        self.instance = instance
        self.tightest = max if instance.sense == "min" else min
        self.save: Callable[[Outcome], None] | None = None
        self.saved_at = -CHECKPOINT_SECONDS
        self.save_seconds = 0.0
        self.unsaved = False
        self.is_certified = False
        self.incumbent: float | None = None
        self.schedule: Callable[[], Schedule] | None = None
        self.info: dict[str, Any] = {}
        self.bound: float | None = None
        self.certificate: Callable[[], dict[str, Any] | None] | None = None
        self.stopped = False

    def __call__(self, progress: Progress) -> None:
        if self._is_worse(progress):  # of a search that began anew
            progress = replace(progress, incumbent=None, schedule=None, info={})
        self.unsaved = self.unsaved or progress.schedule is not None
        if progress.incumbent is not None:
            self.incumbent = progress.incumbent
        self.info |= progress.info
        if progress.schedule is not None:
            self.schedule = progress.schedule
            if self.callback is not None and progress.incumbent is None:
                self.incumbent = report_on(self.instance, self.schedule(), self.info).objective
        known = [bound for bound in (self.bound, progress.bound) if bound is not None]
        self.bound = self.tightest(known) if known else None
        if progress.certificate is not None and progress.bound == self.bound:
            self.certificate = progress.certificate
        if self.save is not None and self.schedule is not None:
            self._keep(progress.seconds, self.schedule, self.save)
        if self.callback is not None and self.callback(self._told(progress)) is True and not self.stopped:
            self.stopped = True  # once: a second interrupt would leave a solver behind that is about to stop
            raise KeyboardInterrupt

    def _keep(self, seconds: float, schedule: Callable[[], Schedule], save: Callable[[Outcome], None]) -> None:
        """Save a checkpoint where one is due, and has more than the last."""
        certified = seconds >= CERTIFIED_AFTER and self.bound is not None
        if not self.unsaved and (self.is_certified or not certified):
            return
        if seconds - self.saved_at < max(CHECKPOINT_SECONDS, CHECKPOINT_REST * self.save_seconds):
            return
        begun = time.perf_counter()
        save(self.outcome(None) if certified else Outcome(Status.INTERRUPTED, schedule(), info=dict(self.info)))
        self.save_seconds = time.perf_counter() - begun
        self.saved_at, self.unsaved, self.is_certified = seconds + self.save_seconds, False, certified

    def _is_worse(self, progress: Progress) -> bool:
        if progress.incumbent is None or self.incumbent is None or self.schedule is None:
            return False
        return self.tightest(progress.incumbent, self.incumbent) == progress.incumbent != self.incumbent

    def _told(self, progress: Progress) -> Progress:
        """Return a report that has the best incumbent, also where the method told nothing new of it."""
        return replace(
            progress, incumbent=self.incumbent, schedule=self.schedule, info=dict(self.info), bound=self.bound
        )

    def outcome(self, start: Schedule | None) -> Outcome:
        schedule = start if self.schedule is None else self.schedule()
        info = dict(self.info)
        certificate = None if self.certificate is None else self.certificate()
        if certificate is None:
            return Outcome(Status.INTERRUPTED, schedule, self.bound, info=info)
        if "bound" not in certificate:  # it proves that there is no schedule
            return Outcome(Status.INTERRUPTED, certificate=certificate, info=info)
        bound: float = certificate["bound"]
        known = bound if self.bound is None else self.tightest(self.bound, bound)  # the proof may have got better since
        if schedule is not None and abs(known - bound) > AGREEMENT * abs(bound):
            bound = known  # of a search tree: it has no certificate
            info["tree_bound"] = bound
        return Outcome(Status.INTERRUPTED, schedule, bound, certificate, info)


def _checked_start(instance: Instance, initial: Solution) -> Schedule:
    report = check(instance, initial)
    if initial.columns is None or report.violations:
        lines = [str(violation) for violation in report.violations] or ["it has no schedule"]
        raise UnsupportedError("the initial solution cannot be used: " + "; ".join(lines[:3]))
    return initial.columns


def _solution(instance: Instance, method: str, options: Options, outcome: Outcome) -> Solution:
    run = Run(method, options.to_dict(), options.seconds, options.mip_rel_gap, options.mip_abs_gap, options.work.units)
    return judged(instance, outcome, run)


def formulate(instance: Instance, form: str = "milp") -> Program:
    """Return the sparse mathematical program of an instance.

    Parameters
    ----------
    instance
        The instance.
    form
        ``milp``, or ``lp`` for its relaxation.

    Returns
    -------
    Program
        With named blocks, ``add_variables`` and ``add_rows`` for rows of your own, ``to_lp`` and
        ``to_mps``. `solve_program` solves it.
    """
    from carbonopt.milp.reading import Origin

    program: Program = problem_of(instance.problem).role("formulate")(instance, form)
    program.origin = Origin(instance.sha256, program.columns, program.rows, program.nonzeros)
    return program


def diagnose(
    instance: Instance, *, time_limit: float | None = DEFAULT_SECONDS, threads: int | None = None
) -> Diagnosis:
    """Say whether an instance has a schedule in which every job runs, and if not, why not.

    Parameters
    ----------
    instance
        The instance.
    time_limit, threads
        Of the solver.

    Returns
    -------
    Diagnosis
        With findings in terms of the problem: jobs, clusters, slots and amounts.
    """
    options = Options(time_limit=time_limit, threads=threads)
    found: Diagnosis = problem_of(instance.problem).role("diagnose")(instance, options)
    return found
