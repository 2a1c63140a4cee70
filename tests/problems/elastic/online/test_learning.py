"""The knowledge base: what is learned, found again, forgotten, saved and loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from elastic_support import by_hand

import carbonopt as co
from carbonopt.core.errors import InputError, UnsupportedError
from carbonopt.problems.elastic.methods.greedy import allocate
from carbonopt.problems.elastic.online.carbonflex import CarbonFlex
from carbonopt.problems.elastic.online.cases import Cases, carbon_features
from carbonopt.problems.elastic.online.knowledge import KnowledgeBase
from carbonopt.problems.elastic.online.learn import cut, learned, replayed
from carbonopt.problems.elastic.online.queue_statistics import QueueStatistics
from carbonopt.simulate import simulate


def cases(states: list[list[float]], servers: list[float], hours: list[float]) -> Cases:
    return Cases(np.array(states), np.array(servers), np.ones(len(servers)), np.array(hours))


def test_a_replay_tells_what_the_oracle_did() -> None:
    instance = by_hand(3, [3, 1, 2, 4], (0, 1.6, 1, [1.0, 0.6]), (0, 1.0, 3, [1.0]))
    found = replayed(instance, (2.0, 12.0))  # both in slot 1, a with both units
    assert found.servers.tolist() == [0, 3, 0, 0]
    assert found.rho.tolist() == [1, 0.6, 1, 1]
    assert found.state[:, 0].tolist() == [3, 1, 2, 4]
    assert found.state[:, 1].tolist() == [0, -2, 1, 2]
    assert found.state[:, 3].tolist() == [2, 2, 0, 0]  # short jobs that are not complete
    assert found.state[:, 6].tolist() == [0.9, 0.9, 0, 0]
    assert found.hour[0] == 24 * 365 * 52 + 24 * 13  # 2022-01-01


def test_rank_is_the_share_that_is_strictly_cheaper() -> None:
    ahead = np.array([[1.0, 2.0, 3.0, 2.0]])
    assert carbon_features(np.array([2.0]), np.array([2.0]), ahead)[0].tolist() == [2.0, 0.0, 0.25]


def test_both_oracles_do_all_the_work_that_they_replay() -> None:
    window = co.generate("elastic", jobs=30, capacity=8, model="fluid", seed=3, arrival_hours=48)
    assert not len(allocate(window, "fluid").unfinished)
    greedy, optimum = (replayed(window, (2.0, 12.0), oracle) for oracle in ("greedy", "optimum"))
    carbon = window.intensity * 0.1  # every server draws 100 W
    assert greedy.servers.max() <= 8 + 1e-9
    assert optimum.servers @ carbon <= greedy.servers @ carbon + 1e-6
    with pytest.raises(UnsupportedError, match="oracle = 'best'"):
        replayed(window, (2.0, 12.0), "best")


def test_windows_begin_at_several_offsets() -> None:
    past = co.generate("elastic", jobs=120, capacity=10, model="fluid", seed=3, arrival_hours=240)
    base = learned(past, window_hours=168, step_hours=24)
    starts = (int(past.jobs.arrival.max()) + 1 - 168) // 24 + 1
    assert len(base) == starts * 168
    first = cut(past, 24, 48)
    assert first is not None
    assert first.time.start == past.time.slot_start(24)
    assert cut(by_hand(1, [1, 1], (0, 1.0, 0, [1.0])), 1, 2) is None


def test_the_nearest_cases_are_found_by_z_scores() -> None:
    base = KnowledgeBase(queue_hours=(), neighbours=1)
    states = [[0.0, 0, 0, 0, 0], [1000.0, 0, 0, 0, 0], [0.0, 0, 0, 1, 0]]
    base.add(cases(states, [1, 2, 3], [0, 0, 0]))
    near = base.match([100.0, 0, 0, 1, 0])  # 0.2 deviations off the third, two off the first
    assert near is not None
    assert near.servers.tolist() == [3]
    assert KnowledgeBase().match(np.zeros(7)) is None


def test_a_far_state_is_unknown() -> None:
    rng = np.random.default_rng(1)
    base = KnowledgeBase(queue_hours=())
    base.add(cases(rng.normal(size=(200, 5)).tolist(), [1.0] * 200, [0.0] * 200))
    inside, outside = base.match(np.zeros(5)), base.match(np.full(5, 9.0))
    assert inside is not None
    assert outside is not None
    assert inside.known
    assert not outside.known


def test_old_cases_are_forgotten() -> None:
    base = KnowledgeBase(queue_hours=(), max_age_hours=100, max_cases=2)
    base.add(cases([[0.0] * 5] * 3, [1, 2, 3], [0, 90, 100]))
    assert base.cases.servers.tolist() == [2, 3]
    base.add(cases([[0.0] * 5], [4], [195]))
    assert base.cases.servers.tolist() == [3, 4]


def test_a_base_survives_its_file(tmp_path: Path) -> None:
    past = co.generate("elastic", jobs=60, capacity=10, model="fluid", seed=3, arrival_hours=72)
    base = learned(past)
    base.write(tmp_path / "base.json")
    again = KnowledgeBase.read(tmp_path / "base.json")
    assert again.to_dict() == base.to_dict()
    assert len(again.to_frame()) == len(base)
    instance = co.generate("elastic", jobs=30, capacity=10, model="fluid", seed=4, arrival_hours=48)
    first = simulate(instance, CarbonFlex(base))
    second = simulate(instance, CarbonFlex(tmp_path / "base.json"))
    assert first.columns == second.columns
    assert len(base) == len(again)  # a policy learns in a copy


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": "other"}, "must be 'carbonflex-knowledge'"),
        ({"cases": {}}, "is missing"),
        ({"queue_hours": "x"}, "queue_hours = 'x': must be a list"),
        ({"neighbours": float("inf")}, "neighbours = inf: must be a whole number"),
        ({"max_age_hours": 10**400}, "max_age_hours = 10+...: must be"),
        ({"cases": {"servers": [10**400]}}, r"cases.servers\[0\] = 10+...: must be"),
        ({"cases": {"rho": True}}, "cases.rho = true: must be a list"),
        ({"cases": {"rho": [1], "servers": [1, 2]}}, "all of one length"),
    ],
)
def test_what_is_no_base_is_refused(change: dict[str, object], words: str) -> None:
    content = KnowledgeBase(cases=cases([[0.0] * 7], [1], [0])).to_dict()
    with pytest.raises(InputError, match=words):
        KnowledgeBase.from_dict(content | change)


def test_columns_must_be_of_one_length() -> None:
    content = KnowledgeBase(cases=cases([[0.0] * 7], [1], [0])).to_dict()
    content["cases"]["rho"] = []
    with pytest.raises(InputError, match="all of one length"):
        KnowledgeBase.from_dict(content)


def test_it_learns_as_it_goes() -> None:
    instance = co.generate("elastic", jobs=150, capacity=12, model="fluid", seed=3, arrival_hours=168)
    policy = CarbonFlex()
    simulate(instance, policy)
    assert len(policy.knowledge) >= 24 * 3
    hours = policy.knowledge.cases.hour
    assert len(np.unique(hours)) == len(hours)  # no hour twice
    still = CarbonFlex(learning=False)
    simulate(instance, still)
    assert not len(still.knowledge)


def test_what_is_left_is_the_mean_of_those_that_lasted_longer() -> None:
    instance = by_hand(9, [1.0] * 40, *[(0, float(length), 3, [1.0]) for length in (1, 2, 4, 6, 20)])
    statistics = QueueStatistics.of(instance)
    assert statistics.mean.tolist() == [1.5, 5, 20]
    queue, done = np.array([1, 1, 1, 2, 0]), np.array([0.0, 4.0, 6.5, 5.0, 1.0])
    assert statistics.expected_left(queue, done).tolist() == [5, 2, 1, 15, 1]
    assert statistics.slack.tolist() == [3, 3, 3]
