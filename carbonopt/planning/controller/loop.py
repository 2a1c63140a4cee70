"""The loop: open what is due, plan again when it is time, wait.

This is Algorithm 1 of Caspian (section III) with two differences: jobs that run stay where they are, and a start that
is announced for later is kept in mind, so that it moves only where it pays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from carbonopt.core.errors import CarbonoptError, one_line
from carbonopt.io.queues.job import PENDING, Queue
from carbonopt.io.reading import AS_THEY_ARE, Reading
from carbonopt.planning.controller.api import UnreachableError
from carbonopt.planning.controller.clock import Clock
from carbonopt.planning.controller.journal import Journal
from carbonopt.planning.plan import Paths, plan
from carbonopt.planning.replan import replan
from carbonopt.planning.result import Plan, Row
from carbonopt.planning.site import Site, Terms

RETRY = timedelta(minutes=1)
"""After which a pass that failed is tried again."""


class Scheduler(Protocol):
    """What the loop asks of a scheduler."""

    source: str
    send: bool
    problems: list[str]

    def look(self) -> None:
        """Read the jobs that there are now."""
        ...

    @property
    def queue(self) -> Queue:
        """Those that wait or run."""
        ...

    def keep(self, row: Row, now: datetime, due: bool, several: bool) -> Iterable[str]:
        """Do what a planned job needs now; return what was done."""
        ...


@dataclass(frozen=True)
class Choices:
    """How is planned: as in `carbonopt.planning.plan.plan` and `carbonopt.planning.replan.replan`.

    Parameters
    ----------
    carbon
        Files of the forecast, read anew at each planning.
    every
        How often is planned.
    method
        Of the plans; None for one that counts `move_price`.
    """

    carbon: Paths
    clusters: tuple[Site | str, ...] = ()
    tz: str = "UTC"
    terms: Terms = field(default_factory=Terms)
    every: timedelta = timedelta(hours=1)
    method: str | None = None
    move_price: float = 0.0
    time_limit: float | None = 60.0
    seed: int = 0
    reading: Reading = AS_THEY_ARE
    price: Paths = ()


class Controller:
    """Keeps a scheduler to a plan.

    Parameters
    ----------
    scheduler
        Whose jobs they are.
    choices
        How is planned.
    journal
        What was planned and done.
    clock
        Tells the time.
    tell, warn
        Take lines: what was done, and what went wrong.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        choices: Choices,
        journal: Journal,
        clock: Clock,
        tell: Callable[[str], None],
        warn: Callable[[str], None],
    ) -> None:
        self.scheduler = scheduler
        self.choices = choices
        self.journal = journal
        self.clock = clock
        self._tell = tell
        self._warn = warn
        self._told: set[str] = set()
        self._is_stale = False

    def run(self) -> None:
        """Make passes until a signal ends them (KeyboardInterrupt); what goes wrong is told and tried again."""
        passing: type[CarbonoptError] = UnreachableError  # bad input ends the first pass, and no later one
        while True:
            try:
                self.once()
                until, passing = self._next(), CarbonoptError
            except passing as error:
                self._warn(str(error))
                until = self.clock.now() + RETRY
            self.clock.sleep((until - self.clock.now()).total_seconds())

    def once(self) -> None:
        """Make one pass: open what is due, plan if it is time, and open what is due by the new plan.

        Raises
        ------
        UnreachableError
            If the scheduler does not answer.
        CarbonoptError
            If there is no plan yet, and none can be made.
        """
        self.scheduler.look()
        for problem in self.scheduler.problems:
            self._once(self._warn, problem)
        now = self.clock.now()
        self._keep(now)
        if self._is_time(now):
            self.scheduler.look()
            self._plan(now)
            self._keep(now)

    def _is_time(self, now: datetime) -> bool:
        again = self.journal.plan_again
        return again is None or now >= again or (not self._is_stale and any(self._missed(now)))

    def _next(self) -> datetime:
        """Return when there is something to do: a start, or a plan."""
        now = self.clock.now()
        moments = [row.begin for row in self._waiting() if row.begin > now]
        return min([*moments, self.journal.plan_again or now + RETRY])

    def _waiting(self) -> list[Row]:
        made = self.journal.plan
        return [] if made is None else [row for row in made.rows if row.state == PENDING]

    def _missed(self, now: datetime) -> Iterator[Row]:
        """Yield jobs that should have begun a slot ago or longer and wait still: the controller was away."""
        waiting = {job.id for job in self.scheduler.queue.jobs if job.state == PENDING}
        slot = timedelta(minutes=self.choices.terms.slot_minutes)
        yield from (row for row in self._waiting() if row.id in waiting and row.begin + slot <= now)

    def _keep(self, now: datetime) -> None:
        """Do what the plan asks for now. What was missed is planned again first, if that is possible."""
        made = self.journal.plan
        if made is None:
            return
        missed = set() if self._is_stale else {row.id for row in self._missed(now)}
        failures = []
        for row in self._waiting():
            if row.id in missed and self.scheduler.source != "slurm":
                continue
            try:
                for line in self.scheduler.keep(row, now, row.begin <= now, len(made.sites) > 1):
                    if self.scheduler.send:
                        self._tell(line)
                    else:
                        self._once(self._tell, line)
            except UnreachableError as error:  # the other jobs must not wait for this one
                failures.append(str(error))
        if failures:
            raise UnreachableError("; ".join(dict.fromkeys(failures)))

    def _plan(self, now: datetime) -> None:
        queue, chosen = self.scheduler.queue, self.choices
        if not any(job.state == PENDING for job in queue.jobs):
            self._is_stale = False
            self.journal.announce(self.journal.plan, now + chosen.every)
            return
        try:
            made = self._made(queue, now)
        except CarbonoptError as error:
            if self.journal.plan is None:
                raise
            self._is_stale = True
            self._warn(f"{one_line(str(error))}: the plan of before stays")
            self.journal.announce(self.journal.plan, now + RETRY)
            return
        self._is_stale = False
        self.journal.announce(made, now + chosen.every)
        saved = made.saving_kg
        told = "" if saved is None else f", {saved:.4g} kg saved over starting at once"
        moves = f", {made.replanned['moves']} moved" if made.replanned else ""
        self._tell(f"planned {len(self._waiting())} jobs: {made.kg:.4g} kg from now on{told}{moves}")

    def _made(self, queue: Queue, now: datetime) -> Plan:
        chosen, before = self.choices, self.journal.plan
        if before is not None and self._is_alike(before):
            return replan(
                before,
                chosen.carbon,
                now=now,
                queue=queue,
                move_price=chosen.move_price,
                method=chosen.method,
                time_limit=chosen.time_limit,
                seed=chosen.seed,
                reading=chosen.reading,
                price=chosen.price,
            )
        return plan(
            queue,
            chosen.carbon,
            now=now,
            tz=chosen.tz,
            clusters=chosen.clusters,
            terms=chosen.terms,
            method=chosen.method or "auto",
            time_limit=chosen.time_limit,
            seed=chosen.seed,
            reading=chosen.reading,
            price=chosen.price,
        )

    def _is_alike(self, before: Plan) -> bool:
        """Return whether a plan was made for the same clusters and terms."""
        sites = tuple(Site.of(site) if isinstance(site, str) else site for site in self.choices.clusters)
        same = (before.terms, before.tz) == (self.choices.terms, self.choices.tz)
        return same and sites in ((), before.sites)

    def _once(self, out: Callable[[str], None], line: str) -> None:
        """Tell a line that was not told before."""
        if line not in self._told:
            self._told.add(line)
            out(line)
