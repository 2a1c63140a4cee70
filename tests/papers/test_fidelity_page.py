"""Every row of docs/fidelity.md names what exists: modules, methods, policies, figures, tests and pages."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

from carbonopt.core.registry import problem_of
from carbonopt.papers.figure import FIGURES

PAGE = (ROOT / "docs/fidelity.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## [^\n]*`(\w+)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
ROWS = [
    pytest.param(problem, line, id=f"{problem}: {line.split('|')[1].strip()}")
    for problem, text in SECTIONS.items()
    for line in text.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| element |"))
]
PAPERS = {"elastic": "carbonflex", "mosp": "caspian", "purchasing": "gaia", "mlcluster": "green"}
STATES = ("as printed", "as in", "deviates", "left out", "not in", "open", "partly", "reproduced", "not of", "printed")
"""Every row says one of these; rows of figures give the printed number beside ours."""
TEST_NAMES = {
    name
    for path in ROOT.glob("tests/**/test_*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
}


def test_there_is_a_table_for_each_paper() -> None:
    assert set(SECTIONS) == set(PAPERS)


@pytest.mark.parametrize(("problem", "row"), ROWS)
def test_what_a_row_names_exists(problem: str, row: str) -> None:
    cells = row.strip().removeprefix("|").removesuffix("|").split("|")
    assert len(cells) == 5, "element, section, where, state, test"
    rooms = (ROOT, ROOT / "carbonopt", ROOT / "carbonopt/problems" / problem)
    for path in re.findall(r"`([\w/]+(?:\.py|/))`", row):
        inside_tests = list(ROOT.glob(f"tests/**/{path}")) if path.startswith("test_") else []
        assert inside_tests or any((room / path).exists() for room in rooms), f"no {path}"
    for name in re.findall(r"`(test_\w+)`", row):
        assert name in TEST_NAMES, f"no {name}"
    for name in re.findall(rf"`({PAPERS[problem]}-[\w-]+)`", row):
        card = problem_of(problem)
        assert name in {*FIGURES, *card.methods, *card.policies}, f"no {name}"


@pytest.mark.parametrize(("problem", "row"), ROWS)
def test_a_row_says_what_state_it_is_in(problem: str, row: str) -> None:
    assert any(state in row for state in STATES), "as printed, deviates (why), left out (why) or open"


@pytest.mark.parametrize(("problem", "row"), ROWS)
def test_a_row_names_its_test_or_says_why_there_is_none(problem: str, row: str) -> None:
    cell = row.strip().removesuffix("|").rsplit("|", 1)[1].strip()
    assert re.fullmatch(r"`test_\w+`(, `test_\w+`)*|none: \S.*", cell), cell


def test_every_figure_of_a_paper_has_a_row() -> None:
    """A row names several figures of one paper by their ends, as in ``-7``, or the first and last of a range."""
    numbered = [name for name in FIGURES if re.fullmatch(r"(caspian|gaia|green)-(table-)?\d+[a-c]*", name)]
    missing = [name for name in numbered if not re.search(rf"`({name}|-{name.partition('-')[2]})`", PAGE)]
    assert not missing
