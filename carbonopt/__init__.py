"""Mathematical optimization of carbon-aware computing: exact programs, proven gaps, honest baselines."""

# ruff: noqa: E402
from importlib import import_module
from typing import TYPE_CHECKING

from carbonopt.core import clock as _clock  # noqa: F401  it notes when the command began
from carbonopt.core.interrupt import begin_or_end_command
from carbonopt.core.memory import require_addresses
from carbonopt.core.threads import take_one_thread

begin_or_end_command()
require_addresses()
take_one_thread()

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
from carbonopt.excess import excess_table
from carbonopt.generate import generate
from carbonopt.io.read import read, read_solution
from carbonopt.pareto import Front, pareto
from carbonopt.planning.plan import plan, read_plan
from carbonopt.planning.replan import replan
from carbonopt.planning.result import Plan
from carbonopt.planning.site import Site, Terms
from carbonopt.regret.signals import cross_regret
from carbonopt.regret.table import regret
from carbonopt.simulate import simulate
from carbonopt.solve import diagnose, formulate, solve
from carbonopt.solve_program import ProgramSolution, solve_program

if TYPE_CHECKING:
    from carbonopt.problems.ecas.data.instance import EcasInstance
    from carbonopt.problems.elastic.data.instance import ElasticInstance
    from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
    from carbonopt.problems.mosp.data.instance import MospInstance
    from carbonopt.problems.purchasing.data.instance import PurchasingInstance

__version__ = "0.1.0"

__all__ = [
    "CarbonSignal",
    "CarbonoptError",
    "Diagnosis",
    "EcasInstance",
    "ElasticInstance",
    "Finding",
    "Front",
    "InputError",
    "Instance",
    "MlClusterInstance",
    "MospInstance",
    "Plan",
    "PolicyError",
    "ProgramSolution",
    "PurchasingInstance",
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
    "cross_regret",
    "diagnose",
    "evaluate",
    "excess_table",
    "formulate",
    "generate",
    "pareto",
    "plan",
    "read",
    "read_plan",
    "read_solution",
    "regret",
    "replan",
    "simulate",
    "solve",
    "solve_program",
]


def __getattr__(name: str) -> type[Instance]:
    """Return the class of a problem's instances, whose module is imported when it is first asked for."""
    problem = name.removesuffix("Instance").lower()
    if name not in __all__ or not name.endswith("Instance"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: type[Instance] = getattr(import_module(f"carbonopt.problems.{problem}.data.instance"), name)
    return found
