"""Shared fixtures: the shipped instances, small random instances, and data that may be absent."""

from __future__ import annotations

import importlib.util
import os
import signal
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers with two threads each wait for one another in busy loops

import carbonopt as co
from carbonopt.problems.mosp.data.file import from_dict

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs start with Ctrl-C ignored

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("CARBONOPT_DATA", ROOT.parent / "shared" / "data"))
GOLDEN = DATA.parent / "golden"
"""What the authors of GAIA printed, and their simulator: beside the data, where it is at hand."""
TINY = {path.stem.split("-")[1].removeprefix("tiny_"): path for path in (ROOT / "instances/tiny").glob("*.json")}


def load_module(path: Path) -> ModuleType:
    """Import a file that is not part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny() -> dict[str, co.Instance]:
    """Return the hand-written instances by short name."""
    return {name: co.read(path) for name, path in TINY.items()}


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real traces, or skip."""
    if not DATA.is_dir():
        pytest.skip(f"no real data in {DATA} (set CARBONOPT_DATA)")
    return DATA


@pytest.fixture(scope="session")
def random_raw() -> Any:
    """Return a maker of tiny random instances in the file format: (seed, kind) -> dict."""
    return load_module(ROOT / "tests/reference/brute_force.py").random_instance


@pytest.fixture(scope="session")
def random_instance(random_raw: Any) -> Any:
    """Return a maker of tiny random instances: (seed, kind) -> MospInstance."""
    return lambda seed, kind: from_dict(random_raw(seed, kind))


@pytest.fixture(scope="session")
def brute_force() -> Any:
    """Return the exhaustive solver of tiny instances."""
    return load_module(ROOT / "tests/reference/brute_force.py").brute_force


@pytest.fixture(scope="session")
def small_bench() -> co.Instance:
    """Return a generated instance that solves in a second or two."""
    return co.generate("mosp", preset="bench", jobs=30, clusters=3, slots=24, seed=3)
