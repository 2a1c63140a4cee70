"""The unit formulation: its shapes, names, rows, and what is refused for its size."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from elastic_support import by_hand, change, changed, random_instance, reference
from scipy.sparse import csc_array

import carbonopt as co
from carbonopt.milp.program import Program
from carbonopt.problems.elastic.data.file import from_dict
from carbonopt.problems.elastic.formulation.program import build, estimate_size, implied


def dense(program: Program) -> np.ndarray:
    arrays = program.arrays()
    matrix = csc_array((arrays.values, arrays.rows, arrays.starts), shape=(program.rows, program.columns))
    return np.asarray(matrix.toarray())


def test_every_number_by_hand() -> None:
    """x: one server or two or three in slots 0-3; y: two or none in slots 1-3; slot and CI as in the file."""
    form = build(from_dict(change({})))
    program, arrays = form.program, form.program.arrays()
    assert list(program.variables) == ["y"]
    assert list(program.constraints) == ["work", "capacity", "precedence"]
    assert list(zip(form.job, form.slot, form.unit, strict=True)) == [
        *((0, t, u) for t in range(4) for u in range(3)),
        *((1, t, 0) for t in (1, 2, 3)),
    ]
    grams = [ci * kwh for ci in (400, 100, 300, 200) for kwh in (0.1, 0.1105, 0.121)]
    assert arrays.cost == pytest.approx([*grams, 25, 75, 50])
    assert (arrays.upper == 1).all()
    assert arrays.integer.all()
    matrix = dense(program)
    work = matrix[program.constraints["work"].slice]
    assert work.tolist() == [[1, 0.9, 0.5] * 4 + [0] * 3, [0] * 12 + [1] * 3]
    capacity = matrix[program.constraints["capacity"].slice]
    for t in range(4):
        assert capacity[t].tolist() == [1.0 * (t == s) for s in range(4) for _ in range(3)] + [
            2.0 * (t == s) for s in (1, 2, 3)
        ]
    assert arrays.row_lower[program.constraints["work"].slice] == pytest.approx([1.5, 2])
    assert arrays.row_upper[program.constraints["capacity"].slice].tolist() == [3] * 4
    precedence = matrix[program.constraints["precedence"].slice]
    assert precedence.shape == (8, 15)
    assert precedence[0].tolist() == [-1, 1] + [0] * 13
    assert precedence[1].tolist() == [0, -1, 1] + [0] * 12


class TestPrecedence:
    """Rows only where an optimum might do without."""

    base = by_hand(3, [1, 2], (0, 1.5, 0, [1, 0.6, 0.6]))

    def test_regular_profiles_need_none(self) -> None:
        assert "precedence" not in build(self.base).program.constraints
        rising = changed(self.base, {("profiles", "a", "marginal_watts"): [1000, 1000, 1200]})
        assert implied(rising)

    @pytest.mark.parametrize(
        "changes",
        [
            {("profiles", "a", "marginal_watts"): [1000, 999, 1000]},
            {("profiles", "a", "k_min"): 2},
            {("objective",): {"switching_g_per_server": 1}},
            {
                ("profiles", "a", "marginal_gbps"): [1, 0, 0],
                ("cluster", "network_watts_per_gbps"): 1,
            },
        ],
        ids=["energy falls", "a block", "switching", "network"],
    )
    def test_others_do(self, changes: dict) -> None:
        program = build(changed(self.base, changes)).program
        assert program.constraints["precedence"].size == 4

    def test_network_energy_counts_where_moving_data_takes_some(self) -> None:
        assert implied(changed(self.base, {("profiles", "a", "marginal_gbps"): [1, 0, 0]}))


class TestSwitching:
    instance = by_hand(3, [5, 1, 4], (0, 2, 1, [1, 1]), objective={"switching_g_per_server": 0.5})

    def test_rows_and_columns(self) -> None:
        program = build(self.instance).program
        assert list(program.variables) == ["y", "switched"]
        assert list(program.constraints) == ["work", "capacity", "precedence", "rise", "fall"]
        assert [program.constraints[name].size for name in ("rise", "fall")] == [4, 4]
        arrays = program.arrays()
        assert arrays.cost[program.variables["switched"].slice].tolist() == [0.5] * 4
        assert not arrays.integer[program.variables["switched"].slice].any()
        matrix = dense(program)
        rise = matrix[program.constraints["rise"].slice][:, :6]
        assert rise.tolist() == [
            [1, 1, 0, 0, 0, 0],
            [-1, -1, 1, 1, 0, 0],
            [0, 0, -1, -1, 1, 1],
            [0, 0, 0, 0, -1, -1],
        ]
        assert (matrix[program.constraints["fall"].slice][:, :6] == -rise).all()

    def test_its_price(self) -> None:
        solution = co.solve(self.instance, "milp", mip_rel_gap=0)
        assert solution.objective == pytest.approx(2 * 1 + 0.5 * 4)
        dear = co.solve(changed(self.instance, {("objective", "switching_g_per_server"): 10}), "milp", mip_rel_gap=0)
        assert dear.columns["servers"] == [1, 1]
        assert dear.objective == pytest.approx(5 + 20)

    @pytest.mark.parametrize("seed", range(12))
    def test_milp_is_the_optimum_of_trying_all(self, seed: int) -> None:
        raw = reference.random_instance(seed, "switching")
        optimum, _ = reference.brute_force(raw)
        solution = co.solve(from_dict(raw), "milp", mip_rel_gap=0)
        assert solution.objective == (None if optimum is None else pytest.approx(optimum, rel=1e-7))
        assert solution.status == ("infeasible" if optimum is None else "optimal")

    def test_without_switching_is_no_more(self) -> None:
        free = changed(self.instance, {("objective", "switching_g_per_server"): 0})
        assert list(build(free).program.variables) == ["y"]


@pytest.mark.parametrize("kind", ["unit", "decreasing", "general", "switching"])
def test_the_size_is_known_before_anything_is_built(kind: str) -> None:
    for seed in range(10):
        instance = from_dict(reference.random_instance(seed, kind))
        program = build(instance).program
        columns, nonzeros = estimate_size(instance)
        assert columns == program.columns
        assert program.nonzeros <= nonzeros


class TestExport:
    def test_names(self, tmp_path: Path) -> None:
        instance = from_dict(change({("objective", "switching_g_per_server"): 1}))
        program = co.formulate(instance)
        one, two = instance.jobs.name
        begin = instance.time.start.strftime("%Y%m%dT")
        last = f"y({one},{begin}0300,2)"
        program.to_lp(tmp_path / "two.lp")
        text = (tmp_path / "two.lp").read_text()
        names = (f"y({two},{begin}0100,0)", f"work({two}):", f"capacity({begin}0300):")
        for name in (last, *names, "switched(8)", "precedence(0):", "rise(4):"):
            assert name in text
        program.to_mps(tmp_path / "two.mps")
        assert last in (tmp_path / "two.mps").read_text()

    def test_forms(self) -> None:
        instance = from_dict(change({}))
        assert not co.formulate(instance, "lp").arrays().integer.any()
        assert not co.formulate(instance.with_model("fluid")).arrays().integer.any()
        with pytest.raises(co.UnsupportedError, match="unknown form 'dual': must be 'milp' or 'lp'"):
            co.formulate(instance, "dual")

    def test_another_solver_finds_the_same(self, tmp_path: Path) -> None:
        import highspy

        for seed in range(4):
            instance = random_instance(seed, "decreasing", 4, 6, model="integer")
            co.formulate(instance).to_mps(tmp_path / "x.mps")
            solver = highspy.Highs()
            solver.silent()
            solver.readModel(str(tmp_path / "x.mps"))
            solver.run()
            solution = co.solve(instance, "milp", mip_rel_gap=0)
            if solution.has_solution:
                assert solver.getInfo().objective_function_value == pytest.approx(solution.objective, rel=1e-4)


class TestSize:
    def giant(self) -> co.Instance:
        """A file of a few kB: 600 jobs over 2000 slots with 2000 units each are 2.4e9 columns."""
        slots, units = 2000, 2000
        raw = by_hand(5, [1.0] * slots).to_dict()
        raw["profiles"] = {"p": {"marginal_throughput": [1.0] * units, "marginal_watts": [1.0] * units}}
        raw["jobs"] = {
            "name": [f"j{i}" for i in range(600)],
            "arrival": [0] * 600,
            "length": [1.0] * 600,
            "slack": [slots - 1] * 600,
            "profile": ["p"] * 600,
        }
        return from_dict(raw)

    @pytest.mark.parametrize("method", ["milp", "lp"])
    def test_refused_before_anything_is_allocated(self, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=2**34))
        instance = self.giant()
        monkeypatch.setattr(
            "carbonopt.problems.elastic.formulation.program.all_units", lambda _: pytest.fail("allocated")
        )
        with pytest.raises(co.TooLargeError, match=r"the program of by-hand would have 2\.4e\+09 columns"):
            co.solve(instance, method)
        with pytest.raises(co.TooLargeError, match="2\\.4e\\+09 columns"):
            co.formulate(instance)

    def test_a_small_limit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import carbonopt.milp.program as program

        monkeypatch.setattr(program, "INDEX_LIMIT", 3)
        with pytest.raises(co.TooLargeError, match="15 columns"):
            co.solve(from_dict(change({})), "milp")
