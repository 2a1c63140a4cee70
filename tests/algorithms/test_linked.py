"""Kernels that call kernels."""

from __future__ import annotations

from carbonopt.algorithms.linked import linked
from carbonopt.problems.elastic.plans.pricing import price_job, run_labels
from carbonopt.problems.elastic.plans.search import search


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


def test_cache_follows_the_files_of_what_is_called() -> None:
    assert quarter._stamp() == ""  # all in one file, which numba looks at itself
    assert search._stamp() != ""
