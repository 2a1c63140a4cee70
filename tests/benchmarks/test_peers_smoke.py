"""benchmarks/peers/mosp_build.py: every tool builds the same program, or it says so. Times are not tested."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csc_array, csr_array

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "peers" / "mosp_build.py"
TOOLS = ["carbonopt", "pyomo", "linopy", "cvxpy"]

pytest.importorskip("pyomo")
pytest.importorskip("cvxpy")
pytest.importorskip("linopy", minversion="0.10")
import mosp_build  # noqa: E402
import mosp_data  # noqa: E402
import mosp_models  # noqa: E402


def _result(tool: str, **changes: Any) -> dict[str, Any]:
    return {"tool": tool, "columns": 7, "rows": 5, "nonzeros": 12, "lp_optimum": 2.0} | changes


@pytest.fixture(scope="module")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """What the command prints, and the results that it writes."""
    path = tmp_path_factory.mktemp("peers") / "results.json"
    size = ["--jobs", "50", "--clusters", "3", "--slots", "24"]
    command = [sys.executable, str(SCRIPT), *size, "--repeats", "1", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(path.read_text())["results"]


@pytest.mark.slow
class TestSmallRun:
    def test_every_tool_is_there_with_its_version(self, small_run: Any) -> None:
        results = small_run[1]
        assert [result["tool"] for result in results] == TOOLS
        assert all(result["version"] for result in results)

    def test_sizes_are_equal(self, small_run: Any) -> None:
        sizes = [tuple(result[key] for key in ("columns", "rows", "nonzeros")) for result in small_run[1]]
        assert len(set(sizes)) == 1
        assert min(sizes[0]) > 0

    def test_lp_optima_are_equal(self, small_run: Any) -> None:
        optima = [result["lp_optimum"] for result in small_run[1]]
        assert optima == pytest.approx([optima[0]] * len(TOOLS), rel=1e-6)
        assert optima[0] > 0

    def test_times_and_memory_are_numbers(self, small_run: Any) -> None:
        for result in small_run[1]:
            assert result["build_cpu_s"] > 0
            assert result["loaded_cpu_s"] > 0
            assert result["first_cpu_s"] > 0
            assert result["peak_mb"] >= 0
            assert len(result["builds_cpu_s"]) == 1

    def test_the_table_has_a_line_a_tool_and_nothing_from_highs(self, small_run: Any) -> None:
        lines = small_run[0].splitlines()
        assert [line.split()[0] for line in lines[2:]] == TOOLS
        assert lines[1].split()[:2] == ["tool", "columns"]


def _dense(arrays: Any) -> np.ndarray:
    """Return costs, bounds and the matrix with its sides as one table; capacity rows that hold nothing left out."""
    make = csr_array if arrays.by_rows else csc_array
    shape = (len(arrays.row_lower), len(arrays.cost))
    matrix = make((arrays.values, arrays.indices, arrays.starts), shape=shape).toarray()
    sides = np.clip(np.column_stack([arrays.row_lower, arrays.row_upper]), -1e20, 1e20)
    rows = np.column_stack([matrix, sides])[matrix.any(axis=1)]
    columns = np.array([arrays.cost, arrays.lower, arrays.upper, arrays.integer], dtype=np.float64)
    return np.vstack([np.pad(columns, ((0, 0), (0, 2))), rows])


@pytest.mark.parametrize("tool", TOOLS[1:])
def test_every_coefficient_is_equal(tool: str) -> None:
    data = mosp_build.generated({"jobs": 12, "clusters": 2, "slots": 16, "seed": 3})
    own, other = (mosp_models.TOOLS[name].arrays(mosp_models.TOOLS[name].model(data)) for name in ("carbonopt", tool))
    assert own.size() == other.size()
    assert_allclose(_dense(other), _dense(own), rtol=1e-12)


def test_agreement_up_to_rounding() -> None:
    assert mosp_build.disagreements([_result("a"), _result("b", lp_optimum=2.0 + 1e-9)]) == []


def test_optima_may_be_absent() -> None:
    assert mosp_build.disagreements([_result("a", lp_optimum=None), _result("b", lp_optimum=None)]) == []


@pytest.mark.parametrize("change", [{"columns": 8}, {"rows": 4}, {"nonzeros": 11}, {"lp_optimum": 2.00001}])
def test_a_difference_is_told(change: dict[str, Any]) -> None:
    faults = mosp_build.disagreements([_result("a"), _result("b", **change)])
    assert len(faults) == 1
    assert faults[0].startswith("a and b differ in")


def test_an_unknown_tool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        mosp_build.main(["--tools", "carbonopt,nothing"])
    assert "unknown tool 'nothing'" in capsys.readouterr().err


def test_an_overloaded_instance_is_refused() -> None:
    instance = mosp_build.carbonopt.generate("mosp", preset="bench", jobs=10, clusters=2, slots=12, seed=1, load=2.0)
    with pytest.raises(SystemExit, match="no rejection"):
        mosp_data.read_data(instance)
