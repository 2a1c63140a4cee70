"""A folder of machine code that is broken, full or read-only costs time, and no result."""

import importlib.util
import sys
from pathlib import Path

import pytest
from numba.core import caching

CODE = """
from carbonopt.algorithms.kernel import kernel

@kernel
def double(x):
    return 2 * x
"""


def _module(folder: Path):
    """Import the kernel anew: nothing of it is in memory."""
    spec = importlib.util.spec_from_file_location("doubling", folder / "doubling.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["doubling"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "doubling.py").write_text(CODE)
    assert _module(tmp_path).double(3.0) == 6.0
    yield tmp_path
    del sys.modules["doubling"]


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80", b"garbage" * 99])
def test_a_broken_file_is_compiled_anew(folder, ending, content):
    kept = list(folder.rglob(f"*{ending}"))
    assert kept
    for path in kept:
        path.write_bytes(content)
    assert _module(folder).double(4.0) == 8.0


def test_a_full_disk_keeps_nothing_and_answers(folder, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert _module(folder).double(5) == 10


def test_where_nothing_can_be_kept_the_answer_is_the_same(tmp_path, monkeypatch):
    """Neither beside the module nor in the home is there a place for a folder: files are in the way, also of root."""
    (tmp_path / "doubling.py").write_text(CODE)
    (tmp_path / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr(caching.config, "CACHE_DIR", "")
    module = _module(tmp_path)
    assert module.double(3.0) == 6.0
    assert not module.double.is_ready or module.double.machine.nopython_signatures
    del sys.modules["doubling"]
    assert {path.name for path in tmp_path.iterdir()} == {"doubling.py", "__pycache__", "home"}
