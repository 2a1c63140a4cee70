"""Mathematical optimization of carbon-aware computing: exact programs, proven gaps, honest baselines."""

# ruff: noqa: E402
from carbonopt.core.interrupt import begin_or_end_command

begin_or_end_command()

from carbonopt.check import check
from carbonopt.compare import compare
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import CarbonoptError, InputError, PolicyError, TooLargeError, UnsupportedError
from carbonopt.core.instance import Instance
from carbonopt.core.report import Diagnosis, Finding, Report, Violation
from carbonopt.core.solution import Solution
from carbonopt.core.status import Status
from carbonopt.core.time import TimeGrid
from carbonopt.evaluate import evaluate
from carbonopt.generate import generate
from carbonopt.io.read import read, read_solution
from carbonopt.planning.plan import plan, read_plan
from carbonopt.planning.replan import replan
from carbonopt.planning.result import Plan
from carbonopt.planning.site import Site, Terms
from carbonopt.simulate import simulate
from carbonopt.solve import diagnose, formulate, solve

__version__ = "0.1.0"

__all__ = [
    "CarbonSignal",
    "CarbonoptError",
    "Diagnosis",
    "Finding",
    "InputError",
    "Instance",
    "Plan",
    "PolicyError",
    "Report",
    "Site",
    "Solution",
    "Status",
    "Terms",
    "TimeGrid",
    "TooLargeError",
    "UnsupportedError",
    "Violation",
    "check",
    "compare",
    "diagnose",
    "evaluate",
    "formulate",
    "generate",
    "plan",
    "read",
    "read_plan",
    "read_solution",
    "replan",
    "simulate",
    "solve",
]
