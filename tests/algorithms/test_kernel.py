"""Kernels run compiled and as Python, are decided on once a solve, and are kept by what they are made of."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import ROOT

from carbonopt.algorithms import kernel as kernel_module
from carbonopt.algorithms.kernel import PLAIN_STEPS, Kernel, kernel, loops, managed_kernel
from carbonopt.algorithms.machine import content_stamp
from carbonopt.core.arrays import FloatArray

FEW, MANY = 0.0, 2.0 * PLAIN_STEPS

SOURCE = '''"""A module of kernels."""
from typing import NamedTuple

from carbonopt.algorithms.kernel import kernel, managed_kernel

FACTOR = 2.0


class Line(NamedTuple):
    slope: float
    height: float


@kernel
def scaled(x):
    """Return a part of `x`."""
    return FACTOR * x


@kernel
def at(line, x):
    """Return the line's value."""
    return line.slope * scaled(x) + line.height


@kernel
def made(x):
    """Return the line's value for a line that is made here."""
    line = Line(x, 1.0)
    return line.slope * 10.0 + line.height
'''


class Pair(NamedTuple):
    values: np.ndarray
    weight: float


@kernel
def weighted(pair: Pair, i: int) -> float:
    return float(pair.values[i] * pair.weight)


@kernel
def total(pair: Pair) -> float:
    """Return the weighted sum."""
    found = 0.0
    for i in range(len(pair.values)):
        found += weighted(pair, i)
    return found


def written(folder: Path, source: str, name: str = "made_kernels") -> ModuleType:
    """Return the module that a source makes, as a new process would import it."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[name] = module  # where pickles look for its classes
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def kept(folder: Path) -> set[str]:
    """Return the names of the files of machine code."""
    return {path.name for path in folder.rglob("*.nb?")}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of machine code that nothing else uses."""
    import numba

    folder = tmp_path / "cache"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    return folder


class TestCalls:
    def test_compiled_and_as_python_with_equal_results(self) -> None:
        pair = Pair(np.linspace(0, 1, 7), 0.1)
        found = []
        for steps in (FEW, MANY):
            with loops(steps):
                found.append(total(pair))
        assert found[0] == found[1] == total.function(pair) == total.machine(pair)

    def test_the_outermost_decision_holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Kernel, "machine", property(lambda _: lambda *_: "machine"))
        inner = kernel(lambda: "python")
        assert inner() == "machine"
        for first, second, expected in ((FEW, MANY, "python"), (MANY, FEW, "machine")):
            with loops(first), loops(second):
                assert inner() == expected
            assert inner() == "machine"

    def test_a_decision_ends_with_its_solve_even_if_that_fails(self) -> None:
        with pytest.raises(ZeroDivisionError), loops(FEW):
            raise ZeroDivisionError
        with loops(MANY, [total], 1.0, remaining=0.5) as ready:
            assert ready == total.is_ready

    def test_python_is_always_ready(self) -> None:
        with loops(FEW, [kernel(lambda x: x)], 1.0, remaining=0.5) as ready:
            assert ready
            with loops(MANY, [kernel(lambda x: x)], 1.0, remaining=0.5) as inner:
                assert inner

    def test_what_must_be_compiled_is_told_once(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(kernel_module, "_told", set())
        with caplog.at_level(logging.WARNING, "carbonopt"):
            for turn in range(2):
                space: dict[str, Any] = {}
                exec("def one(x):\n    return x + 1", space)  # without a file, so it is never kept on disk
                one = kernel(space["one"])
                with loops(MANY, [one], 7.0, remaining=7.0, problem="mosp") as ready:
                    assert ready
                    assert len(caplog.records) == turn  # nothing is told before something is compiled
                    assert one(1) == 2
        assert [record.getMessage() for record in caplog.records] == [
            "compiling loops of mosp that no earlier run has left: up to about 7 s "
            "(`carbonopt compile mosp` compiles all beforehand)"
        ]

    def test_too_little_time_to_compile_is_told_once_and_said(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(kernel_module, "_told", set())
        monkeypatch.setattr(Kernel, "is_ready", False)
        with caplog.at_level(logging.WARNING, "carbonopt"):
            for _ in range(2):
                with loops(MANY, [total], 7.0, remaining=6.9, problem="mosp") as ready:
                    assert not ready
                    with loops(MANY, [total], 5.0, remaining=6.9) as inner:  # these take less
                        assert inner
        assert [record.getMessage() for record in caplog.records] == [
            "loops are not compiled, and to compile them takes about 7 s, more than the 6.9 s that are left: "
            "`carbonopt compile mosp` does it beforehand"
        ]

    def test_a_tiny_case_imports_no_numba(self) -> None:
        names = ("elastic-tiny_window_fluid_2p975_2p975-j0002-t002-A-s00", "mlcluster-tiny_gpuqueue-j0002-t003-A-s00")
        files = [str(ROOT / "instances/tiny" / f"{name}.json") for name in names]
        solve = (
            "import sys, carbonopt as co\n"
            f"for path in {files}:\n"
            "    assert co.solve(co.read(path), 'price').has_solution\n"
            "assert 'numba' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-c", solve], check=True)

    def test_a_function_without_a_file(self) -> None:
        space: dict[str, Any] = {}
        exec("def doubled(x):\n    return 2 * x", space)
        doubled = kernel(space["doubled"])
        assert not doubled.is_ready
        assert doubled(4) == 8
        assert doubled.is_ready


class TestArrays:
    """What a kernel may do whose references to arrays are not counted."""

    def test_a_kernel_that_makes_an_array_is_refused_unless_it_is_managed(self) -> None:
        import numba

        space: dict[str, Any] = {"np": np}
        exec("def last(count):\n    return np.arange(count)[-1]", space)
        assert managed_kernel(space["last"]).machine(4) == 3
        with pytest.raises(numba.core.errors.NumbaError, match="Only accept returning of array"):
            kernel(space["last"]).machine(4)

    def test_nor_may_it_return_one(self) -> None:
        def head(values: FloatArray) -> tuple[FloatArray, int]:
            return values[:2], 2

        with pytest.raises(TypeError, match="head returns arrays: make it a managed_kernel"):
            kernel(head)
        values = np.arange(4.0)
        found, count = managed_kernel(head).machine(values)
        del values
        assert (found.tolist(), count) == ([0.0, 1.0], 2)


class TestStamp:
    """What a kernel's machine code is kept by."""

    def stamp(self, folder: Path, source: str, name: str = "at") -> str:
        return content_stamp(getattr(written(folder, source), name))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("FACTOR = 2.0", "\n\n\nFACTOR = 2.0"),
            ("    return FACTOR * x", "    # twice\n    return FACTOR * x"),
            ("Return a part of", "Return some of"),
            ('    """Return the line\'s value."""\n', ""),
            ('"""A module of kernels."""', '"""Lines."""'),
        ],
        ids=["lines", "comment", "docstring", "no docstring", "module"],
    )
    def test_words_change_nothing(self, tmp_path: Path, old: str, new: str) -> None:
        assert old in SOURCE
        assert self.stamp(tmp_path, SOURCE.replace(old, new)) == self.stamp(tmp_path, SOURCE)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("FACTOR = 2.0", "FACTOR = 3.0"),
            ("FACTOR * x", "FACTOR * x + 1"),
            (" + line.height", " - line.height"),
            ("@kernel\ndef scaled", "@managed_kernel\ndef scaled"),
        ],
        ids=["constant", "callee", "own", "management"],
    )
    def test_content_does(self, tmp_path: Path, old: str, new: str) -> None:
        assert self.stamp(tmp_path, SOURCE.replace(old, new)) != self.stamp(tmp_path, SOURCE)

    def test_so_does_the_order_of_fields(self, tmp_path: Path) -> None:
        swapped = SOURCE.replace("    slope: float\n    height: float\n", "    height: float\n    slope: float\n")
        assert self.stamp(tmp_path, swapped, "made") != self.stamp(tmp_path, SOURCE, "made")


class TestCache:
    def test_a_file_that_is_touched_or_commented_recompiles_nothing(self, tmp_path: Path, cache: Path) -> None:
        module = written(tmp_path, SOURCE)
        assert module.at(module.Line(1.0, 0.5), 2.0) == 4.5
        before = kept(cache)
        assert before
        os.utime(tmp_path / "made_kernels.py", (0, 0))
        again = written(tmp_path, SOURCE.replace("FACTOR = 2.0", "# words\nFACTOR = 2.0"))
        assert again.at.is_ready
        assert again.at(again.Line(1.0, 0.5), 2.0) == 4.5
        assert kept(cache) == before

    def test_a_change_replaces_what_was_kept(self, tmp_path: Path, cache: Path) -> None:
        module = written(tmp_path, SOURCE)
        module.at(module.Line(1.0, 0.5), 2.0)
        before = kept(cache)
        changed = written(tmp_path, SOURCE.replace("FACTOR = 2.0", "FACTOR = 3.0"))
        assert not changed.at.is_ready
        assert changed.at(changed.Line(1.0, 0.5), 2.0) == 6.5
        assert len(kept(cache)) == len(before)
        assert not kept(cache) & before

    def test_named_tuples_of_other_fields_are_other_types(self, tmp_path: Path, cache: Path) -> None:
        module = written(tmp_path, SOURCE)
        assert module.at(module.Line(1.0, 0.5), 2.0) == 4.5
        swapped = SOURCE.replace("    slope: float\n    height: float\n", "    height: float\n    slope: float\n")
        again = written(tmp_path, swapped)
        assert again.at(again.Line(height=0.5, slope=1.0), 2.0) == 4.5
        assert kept(cache)

    def test_broken_files_are_no_error(self, tmp_path: Path, cache: Path) -> None:
        module = written(tmp_path, SOURCE)
        module.at(module.Line(1.0, 0.5), 2.0)
        for path in cache.rglob("*.nb?"):
            path.write_bytes(b"broken")
        again = written(tmp_path, SOURCE)
        assert again.at(again.Line(1.0, 0.5), 2.0) == 4.5

    def test_a_cache_that_cannot_be_written_is_no_error(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = written(tmp_path, SOURCE)
        monkeypatch.setattr(module.at.machine._cache._cache_file, "_save_index", _refuse)
        assert module.at(module.Line(1.0, 0.5), 2.0) == 4.5
        assert not kept(cache)


def _refuse(*_: Any) -> None:
    raise PermissionError
