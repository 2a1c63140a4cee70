"""Caspian's Algorithm 1: every period, the jobs that are there are placed anew, by any method of the problem.

Bahreini, Tantawi, Tardieu. Caspian: A Carbon-aware Workload Scheduler in Multi-Cluster Kubernetes Environments,
MASCOTS 2024. A plan assumes that what it starts, or goes on with, runs to its end; the next period may stop it,
and it keeps what it has done.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carbonopt.core.errors import UnsupportedError
from carbonopt.core.options import Options, Schedule
from carbonopt.core.ranges import require_number, require_one_of
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.problems.mosp import PROBLEM
from carbonopt.problems.mosp.data.instance import MospInstance
from carbonopt.problems.mosp.data.objectives import CarbonObjective
from carbonopt.problems.mosp.data.schedule import from_schedule
from carbonopt.problems.mosp.methods.milp import choose
from carbonopt.problems.mosp.methods.normalizers import value_of
from carbonopt.problems.mosp.online.expected import require_alike, with_expected
from carbonopt.problems.mosp.online.steady import Place, Plan
from carbonopt.problems.mosp.online.window import Rules, Sight, Window, look, with_period_objective
from carbonopt.simulation import Policy, State

WINDOW_HOURS = 24.0
"""How far a period looks: the paper prints no T; its arrivals span a day (section V-A)."""
SECONDS = 10.0
"""Most that a decision may take."""
RELATIVE_GAP = 1e-3
"""Gap at which an optimizer with a bound stops."""
AUTO = "auto"
BLIND = ("greedy-random", "greedy-clean")
"""Methods that look at no objective."""
CLOCKS = ("start", "now")
DEADLINES = ("slots", "exact")

Places = dict[int, tuple[int, int]]
"""Cluster and start [slot] of jobs, all by their positions in the whole instance."""


class Rolling(Policy):
    """Re-plans all jobs every period.

    Parameters
    ----------
    method
        A method of mosp: the optimizer of each period. ``auto``: by the size of the period's program.
    suspend
        Whether running jobs are planned anew too. Without, they run to their end where they are.
    migration
        Price of letting a job that has begun go on on another cluster [units of the objective]: 0 where that is
        free, None where it is forbidden.
    window_hours, period_slots
        How far a period looks [h], and how often there is one [slots].
    clock
        ``start`` or ``now``: from where completion times are counted (see `window`).
    deadlines
        ``slots``: rounded down to whole slots in the plan, ``exact``: as they are (see `window.Sight`).
    notice_slots
        Slots from a job's arrival to the first period that plans it. 0: a job that arrives in a slot may still start
        at the slot's beginning; 1: it is planned from the next slot on, as where it arrives within the slot.
    past
        Its jobs are expected to come again, in the same slots (see `expected`); None: nobody else is expected.
        Without effect on `lp-rounding-caspian`, the default, and on the greedy methods: they place one job after the
        other where it alone is best, and those that are there come first (under the caspian objective, normalizers
        and jobs that the LP rejects may make a difference).
    change_share
        Price of stopping or moving a running job, over the mean cost of a job in the plan.
    budget_share
        What going back to the plan before may cost in a period, over the cost of its plan.
    seconds, mip_rel_gap
        Of each decision, as in `carbonopt.solve`; both plans that `past` may take share the time. Where time runs out
        first, the same seed need not give the same schedule.

    Attributes
    ----------
    fallbacks
        Periods in which the method returned no plan and `greedy-clean` made one.
    """

    plans_arrivals = True

    def __init__(
        self,
        method: str = "lp-rounding-caspian",
        suspend: bool = True,
        migration: float | None = 0.0,
        window_hours: float = WINDOW_HOURS,
        period_slots: int = 1,
        clock: str = "start",
        deadlines: str = "slots",
        notice_slots: int = 0,
        past: MospInstance | None = None,
        change_share: float = 0.0,
        budget_share: float = 0.0,
        seconds: float | None = SECONDS,
        mip_rel_gap: float = RELATIVE_GAP,
    ) -> None:
        if method != AUTO and PROBLEM.method(method).bound_only:
            raise UnsupportedError(f"method {method!r} makes no schedules: it cannot be the optimizer of a policy")
        require_number("migration", migration, least=0, none=True)
        require_number("window_hours", window_hours, above=0)
        require_number("period_slots", period_slots, least=1, whole=True)
        require_one_of("clock", clock, CLOCKS)
        require_one_of("deadlines", deadlines, DEADLINES)
        require_number("notice_slots", notice_slots, least=0, whole=True)
        require_number("change_share", change_share, least=0)
        require_number("budget_share", budget_share, least=0)
        require_number("seconds", seconds, least=0, none=True)
        require_number("mip_rel_gap", mip_rel_gap, least=0)
        self.method = method
        self.migration = migration or 0.0
        self.clock = clock
        self.deadlines = deadlines
        self.past = past
        self.notice_slots = notice_slots
        self.rules = Rules(suspend, suspend and migration is not None)
        self.window_hours = window_hours
        self.epoch = float(period_slots)
        self.change_share = change_share
        self.budget_share = budget_share
        self.seconds = seconds
        self.mip_rel_gap = mip_rel_gap
        self.fallbacks = 0
        self._home: dict[int, int] = {}
        self._plan: Places = {}

    @property
    def pieces(self) -> str:
        """What may become of a job that has begun, as `carbonopt.problems.mosp.verify.check` calls it."""
        if self.rules.migrate:
            return "migrate"
        return "suspend" if self.rules.suspend else "none"

    def on_begin(self, state: State) -> None:
        """Refuse what is no instance of mosp."""
        if not isinstance(state.instance, MospInstance):
            raise TypeError(f"{self.name} needs a mosp instance")
        if self.past is not None:
            require_alike(self.past, state.instance)

    def on_epoch(self, state: State) -> None:
        """Plan, and act on the part of the plan until the next period."""
        whole = state.instance
        # ties go to the clusters in their order, which is none of the instance's: as in the authors' code
        order = state.rng.permutation(len(whole.clusters))
        objective = CarbonObjective() if self.method in BLIND else whole.objective
        slots = max(1, round(self.window_hours / whole.time.slot_hours))
        sight = Sight(slots, self.clock, self.deadlines, self.notice_slots)
        window = look(state, self.rules, sight, self._home, order)
        if window is None:
            return
        options = self._options(state)
        plan = Places()
        expected = whole if state.arrivals_known else self.past
        if expected is not None:
            seen = with_expected(window, expected, round(state.now), sight)
            plan = self._planned(state, with_period_objective(seen, objective), options)
        if len(plan) < len(window.job):  # nobody waits for who is only expected
            again = options if expected is None else replace(options, seed=_drawn(state))
            plan = self._planned(state, with_period_objective(window, objective), again)
        self._act(state, plan)

    def on_due(self, state: State, job: int) -> None:
        """Start a job whose plan began within the period."""
        self._start(state, job, self._plan[job][0])

    def _planned(self, state: State, window: Window, options: Options) -> Places:
        """Return where the plan places jobs."""
        base = round(state.now) - window.now
        schedule = self._optimized(window, options)
        jobs, clusters, starts = from_schedule(window.instance, schedule)
        if self.change_share or self.migration or self.budget_share:
            steady = self._steadied(window, schedule, options, base)
            jobs, clusters, starts = from_schedule(window.instance, steady)
        return {
            int(window.job[job]): (int(window.cluster[cluster]), base + start)
            for job, cluster, start in zip(jobs, clusters, starts, strict=True)
            if window.job[job] >= 0
        }

    def _options(self, state: State) -> Options:
        return Options(
            time_limit=self.seconds,
            mip_rel_gap=self.mip_rel_gap,
            seed=_drawn(state),
            threads=1,
        )

    def _optimized(self, window: Window, options: Options) -> Schedule:
        name = choose(window.instance) if self.method == AUTO else self.method
        outcome: Outcome = PROBLEM.run(name, window.instance, options)
        if outcome.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if outcome.schedule is not None:
            return outcome.schedule
        self.fallbacks += 1
        blind = window.instance.with_objective(CarbonObjective(rejection_price=1.0))
        again: Outcome = PROBLEM.run("greedy-clean", blind, Options(time_limit=None))
        assert again.schedule is not None
        return again.schedule

    def _steadied(self, window: Window, schedule: Schedule, options: Options, base: int) -> Schedule:
        value, _ = value_of(window.instance, options)
        plan = Plan(window, value, schedule, 0.0, self.migration)
        change = self.change_share * plan.typical
        plan.suspension = change
        plan.migration = self.migration + change
        plan.spare_changes()
        place = np.argsort(window.cluster)
        previous: dict[int, Place] = {
            row: (int(place[self._plan[job][0]]), self._plan[job][1] - base)
            for row, job in enumerate(window.job.tolist())
            if job in self._plan
        }
        plan.return_to(previous, self.budget_share * plan.typical * len(plan.partial.placed))
        return plan.partial.schedule()

    def _act(self, state: State, plan: Places) -> None:
        """Stop what the plan stops or moves, then start what it starts; the rest of the period is planned."""
        self._plan = plan
        now = round(state.now)
        assert self.epoch is not None
        if self.rules.suspend:
            for job, run in list(state.running.items()):
                if plan.get(job) != (run.pool, now):
                    state.suspend(job)
        for job, (cluster, start) in plan.items():
            if start == now and job in state.queued:
                self._start(state, job, cluster)
            elif start < now + self.epoch and job in state.queued:
                state.plan(job, float(start))

    def _start(self, state: State, job: int, cluster: int) -> None:
        state.start(job, cluster)
        self._home[job] = cluster


def _drawn(state: State) -> int:
    """Return a seed."""
    return int(state.rng.integers(2**31))
