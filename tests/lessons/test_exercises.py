"""The grader accepts right answers, and rejects likely mistakes and hostile ones."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from cli_support import run

import carbonopt as co
from carbonopt.lessons.catalogue import LESSONS, lesson_of
from carbonopt.lessons.exercises import proven_kg

CROWD = {"a": 3, "b": 4, "c": 0, "d": 6}
RIGHT: dict[int, dict[str, Any]] = {
    1: {"start": 6, "kg": 1.1, "kg_with_pauses": 0.98},
    2: {"alone_kg": 1.36, "starts": None, "relaxed_kg": 2.26},
    3: {"bound_at_zero_kg": 1.36, "prices": [0, 0.24, 0, 0, 0.21, 0.29, 0.17, 0], "gap_percent": 4.237},
    4: {"greedy_gap_percent": 20.98, "starts": None, "most_saving_kg": 0.1},
    5: {"algorithm_kg": 0.6, "best_kg": 0.4, "signal": [110, 100, 1000]},
    6: {
        "reduced_cost_kg": 0.28,
        "bound_kg": 1.81,
        "columns": [["a", 1], ["b", 1], ["b", 5], ["c", 4], ["d", 3]],
    },
    7: {"threshold": 200, "slot": 3, "worst_signal": [200, 100]},
    8: {
        "regret_kg": 0.13,
        "harmless": [100 + g for g in [340, 210, 190, 330, 380, 250, 280, 400]],
        "harmful": [340, 270, 200, 330, 380, 210, 250, 400],
    },
    9: {"kg_within_an_hour": 0.9, "price_kg_per_hour": 0.2, "unsupported": {"a": 0, "b": 5}},
    10: {"advertised_percent": 55.26, "honest_percent": 50.0, "marginal_percent": -42.05},
}
WRONG: dict[tuple[int, str], list[Any]] = {
    (1, "start"): [5, 7, 0, 11, -1, 6.5, "6", True, [6], {"a": 6}, 1e300],
    (1, "kg"): [0.55, 1100, 1.2, -1.1, "1.1", True, [1.1], 10**400],
    (1, "kg_with_pauses"): [1.1, 0.49, 0.0],
    (2, "alone_kg"): [2.36, 1.2, "1.36"],
    (2, "starts"): [
        {"a": 3}, {"a": 4, "b": 4, "c": 4, "d": 4}, {"a": 0, "b": 0, "c": 3, "d": 6}, [3, 4, 0, 6], "abcd", 3,
    ],
    (2, "relaxed_kg"): [2.36, 1.36, 0],
    (3, "bound_at_zero_kg"): [0, 2.36],
    (3, "prices"): [
        [0] * 8, [1] * 8, [0.2] * 7, [-0.1] * 8, [1e300] * 8, [None] * 8, ["0.2"] * 8, 0.2, {"0": 1}, [10**400] * 8,
    ],
    (3, "gap_percent"): [0.0424, 4.42, 0, 100],
    (4, "greedy_gap_percent"): [26.55, 17.48, 0.2098],
    (4, "starts"): [{"a": 0, "b": 3, "c": 0, "d": 5}, {"a": 3}],
    (4, "most_saving_kg"): [2.36, 0.6, 0],
    (5, "algorithm_kg"): [0.4, 600, "0.6"],
    (5, "best_kg"): [0.6, 0.3],
    (5, "signal"): [
        [300, 100, 500], [100, 100], [100] * 4, [50, 100, 1000], [100, 100, 1000], "100", {"0": 1}, [None] * 3,
    ],
    (6, "reduced_cost_kg"): [1.48, -0.32, -0.28, 0.88],
    (6, "bound_kg"): [1.36, 3.41, 2.26],
    (6, "columns"): [
        [], [["a", 3]], [["a", 3], ["b", 4], ["c", 0], ["d", 6]], [["a", 1]] * 10, [["a", 7]], [["e", 1]], [["a", 1.0]],
        [["a"]], [[["a"], 1]], "ab", {"a": 1}, [[None, None]],
    ],
    (7, "threshold"): [250, 100, "200"],
    (7, "slot"): [4, 2, 5, 3.5],
    (7, "worst_signal"): [[400] * 6, [200], [], [50, 400], [200, 150], "200", [200, True], [None], {"0": 200}],
    (8, "regret_kg"): [0.53, 0.07, 130, -0.13],
    (8, "harmless"): [[340, 210, 190, 330, 380, 250, 280, 400], [500] * 8, [400] * 7, [-1] * 8, "340", [None] * 8],
    (8, "harmful"): [[340, 210, 190, 330, 380, 250, 280, 400], [340, 400, 190, 330, 380, 100, 280, 400], 0.12, []],
    (9, "kg_within_an_hour"): [0.3, 1.0, 900],
    (9, "price_kg_per_hour"): [0.1, 0.175, 0.7],
    (9, "unsupported"): [
        {"a": 0, "b": 4}, {"a": 3, "b": 4}, {"a": 1, "b": 4}, {"a": 5, "b": 4}, {"a": 0}, {"a": 0.5, "b": 5}, [0, 5],
        {"a": True, "b": 5}, {"a": 10**400, "b": 5},
    ],
    (10, "advertised_percent"): [50, 0.5526],
    (10, "honest_percent"): [55.26, 50.9],
    (10, "marginal_percent"): [42.05, 50, 0],
}  # fmt: skip


def brute_force(instance: co.MospInstance) -> tuple[float, dict[str, int]]:
    """Return the least carbon [kg] of all schedules, and one that has it."""
    best = (float("inf"), dict[str, int]())
    latest = [range(instance.time.slots - int(duration) + 1) for duration in instance.jobs.duration]
    for starts in product(*latest):
        load = [0.0] * instance.time.slots
        for start, duration, demand in zip(starts, instance.jobs.duration, instance.jobs.demand[:, 0], strict=True):
            for slot in range(start, start + duration):
                load[slot] += demand
        kg = sum(used * g / 1000 for used, g in zip(load, instance.carbon.g_per_kwh[0], strict=True))
        if max(load) <= 2 and kg < best[0] - 1e-9:
            best = (kg, dict(zip(instance.jobs.name, starts, strict=True)))
    return best


@pytest.fixture(scope="module")
def answers() -> dict[int, dict[str, Any]]:
    kg, starts = brute_force(lesson_of(2).instance())
    assert kg == pytest.approx(2.36)
    return {**RIGHT, **{number: {**RIGHT[number], "starts": starts} for number in (2, 4)}}


@pytest.mark.parametrize("number", LESSONS)
def test_right_answers_pass(number, answers) -> None:
    assert set(lesson_of(number).verdicts(answers[number]).values()) == {""}


@pytest.mark.parametrize(("number", "field"), WRONG)
def test_wrong_answers_are_rejected_with_a_reason(number, field, answers) -> None:
    for wrong in WRONG[number, field]:
        reasons = lesson_of(number).verdicts(answers[number] | {field: wrong})
        assert reasons.pop(field), wrong
        assert set(reasons.values()) == {""}


def test_a_wrong_price_is_named() -> None:
    words = "must be a number, at least 0 (a GPU is never paid for)"
    instance = lesson_of(3).instance()
    assert proven_kg(instance, [0, 0, 0, -0.1, 0, 0, 0, 0]) == f"the price of slot 3 is -0.1: {words}"
    assert proven_kg(instance, [0, "a", 0, 0, 0, 0, 0, 0]) == f"the price of slot 1 is 'a': {words}"


def test_weak_duality_holds_for_any_prices() -> None:
    instance = lesson_of(3).instance()
    for prices in ([0.0] * 8, [0.1] * 8, [5.0] * 8, RIGHT[3]["prices"]):
        assert proven_kg(instance, prices) <= 2.36 + 1e-9


@pytest.mark.parametrize("number", LESSONS)
def test_grams_in_place_of_kilograms_are_told(number, answers) -> None:
    right = {name: value for name, value in answers[number].items() if name == "kg" or name.endswith("_kg")}
    for field, value in right.items():
        assert (
            lesson_of(number).verdicts(answers[number] | {field: 1000 * value})[field].startswith("the answer is in kg")
        )


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ([5] * 8, "proves -18.64 kg, must prove 2.215 kg: prices are too high where nobody needs the room"),
        ([0] * 8, "proves 1.36 kg, must prove 2.215 kg: raise prices where jobs crowd (slots 5, 6)"),
        ([1000 * price for price in RIGHT[3]["prices"]], "prices are in kg per GPU-hour, not in g"),
    ],
)
def test_prices_that_prove_too_little_are_told_the_next_step(prices, words) -> None:
    verdict = lesson_of(3).verdicts({"prices": prices})["prices"]
    assert verdict.startswith(words)
    assert ("raise" in verdict) is (prices == [0] * 8)


def test_the_gap_of_ones_own_prices_is_told() -> None:
    prices = [0, 0.23, 0, 0, 0.2, 0.28, 0.16, 0]
    own = proven_kg(lesson_of(3).instance(), prices)
    assert isinstance(own, float)
    verdicts = lesson_of(3).verdicts({"prices": prices, "gap_percent": round(100 * (2.36 - own) / 2.36, 3)})
    assert not verdicts["prices"]
    assert "the gap of your own prices" in verdicts["gap_percent"]
    assert "must be right to" in lesson_of(3).verdicts({"gap_percent": 4.0, "prices": "none"})["gap_percent"]


def test_every_answer_is_tested() -> None:
    assert {(number, exercise.field) for number, lesson in LESSONS.items() for exercise in lesson.exercises} == set(
        WRONG
    )


def test_a_lesson_from_beginning_to_end(tmp_path, monkeypatch, answers) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("lesson", "start", 3).exit_code == 0
    assert co.read("lesson3.json").sha256 == lesson_of(3).instance().sha256
    blank = run("lesson", "check", 3, "answer3.json")
    assert (blank.exit_code, blank.output.count("has no answer yet")) == (1, 3)
    (tmp_path / "answer3.json").write_text(json.dumps(answers[3]))
    assert "exists, and is kept" in run("lesson", "start", 3).stderr
    done = run("lesson", "check", 3, "answer3.json")
    assert (done.exit_code, done.output.count("accepted")) == (0, 3)
    assert json.loads(run("lesson", "check", 3, "answer3.json", "--json").stdout)["passed"] is True


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        (99, "{}", "lesson 99: must be a number from 1 to 10"),
        (3, "[]", "must hold one JSON object"),
        (3, "{", "is not JSON"),
        (3, '{"lesson": 1}', "lesson = 1: must be 3"),
        (3, '{"lesson": 3, "price": 1}', "price: is unknown: must be 'lesson', 'bound_at_zero_kg'"),
        (3, '{"lesson": [3]}', "must be 3"),
    ],
)
def test_a_bad_answer_file_is_told_in_a_line(number, text, said, tmp_path) -> None:
    (tmp_path / "a.json").write_text(text)
    done = run("lesson", "check", number, tmp_path / "a.json")
    assert done.exit_code == 2
    assert said in done.stderr
