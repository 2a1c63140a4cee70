"""CarbonFlex may decide every few minutes, and where jobs arrive and end, as its section 5 says."""

import pytest
from elastic_support import by_hand, random_instance

import carbonopt as co
from carbonopt.core.errors import UnsupportedError
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.simulate import simulate

TWO_HALVES = by_hand(1, [10, 1000, 1000], (0, 0.5, 1, [1]), (0, 0.5, 1, [1]), model="fluid")
"""Two jobs of half an hour on one server, where only the first hour is clean."""


@pytest.mark.parametrize(("minutes", "grams"), [(None, 505.0), (60, 10.0), (30, 10.0), (5, 10.0)])
def test_the_second_job_takes_the_rest_of_the_hour_once_the_first_has_ended(minutes, grams):
    found = simulate(TWO_HALVES, CarbonFlex(learning=False, decide_minutes=minutes))
    assert found.objective == pytest.approx(grams, rel=1e-12)
    assert found.metrics["late_jobs"] == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("decisions", [1, 7])
def test_the_checker_accepts_every_schedule(seed, decisions):
    instance = random_instance(seed, "decreasing")
    minutes = 60 * instance.time.slot_hours / decisions
    found = simulate(instance, CarbonFlex(learning=False, decide_minutes=minutes))
    assert found.has_solution
    assert co.check(instance, found).feasible


@pytest.mark.parametrize(
    ("instance", "minutes", "words"),
    [
        (TWO_HALVES, 61, "decide_minutes = 61: must be at most a slot"),
        (by_hand(1, [1, 1], (0, 1.0, 1, [1])), 5, "model 'fluid'"),
    ],
)
def test_what_the_slots_do_not_allow_is_refused(instance, minutes, words):
    with pytest.raises(UnsupportedError, match=words):
        simulate(instance, CarbonFlex(learning=False, decide_minutes=minutes))


def test_no_time_at_all_is_refused():
    with pytest.raises(UnsupportedError, match="decide_minutes = 0: must be above 0"):
        CarbonFlex(decide_minutes=0)
