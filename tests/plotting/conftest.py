"""A solved instance that is drawn."""

from __future__ import annotations

import pytest
from conftest import ROOT

import carbonopt as co


@pytest.fixture(scope="session")
def tiny_mosp() -> tuple[co.Instance, co.Solution]:
    """Return three jobs on two clusters, with the prices that prove their optimum."""
    instance = co.read(ROOT / "instances/tiny/mosp-tiny_crowd-j0003-t002-z2-s00.json")
    return instance, co.solve(instance, "lp-rounding")
