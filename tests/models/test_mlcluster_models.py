"""The pages models/mlcluster_*.py against each other, by hand, and against the package."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, load_module
from loop_support import for_each

from carbonopt.core.options import Options
from carbonopt.milp import highs
from carbonopt.problems.mlcluster.data.file import from_dict
from carbonopt.problems.mlcluster.formulation.grid import build_grid
from carbonopt.problems.mlcluster.formulation.program import build

PYOMO, CVXPY = ROOT / "models" / "mlcluster_pyomo.py", ROOT / "models" / "mlcluster_cvxpy.py"

pytest.importorskip("pyomo")
pytest.importorskip("cvxpy")

GRID = ROOT / "models" / "mlcluster_milp_pyomo.py"
algebra = load_module(PYOMO)
grid = load_module(GRID)
linear = load_module(CVXPY)
reference = load_module(ROOT / "tests/reference/brute_force_mlcluster.py")
TINY = {
    raw["name"].split("-")[1].removeprefix("tiny_"): raw
    for raw in load_module(ROOT / "instances/tiny_mlcluster.py").tiny_instances()
}
BY_HAND = {  # of the relaxation in whole slots
    "gpushift": 0.1, "gpuqueue": 0.3, "twogpus": 0.2, "gpurestart": 0.15, "idlegpus": 0.06,
    "jctbudget": 0.25,  # half of the work an hour late: a mean moment of 0.5 h, and half an hour
    "jctweight": 0.45,  # slot 0: 0.4 and half an hour at 0.1; slot 1: 0.3 and 1.5 h
}  # fmt: skip


def _package(raw: dict[str, Any], cells: int = 1) -> float | None:
    form = build(from_dict(raw), cells)
    result = highs.solve(form.program, Options())
    return None if result.objective is None else result.objective + form.constant


@pytest.mark.parametrize("name", BY_HAND)
def test_by_hand(name: str) -> None:
    for page in (algebra, linear):
        assert page.solve(TINY[name])["bound"] == pytest.approx(BY_HAND[name], rel=1e-6)


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(3))
def test_three_statements_agree(kind: str, seed: int, cells: int) -> None:
    raw = reference.random_instance(seed, kind)
    if seed == 2:
        raw["objective"]["limits"]["mean_jct_hours"] = 2.5
        raw["jobs"]["arrival_minutes"][0] = 17.5
    values = [page.solve(raw, cells)["bound"] for page in (algebra, linear)]
    assert values == pytest.approx([_package(raw, cells)] * 2, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("kind", reference.KINDS)
@for_each(seed=range(3))
def test_two_statements_of_the_grid_agree(kind: str, seed: int, cells: int) -> None:
    raw = reference.random_instance(seed, kind)
    if seed == 2:
        raw["objective"]["limits"]["mean_jct_hours"] = 2.5
        raw["jobs"]["arrival_minutes"][0] = 17.5
    form = build_grid(from_dict(raw), cells)
    result = highs.solve(form.program, Options(mip_rel_gap=0.0))
    here = None if result.objective is None else result.objective + form.constant
    assert grid.solve(raw, cells)["objective"] == pytest.approx(here, rel=1e-4)


def test_infeasible_and_empty() -> None:
    raw = json.loads(json.dumps(TINY["gpuqueue"]))
    raw["objective"]["limits"]["mean_jct_hours"] = 0.2
    for page in (algebra, linear):
        found = page.solve(raw)
        assert (found["status"], found["bound"]) == ("infeasible", None)
        empty = {**raw, "jobs": {name: [] for name in raw["jobs"]}}
        assert (page.solve(empty)["status"], page.solve(empty)["bound"]) == ("optimal", 0.0)
    assert (grid.solve(raw)["status"], grid.solve(raw)["objective"]) == ("infeasible", None)
    assert (grid.solve(empty)["status"], grid.solve(empty)["objective"]) == ("optimal", 0.0)


@pytest.mark.parametrize("page", [PYOMO, CVXPY, GRID])
def test_as_a_script(page: Path, tmp_path: Path) -> None:
    path = tmp_path / "tiny.json.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(TINY["twogpus"], file)
    done = subprocess.run([sys.executable, page, path], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["objective" if page == GRID else "bound"] == pytest.approx(0.2, rel=1e-6)
    assert found["status"] == "optimal"
    if page == GRID:
        assert set(found["held"]) == {"job", "cell", "gpus"}
        return
    assert sum(found["relaxed"]["minutes"]) == pytest.approx(60)
    assert set(found["relaxed"]) == {"job", "cell", "gpus", "minutes"}


def test_the_pages_share_no_code_with_the_package() -> None:
    for page in (PYOMO, CVXPY):
        assert "carbonopt" not in page.read_text(encoding="utf-8")
