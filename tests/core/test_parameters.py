"""Parameters of methods check themselves, and are read from mappings and TOML."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cli_support import run

import carbonopt as co
from carbonopt.core.parameters import Parameters, choice, described, number, read_parameters
from carbonopt.core.registry import problem_names, problem_of


@dataclass(frozen=True)
class Annealing(Parameters):
    start: float = number(0.5, above=0)
    steps: tuple[float, ...] = number((1.0, 0.1), above=0)
    pair: tuple[int, int] = number((1, 2), least=0)


@dataclass(frozen=True)
class Search(Parameters):
    moves: int = number(100, least=1)
    limit: float | None = number(None, least=0)
    rule: str = choice("best", "best", "first")
    restart: bool = True
    annealing: Annealing = field(default_factory=Annealing)


def test_what_is_not_named_is_as_by_default() -> None:
    found = Search.of({"moves": 7, "annealing": {"pair": [3, 4]}})
    assert found == Search(moves=7, annealing=Annealing(pair=(3, 4)))
    assert found.changes() == {"moves": 7, "annealing": {"pair": [3, 4]}}
    assert Search().changes() == {}


def test_changes_make_the_same_parameters_again() -> None:
    given = Search(limit=2.0, rule="first", restart=False, annealing=Annealing(steps=(3.0,)))
    assert Search.of(given.changes()) == given


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"moves": 0}, ["params.moves = 0: must be a whole number, at least 1"]),
        ({"moves": 1.5}, ["params.moves = 1.5: must be a whole number, at least 1"]),
        ({"moves": True}, ["params.moves = true: must be a whole number, at least 1"]),
        ({"limit": "much"}, ["params.limit = 'much': must be a finite number, at least 0, or none"]),
        ({"rule": "worst"}, ["params.rule = 'worst': must be 'best' or 'first'"]),
        ({"restart": 1}, ["params.restart = 1: must be true or false"]),
        ({"annealing": 3}, ["params.annealing = 3: must be a table of Annealing"]),
        ({"annealing": {"pair": [1]}}, ["params.annealing.pair = [1]: must be 2 numbers"]),
        ({"annealing": {"steps": [1, -1]}}, ["params.annealing.steps = [1, -1]: must be above 0"]),
        ({"annealing": {"steps": 1}}, ["params.annealing.steps = 1: must be some numbers"]),
        (
            {"move": 1, "annealing": {"begin": 1}},
            [
                "params.move: is unknown: must be 'moves', 'limit', 'rule', 'restart' or 'annealing'",
                "params.annealing.begin: is unknown: must be 'start', 'steps' or 'pair'",
            ],
        ),
    ],
)
def test_every_fault_is_a_line(given: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(co.InputError) as error:
        Search.of(given, "params")
    assert error.value.lines() == lines


def test_an_object_checks_itself() -> None:
    with pytest.raises(co.UnsupportedError, match=r"^start = 0: must be above 0$"):
        Annealing(start=0)
    with pytest.raises(co.UnsupportedError, match=r"^restart = 1: must be true or false$"):
        Search(restart=1)  # type: ignore[arg-type]


def test_a_file_is_toml(tmp_path: Path) -> None:
    file = tmp_path / "fast.toml"
    file.write_text("moves = 3\n[annealing]\nstart = 2.0\n")
    assert Search.of(read_parameters(file)) == Search(moves=3, annealing=Annealing(start=2.0))
    file.write_text("moves = \n")
    with pytest.raises(co.InputError, match=r"fast\.toml: is not TOML: Invalid value \(at line 1, column 9\)"):
        read_parameters(file)
    with pytest.raises(co.InputError, match=r"none\.toml: cannot be read: No such file or directory"):
        read_parameters(tmp_path / "none.toml")


def test_a_method_without_parameters_takes_none() -> None:
    instance = co.generate("mosp", jobs=3, seed=1)
    with pytest.raises(co.UnsupportedError, match="method 'lp' of problem 'mosp' takes no params"):
        co.solve(instance, "lp", params={"moves": 1})


def _kinds() -> list[type[Parameters]]:
    cards = map(problem_of, problem_names())
    return [card.load(entry.parameters) for card in cards for entry in card.methods.values() if entry.parameters]


def test_every_parameter_of_every_method_is_described() -> None:
    silent = [(kind.__name__, part.path) for kind in _kinds() for part in described(kind) if not part.text]
    assert silent == []


def test_the_printed_file_holds_the_defaults(tmp_path: Path) -> None:
    for name in problem_names():
        for method, entry in problem_of(name).methods.items():
            if entry.parameters:
                file = tmp_path / f"{name}-{method}.toml"
                file.write_text(run("params", name, method).stdout)
                assert problem_of(name).parameters(method, file) == problem_of(name).load(entry.parameters)()


def test_a_whole_number_is_a_float_where_one_is_meant() -> None:
    """Compiled loops tell 1 from 1.0."""
    assert isinstance(Annealing(start=1).start, float)
    assert all(isinstance(step, float) for step in Annealing(steps=(2, 1)).steps)
    assert isinstance(Search(limit=3).limit, float)
    assert Search().limit is None
    assert isinstance(Search().moves, int)
    assert isinstance(Search.of({"annealing": {"start": 2}}).annealing.start, float)
