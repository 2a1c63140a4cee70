"""Policies that plan with the jobs to come, where a simulation lets them know."""

from __future__ import annotations

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core.registry import problem_of
from carbonopt.problems.elastic.online.replan import Replan
from carbonopt.problems.elastic.online.vcc import Vcc
from carbonopt.simulation import ForecastModel, State
from carbonopt.simulation.workload import Pool, Workload

WEEK = co.generate("elastic", jobs=5, arrival_hours=60.0, seed=2)


def state(arrivals_known: bool) -> State:
    jobs = WEEK.jobs
    work = Workload(jobs.arrival.astype(float), jobs.length, np.ones(len(jobs)), jobs.name)
    forecast = ForecastModel().of(WEEK.intensity)
    return State(work, (Pool("cluster", 10.0),), "own", 0, WEEK, forecast, arrivals_known)


def test_vcc_counts_the_work_that_arrives_that_day() -> None:
    known = Vcc()
    known.on_begin(state(arrivals_known=True))
    day = WEEK.jobs.arrival // 24
    assert known.work_of_day is not None
    for number, work in enumerate(known.work_of_day):
        assert work == pytest.approx(WEEK.jobs.length[day == number].sum())
    blind = Vcc()
    blind.on_begin(state(arrivals_known=False))
    assert blind.work_of_day is None


def test_replan_plans_for_the_jobs_to_come() -> None:
    """Those within its lookahead, with the slots counted from the present one."""
    policy = Replan(lookahead_hours=30.0)
    known = state(arrivals_known=True)
    policy.on_begin(known)
    reach = policy.slots_ahead(known)
    coming = np.flatnonzero((WEEK.jobs.arrival > 0) & (WEEK.jobs.arrival <= 30))
    assert policy.coming is not None
    start, end, need, profile, number = policy.coming
    assert start.tolist() == WEEK.jobs.arrival[coming].tolist()
    assert end.tolist() == WEEK.jobs.window_end[coming].tolist()
    assert need.tolist() == WEEK.jobs.length[coming].tolist()
    assert profile.tolist() == WEEK.profile_of_job[coming].tolist()
    assert set(number.tolist()) == {1.0}
    assert reach >= end.max()


def test_which_policies_do() -> None:
    card = problem_of("elastic")
    able = [name for name, entry in card.policies.items() if card.load(entry.reference).plans_arrivals]
    assert able == ["vcc", "vcc-scaling", "replan"]
