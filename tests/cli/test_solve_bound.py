"""What `solve` says of a bound that its certificate does not prove."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import carbonopt as co
from carbonopt.cli import compare, solve


def test_a_bound_of_a_tree_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    instance = co.generate("mosp", jobs=6, seed=1)
    solution = co.solve(instance, "price")
    assert solution.bound is not None
    solve._print(instance, solution)
    assert "certificate" not in capsys.readouterr().out
    raised = solution.bound * 0.999
    tree = replace(solution, objective=raised * 1.01, bound=raised, info={**solution.info, "tree_bound": raised})
    tree = replace(tree, certificate={**(tree.certificate or {}), "bound": raised * 0.98})
    solve._print(instance, tree)
    said = capsys.readouterr()
    rows = dict(re.findall(r"^(\S.*?)  +(\S.*?) *$", said.out, re.MULTILINE))
    assert rows["proven bound"] == f"{raised:.9g}"
    assert rows["gap"] == "0.99 %"
    assert rows["certificate proves"] == f"{raised * 0.98:.9g}"
    assert rows["its gap"] == "2.97 %"
    assert said.err == ""
    assert tree.summary()["certificate_bound"] == raised * 0.98
    assert tree.summary()["certificate_gap"] == pytest.approx(0.03 / 1.01, rel=1e-9)


def test_compare_has_columns_for_it_where_a_row_needs_them() -> None:
    solution = co.solve(co.generate("mosp", jobs=6, seed=1), "price")
    assert solution.bound is not None
    assert "its gap" not in compare._cells([solution], solution.bound)[0]
    proven = solution.bound * 0.98
    tree = replace(solution, info={**solution.info, "tree_bound": solution.bound}, certificate={"bound": proven})
    other = replace(solution, method="lp", certificate=None)
    heads, rows = compare._cells([tree, other], solution.bound)
    assert heads[3:8] == ["own bound", "gap", "certificate proves", "its gap", "seconds"]
    assert rows[0][6] == "2.00 %"
    assert float(rows[0][5]) == pytest.approx(proven, rel=1e-6)
    assert rows[1][5:7] == ["-", "-"]
