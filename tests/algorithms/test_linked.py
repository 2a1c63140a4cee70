"""Kernels that call kernels."""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from carbonopt.algorithms.linked import linked
from carbonopt.problems.elastic.methods.price.plans.pricing import price_job, run_labels
from carbonopt.problems.elastic.methods.price.plans.search import search


@linked
def half(x: float) -> float:
    return x / 2


@linked
def quarter(x: float) -> float:
    return half(half(x))


def test_runs_compiled_and_interpreted() -> None:
    assert quarter(8.0) == quarter.interpreted(8.0) == 2.0


def test_knows_what_it_calls_and_where_that_is() -> None:
    assert run_labels in price_job.called().values()
    assert {name.rsplit("/")[-1] for name in search.files()} == {"search.py", "pricing.py", "choices.py"}


def test_cache_follows_every_file_of_the_folders_it_depends_on(tmp_path: Path) -> None:
    """Named tuples are typed without the names of their fields: their file may change the meaning of a kernel's."""
    (tmp_path / "kern.py").write_text(
        "from carbonopt.algorithms.linked import linked\n\n\n@linked\ndef first(pair):\n    return pair.a\n"
    )
    (tmp_path / "pair.py").write_text("")
    spec = spec_from_file_location("kern", tmp_path / "kern.py")
    assert spec is not None
    assert spec.loader is not None
    kern = module_from_spec(spec)
    spec.loader.exec_module(kern)
    before = kern.first._stamp()
    assert before == kern.first._stamp() != ""
    os.utime(tmp_path / "pair.py", ns=(1, 1))
    assert kern.first._stamp() != before
