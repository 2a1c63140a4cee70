"""What `solve` says of a bound that its certificate does not prove."""

from __future__ import annotations

from dataclasses import replace

import pytest

import carbonopt as co
from carbonopt.cli import solve


def test_a_bound_of_a_tree_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    instance = co.generate("mosp", jobs=6, seed=1)
    solution = co.solve(instance, "price")
    assert solution.bound is not None
    solve._print(instance, solution)
    assert "search tree" not in capsys.readouterr().out
    raised = solution.bound + 1e-6
    solve._print(instance, replace(solution, bound=raised, info={**solution.info, "tree_bound": raised}))
    said = capsys.readouterr()
    assert "the bound is of a search tree; what `carbonopt check` recomputes is 1.143442" in said.out + said.err
