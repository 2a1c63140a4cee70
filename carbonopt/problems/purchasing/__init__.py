"""GAIA's purchasing: when each job starts, and on reserved, on-demand or spot CPUs."""

from carbonopt.core.registry import Method, PolicyEntry, Problem

_PACKAGE = "carbonopt.problems.purchasing"

_RULES = {
    "lowest-slot": "at the cleanest moment of the waiting time",
    "lowest-window": "where a run of the expected length emits least",
    "carbon-time": "where most carbon is saved for each hour until the completion",
}
_FORMS = {
    "res-first": "at once on free reserved CPUs, else {}",
    "spot-first": "{}, short jobs on spot CPUs",
    "spot-res": "short jobs on spot CPUs {}, others at once on free reserved CPUs, else so",
}
_POLICIES = {
    "no-wait": "at the arrival",
    "all-wait-threshold": "on free reserved CPUs, or when the waiting limit is reached",
    **_RULES,
    "wait-awhile": "suspended and resumed: in the cleanest hours until the deadline",
    "ecovisor": "suspended and resumed: in the cleanest 30 % of the coming day, until the waiting limit is used up",
    **{f"{form}-{rule}": words.format(_RULES[rule]) for form, words in _FORMS.items() for rule in _RULES},
    "spot-first-no-wait": "at the arrival, short jobs on spot CPUs",
    "spot-first-wait-awhile": "as wait-awhile, short jobs on spot CPUs",
    "spot-first-ecovisor": "as ecovisor, short jobs on spot CPUs",
}

PROBLEM = Problem(
    name="purchasing",
    title="start times and purchase options of cloud jobs (GAIA)",
    methods={
        "price": Method(
            f"{_PACKAGE}.methods.price.method:price",
            "slot prices of the reserved CPUs, and a search by best responses to the load",
        ),
        "milp": Method(f"{_PACKAGE}.methods.milp:milp", "the whole program with HiGHS", exact=True),
        "lp": Method(f"{_PACKAGE}.methods.milp:lp", "LP relaxation with HiGHS: a bound", bound_only=True),
        "no-wait": Method(f"{_PACKAGE}.methods.milp:no_wait", "every job at its arrival: the baseline without carbon"),
    },
    functions={
        "read": f"{_PACKAGE}.data.file:from_dict",
        "schema": f"{_PACKAGE}.data.file:PurchasingFile",
        "choose": f"{_PACKAGE}.methods.milp:choose",
        "check": f"{_PACKAGE}.verify.check:check",
        "proven_bound": f"{_PACKAGE}.verify.certificate:proven_bound",
        "formulate": f"{_PACKAGE}.methods.milp:formulate",
        "diagnose": f"{_PACKAGE}.methods.diagnose:diagnose",
        "inspect": f"{_PACKAGE}.methods.diagnose:inspect",
        "generate": f"{_PACKAGE}.data.generate:generate",
        "convert": f"{_PACKAGE}.data.convert:convert",
        "limited": f"{_PACKAGE}.methods.limited:limited",
        "quantities": f"{_PACKAGE}.methods.limited:quantities",
        "at_equal": f"{_PACKAGE}.methods.limited:at_equal",
        "commitments": f"{_PACKAGE}.methods.limited:commitments",
        "expected": f"{_PACKAGE}.methods.limited:expected",
        "simulate": f"{_PACKAGE}.online.run:simulate",
        "applicable": f"{_PACKAGE}.online.names:applicable",
        "plot": "carbonopt.plotting.purchasing_load:plot_purchasing_load",
    },
    compared=("price", "milp", "lp", "no-wait"),
    shown={"carbon_kg": "carbon kg", "cost_usd": "cost $", "mean_wait_hours": "mean wait h", "churn": "churn"},
    quick="no-wait",
    policies={name: PolicyEntry(summary) for name, summary in _POLICIES.items()},
    baseline="no-wait",
)
