"""The program: named blocks, and a relaxation that one set of duals proves."""

from __future__ import annotations

import pytest
from conftest import ROOT, load_module
from loop_support import for_each

import carbonopt as co
from carbonopt.problems.ecas.data.file import from_dict
from carbonopt.problems.ecas.formulation.program import estimate_size

reference = load_module(ROOT / "tests/reference/brute_force_ecas.py")


def test_blocks_and_size() -> None:
    instance = co.generate("ecas", jobs=10, machines=2, slots=12, load=0.3, seed=1)
    program = co.formulate(instance)
    assert list(program.variables) == ["x", "v", "y", "z"]
    assert list(program.constraints) == ["placement", "capacity", "running", "switching"]
    columns, nonzeros = estimate_size(instance)
    assert instance.fits.all()
    assert (program.columns, program.nonzeros) == (columns, nonzeros)


@pytest.mark.parametrize("kind", ["price", "negative", "tight", "given"])
@for_each(seed=range(10))
def test_the_duals_of_capacity_prove_the_relaxation(kind: str, seed: int) -> None:
    instance = from_dict(reference.random_instance(seed, kind))
    solution = co.solve(instance, "lp")
    if solution.bound is not None:
        assert solution.bound == pytest.approx(solution.info["lp_optimum"], abs=1e-6)
