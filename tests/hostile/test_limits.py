"""Limits that large instances keep: pieces of work look at the time, and checking has its part of it."""

import time

import numpy as np
import pytest

import carbonopt as co
from carbonopt.core import clock
from carbonopt.core.options import Options
from carbonopt.core.registry import problem_of
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.core.work import STEPS_A_UNIT
from carbonopt.problems.ecas.methods.price import method as ecas
from carbonopt.problems.ecas.methods.price import search
from carbonopt.problems.ecas.methods.price.parameters import PriceParameters
from carbonopt.problems.ecas.methods.price.tables import NOWHERE, by_energy, tables_of
from carbonopt.problems.elastic.methods.price import method


def test_time_for_what_comes_after_is_kept_back():
    now = Options(time_limit=1000.0)
    assert now.keeping_back(20.0).time_limit == pytest.approx(980.0)
    assert 490.0 < now.keeping_back(1e9).time_limit < 510.0
    assert Options(time_limit=None).keeping_back(20.0).time_limit is None


def test_prices_of_plans_leave_time_for_their_check(monkeypatch):
    instance = co.generate("elastic", jobs=3, seed=1)
    limits = []

    def first(_instance, options):
        limits.append(options.time_limit)
        raise InterruptedError

    monkeypatch.setattr(method, "first_schedule", first)
    monkeypatch.setattr(method, "CHECK_SECONDS", 1.0)
    with pytest.raises(InterruptedError):
        method._integer_price(instance, Options(time_limit=1e6))
    units = [len(instance.profiles[number]) for number in instance.profile_of_job]
    asked = np.dot(units, instance.jobs.window_end - instance.jobs.arrival)
    assert limits == [pytest.approx(1e6 - asked)]


def test_greedy_insertion_ends_with_the_time(monkeypatch):
    instance = co.generate("ecas", jobs=12, machines=2, seed=1)
    tables = tables_of(instance, PriceParameters().search.penalty)
    monkeypatch.setattr(search, "JOBS_PER_CALL", 5)
    whole = search.filled(instance, tables, by_energy(tables), Options(time_limit=None))
    ended = search.filled(instance, tables, by_energy(tables), Options(time_limit=0.0))
    assert np.count_nonzero(whole.machine != NOWHERE) == 12
    assert np.count_nonzero(ended.machine != NOWHERE) == 5


def test_what_a_command_took_before_counts_in_its_limit_and_is_not_in_the_file(monkeypatch):
    """Up to half of it: a slow start leaves a method time."""
    limits = []
    instance = co.generate("elastic", jobs=3, seed=1)
    monkeypatch.setattr(
        type(problem_of("elastic")),
        "run",
        lambda _self, _name, _instance, options: limits.append(options.time_limit) or Outcome(Status.UNKNOWN),
    )
    with clock.counting_from(time.perf_counter() - 1e6):
        solution = co.solve(instance, "price", time_limit=1e7)
        co.solve(instance, "price", time_limit=100.0)
    co.solve(instance, "price", time_limit=100.0)
    assert limits[0] == pytest.approx(9e6, rel=1e-3)
    assert limits[1:] == [50.0, 100.0]
    assert solution.options["time_limit"] == 1e7


def test_a_second_greedy_schedule_is_made_where_there_is_work_for_it(monkeypatch):
    """Of 10,000 jobs on 200 machines, the second one left no time for jobs that the first left without a place."""
    instance = co.generate("ecas", jobs=12, machines=2, seed=1)
    made = []
    monkeypatch.setattr(ecas, "filled", lambda *arguments: made.append(0) or search.filled(*arguments))
    one = search.greedy_steps(instance) / STEPS_A_UNIT
    for work, expected in ((one, 1), (1000 * one, 2)):
        made.clear()
        tables = tables_of(instance, PriceParameters().search.penalty)
        prices = np.zeros((len(instance.resources), instance.time.slots))
        ecas.search_from(instance, tables, prices, Options(work_limit=work), PriceParameters(), 0.0)
        assert len(made) == expected
