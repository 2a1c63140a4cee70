"""GAIA's purchasing: when each job starts, and on reserved, on-demand or spot CPUs."""

from typing import Any

from carbonopt.core.registry import Method, PolicyEntry, Problem, Warmup

_RULES = {
    "lowest-slot": "at the cleanest moment of the waiting time",
    "lowest-window": "where a run of the expected length emits least",
    "carbon-time": "where most carbon is saved for each hour until the completion",
}
_FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "res-first": ("at once on free reserved CPUs, else {}", {"conserving": True}),
    "spot-first": ("{}, short jobs on spot CPUs", {"spot": True}),
    "spot-res": (
        "short jobs on spot CPUs {}, others at once on free reserved CPUs, else so",
        {"spot": True, "conserving": True},
    ),
}


def _entry(rule: str, summary: str, **settings: Any) -> PolicyEntry:
    return PolicyEntry(".online.rule:PurchaseRule", summary, {"start": rule, **settings})


_POLICIES = {
    "no-wait": _entry("no-wait", "at the arrival"),
    "all-wait-threshold": _entry(
        "all-wait-threshold", "on free reserved CPUs, or when the waiting limit is reached", conserving=True
    ),
    **{rule: _entry(rule, summary) for rule, summary in _RULES.items()},
    "wait-awhile": _entry("wait-awhile", "suspended and resumed: in the cleanest hours until the deadline"),
    "ecovisor": _entry(
        "ecovisor",
        "suspended and resumed: in the cleanest 30 % of the coming day, until the waiting limit is used up",
    ),
    "threshold": _entry(
        "threshold",
        "suspended and resumed by the thresholds of k-min search; each job's proven ratio needs whole slots and known "
        "bounds low and high on the signal",
    ),
    "opr": _entry("opr", "the same with a cost of each start and stop: pauses less often", switch=20.0),
    "unknown-length": _entry(
        "unknown-length", "the same as threshold, by the longest length of the queue: it never asks for a job's own"
    ),
    **{
        f"{form}-{rule}": _entry(rule, words.format(_RULES[rule]), **settings)
        for form, (words, settings) in _FORMS.items()
        for rule in _RULES
    },
    "spot-first-no-wait": _entry("no-wait", "at the arrival, short jobs on spot CPUs", spot=True),
    "spot-first-wait-awhile": _entry("wait-awhile", "as wait-awhile, short jobs on spot CPUs", spot=True),
    "spot-first-ecovisor": _entry("ecovisor", "as ecovisor, short jobs on spot CPUs", spot=True),
}

_FEW_JOBS = {"jobs": 20, "arrival_hours": 24.0, "reserved": 3}
"""What the loops are compiled with: they take longer to compile than to run."""

PROBLEM = Problem(
    name="purchasing",
    package=__name__,
    title="start times and purchase options of cloud jobs (GAIA)",
    methods={
        "price": Method(
            ".methods.price.method:price",
            "slot prices of the reserved CPUs, and a search by best responses to the load",
            parameters=".methods.price.parameters:PriceParameters",
            takes_start=True,
            certificate="partly",
        ),
        "milp": Method(
            ".methods.milp:milp",
            "the whole program with HiGHS",
            parameters=".methods.parameters:MilpParameters",
            exact=True,
            takes_start=True,
            certificate="partly",
        ),
        "lp-rounding": Method(
            ".methods.lp_rounding:lp_rounding",
            "LP relaxation, rounded to what each job does most and by draws, then best responses",
            parameters=".methods.parameters:RoundingParameters",
            takes_start=True,
            certificate="yes",
        ),
        "lp": Method(
            ".methods.milp:lp",
            "LP relaxation with HiGHS: a bound",
            parameters=".methods.parameters:LpParameters",
            bound_only=True,
            certificate="yes",
        ),
        "no-wait": Method(".methods.no_wait:no_wait", "every job at its arrival: the baseline without carbon"),
    },
    roles={
        "read": ".data.file:from_dict",
        "schema": ".data.file:PurchasingFile",
        "choose": ".methods.milp:choose",
        "check": ".verify.check:check",
        "proven_bound": ".verify.certificate:proven_bound",
        "formulate": ".methods.milp:formulate",
        "diagnose": ".methods.diagnose:diagnose",
        "inspect": ".methods.diagnose:inspect",
        "generate": ".data.generate:generate",
        "convert": ".data.convert:convert",
        "limited": ".methods.epsilon_constraints:limited",
        "quantities": ".methods.epsilon_constraints:quantities",
        "at_equal": ".methods.epsilon_constraints:at_equal",
        "commitments": ".methods.epsilon_constraints:commitments",
        "expected": ".methods.epsilon_constraints:expected",
        "simulate": ".online.run:simulate",
        "covering": ".online.covering:covering",
        "applicable": ".online.rule:applicable",
        "plot": "carbonopt.plotting.purchasing_load:plot_purchasing_load",
    },
    compared=("price", "milp", "lp-rounding", "lp", "no-wait"),
    shown={"carbon_kg": "carbon kg", "cost_usd": "cost $", "mean_wait_hours": "mean wait h", "churn": "churn"},
    quick="no-wait",
    policies=_POLICIES,
    baseline="no-wait",
    warmups=(
        Warmup(_FEW_JOBS, mip_rel_gap=1.0),
        Warmup({**_FEW_JOBS, "model": "suspend-resume"}, mip_rel_gap=1.0),
        Warmup({**_FEW_JOBS, "spot_max_length_hours": 2.0}, mip_rel_gap=1.0),
        Warmup({**_FEW_JOBS, "model": "no-split"}, mip_rel_gap=0.0, params={"rounds": {"rounds": 1}}),
    ),
)
