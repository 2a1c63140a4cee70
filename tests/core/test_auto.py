"""What the pages say of `auto`, against the cards and what `auto` does."""

from __future__ import annotations

import re
import sys

import pytest
from conftest import ROOT, TINY

import carbonopt as co
from carbonopt.core.registry import Problem, problem_names, problem_of

DOCS = ROOT / "docs"
SMALL = {
    "mosp": "crowd",
    "elastic": "rigid_7_5",
    "purchasing": "cleanhour_2",
    "mlcluster": "gpuqueue",
    "ecas": "switchesoff",
}
WORDS = re.compile(r"`([a-z-]+)`")


def table() -> dict[str, list[str]]:
    """Return the cells of "Which method?" by problem: auto, else, optimum, large, tonight."""
    page = (DOCS / "getting_started.md").read_text()
    part = page[page.index("## Which method?") :]
    rows = re.findall(r"^\| \[`(\w+)`\]\([^)]*\) \|(.*)\|$", part, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}


def limit_of(problem: Problem) -> int:
    """Return the size up to which `auto` is `milp`, from the module of its role `choose`; 0 where it never is."""
    return int(getattr(sys.modules[problem.role("choose").__module__], "MILP_COLUMNS", 0))


def columns_of(instance: co.Instance) -> int:
    found = problem_of(instance.problem).role("inspect")(instance)
    return int(found.get("columns_at_most", found.get("program_columns")))


def test_every_problem_has_a_row() -> None:
    assert set(table()) == set(problem_names())


@pytest.mark.parametrize("name", problem_names())
def test_the_row_and_the_page_agree_with_the_card(name: str) -> None:
    problem = problem_of(name)
    auto, otherwise, optimum, large, tonight = table()[name]
    limit = limit_of(problem)
    page = (DOCS / f"problems/{name}.md").read_text()
    assert "leave `auto`: " in page
    if limit:
        assert f"{limit:,} columns" in auto
        assert page.count(f"{limit:,} columns") >= 2
        assert WORDS.findall(otherwise)[0] == "price"
    for cell in (optimum, large):
        assert all(method in problem.methods for method in WORDS.findall(cell))
    exact = {method for method, entry in problem.methods.items() if entry.exact}
    assert set(WORDS.findall(optimum)) <= exact
    assert bool(WORDS.findall(optimum)) is bool(exact)
    if tonight.startswith("policy"):
        assert WORDS.findall(tonight)[0] in problem.policies


@pytest.mark.parametrize("name", problem_names())
def test_auto_does_what_the_row_says(name: str) -> None:
    limit = limit_of(problem_of(name))
    small = co.read(TINY[SMALL[name]])
    for instance in (small, *(co.generate(name, jobs=jobs, seed=1) for jobs in (3, 200))):
        wanted = "milp" if columns_of(instance) <= limit else "price"
        assert problem_of(name).choose(instance) == wanted, instance.name
    assert columns_of(small) <= limit or not limit
    assert columns_of(instance) > limit


def test_what_price_does_not_know_goes_to_milp_at_any_size() -> None:
    large = co.generate("mosp", jobs=200, seed=1).to_dict()
    large["clusters"]["max_starts_per_slot"] = [50] * len(large["clusters"]["name"])
    switching = co.generate("elastic", jobs=200, seed=1).to_dict() | {"objective": {"switching_g_per_server": 2}}
    for raw in (large, switching):
        problem = problem_of(raw["problem"])
        assert problem.choose(problem.role("read")(raw)) == "milp"
