"""Numbers and words that policies of `elastic` take are held to their ranges."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.problems.elastic.online.baselines import WaitAwhile
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.learn import learned
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.problems.elastic.online.replan import Replan
from carbonopt.problems.elastic.online.vcc import Vcc, VccScaling


def day() -> co.Instance:
    return co.generate("elastic", jobs=8, capacity=4, model="fluid", seed=1, arrival_hours=12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: WaitAwhile(percentile=-1), "percentile = -1: must be at least 0, at most 100"),
        (lambda: WaitAwhile(percentile=101), "percentile = 101: must be at least 0, at most 100"),
        (lambda: Vcc(margin=0), "margin = 0: must be above 0"),
        (lambda: VccScaling(margin=-1), "margin = -1: must be above 0"),
        (lambda: VccScaling(least_gain=1.5), "least_gain = 1.5: must be at least 0, at most 1"),
        (lambda: CarbonFlex(epsilon=-0.1), "epsilon = -0.1: must be at least 0, at most 1"),
        (lambda: CarbonFlex(oracle="delphi"), "oracle = 'delphi': must be 'greedy' or 'optimum'"),
        (lambda: CarbonFlex(window_hours=0), "window_hours = 0: must be above 0"),
        (lambda: CarbonFlex(settling_days=-1), "settling_days = -1: must be a whole number, at least 0"),
        (lambda: CarbonFlex(neighbours=0), "neighbours = 0: must be a whole number, at least 1"),
        (lambda: Replan(window_means=0), "window_means = 0: must be above 0"),
        (lambda: Replan(lookahead_hours=-1), "lookahead_hours = -1: must be at least 0"),
        (lambda: Replan(change_share=-1), "change_share = -1: must be at least 0"),
        (lambda: Replan(budget_share=float("nan")), "budget_share = nan: must be a finite number, at least 0"),
        (lambda: KnowledgeBase(neighbours=0), "neighbours = 0: must be a whole number, at least 1"),
        (lambda: KnowledgeBase(far_percentile=101), "far_percentile = 101: must be at least 0, at most 100"),
        (lambda: KnowledgeBase(max_age_hours=0), "max_age_hours = 0: must be above 0"),
        (lambda: KnowledgeBase(max_cases=0), "max_cases = 0: must be a whole number, at least 1"),
        (lambda: KnowledgeBase(queue_hours=(2, 0)), "queue_hours = (2, 0): must rise from above 0"),
        (lambda: QueueStatistics.of(day(), (12, 2)), "queue_hours = (12, 2): must rise from above 0"),
        (lambda: learned(day(), window_hours=0), "window_hours = 0: must be above 0"),
        (lambda: learned(day(), step_hours=-24), "step_hours = -24: must be above 0"),
    ],
)
def test_what_is_out_of_range_is_told(make: Callable[[], object], words: str) -> None:
    with pytest.raises(UnsupportedError) as told:
        make()
    assert str(told.value) == words


def test_a_base_with_an_option_out_of_range_is_an_error_of_its_file() -> None:
    content = KnowledgeBase().to_dict() | {"far_percentile": 200.0}
    with pytest.raises(InputError, match=r"^base.json: far_percentile = 200.0: must be at least 0, at most 100$"):
        KnowledgeBase.from_dict(content, "base.json")


@pytest.mark.parametrize(
    "policy",
    [
        WaitAwhile(percentile=0),
        WaitAwhile(percentile=100),
        VccScaling(margin=0.01, least_gain=0),
        CarbonFlex(epsilon=0),
        Replan(lookahead_hours=0, change_share=0, budget_share=0),
    ],
)
def test_the_ends_of_the_ranges_work(policy: object) -> None:
    assert co.simulate(day(), policy).has_solution  # type: ignore[arg-type]
