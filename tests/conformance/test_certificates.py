"""Which bounds carry a certificate: what the cards say, the methods do and the documentation tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT, TINY

import carbonopt as co
from carbonopt.core.registry import problem_of

INSTANCES = {
    "mosp": ("crowd", "tradeoff"),
    "elastic": ("scaling", "window_fluid_2p975_2p975"),
    "purchasing": ("reservedpulls_3", "nosplit_2"),
    "mlcluster": ("gpuqueue", "gpushift"),
    "ecas": ("onemachine", "switchesoff"),
}
HEADS = ("yes", "partly", "no", "")


@pytest.mark.parametrize("problem", INSTANCES)
def test_methods_prove_what_their_cards_say(problem: str) -> None:
    for name, method in problem_of(problem).methods.items():
        for tiny in INSTANCES[problem]:
            try:
                solution = co.solve(co.read(TINY[tiny]), name, work_limit=0.2)
            except co.UnsupportedError:  # a method that is not for every instance
                continue
            if solution.bound is not None:
                assert method.certificate, name
                assert method.certificate != "no" or solution.certificate is None, name
                assert method.certificate != "yes" or solution.certificate is not None, name


def test_the_table_of_the_documentation_is_that_of_the_cards() -> None:
    text = Path(ROOT / "docs/claims.md").read_text()
    for problem in INSTANCES:
        methods = problem_of(problem).methods.items()
        cells = [", ".join(f"`{name}`" for name, method in methods if method.certificate == head) for head in HEADS]
        assert f"| `{problem}` | {' | '.join(cell or '-' for cell in cells)} |" in text
