"""GREEN's ML cluster: how many GPUs each training job has at each moment."""

from carbonopt.core.registry import Method, PolicyEntry, Problem

_PACKAGE = "carbonopt.problems.mlcluster"

_POLICIES = {
    "green": "GREEN: energy efficiency above, carbon footprint below",
    "green-no-shifting": "GREEN with mu = 1",
    "green-gpu-hours": "GREEN that ranks by GPU time in the place of the footprint",
    "green-gpu-hours-no-shifting": "both",
    "tiresias": "least attained service first, on the most GPUs with DEGRADATION of at least 0.9",
    "tiresias-2": "the same with two queues",
    "carbon-time": "GAIA's Carbon-Time within 12 h, then in order",
    "ecovisor": "runs in the cleanest 10 % of the coming day, and after 24 h anyway",
    "fixed-1": "1 GPU as soon as there is room",
    "fixed-2": "2 GPUs as soon as there is room",
    "fcfs": "strictly in the order of arrival, on 1 GPU",
}

PROBLEM = Problem(
    name="mlcluster",
    title="GPUs of training jobs on a fixed-capacity ML cluster (GREEN)",
    methods={
        "price": Method(
            f"{_PACKAGE}.methods.price.method:price",
            "prices of GPU time: a certified bound, and schedules that follow them",
        ),
        "lp": Method(
            f"{_PACKAGE}.methods.milp:lp",
            "the whole LP with HiGHS: the same bound, and the same schedules",
            bound_only=True,
        ),
        "green": Method(f"{_PACKAGE}.methods.milp:green", "GREEN, online"),
        "green-no-shifting": Method(
            f"{_PACKAGE}.methods.milp:green_no_shifting", "GREEN without shifting (mu = 1), online"
        ),
        "tiresias": Method(f"{_PACKAGE}.methods.milp:tiresias", "Tiresias, least attained service first, online"),
        "tiresias-2": Method(f"{_PACKAGE}.methods.milp:tiresias_2", "Tiresias with two queues, online"),
        "carbon-time": Method(
            f"{_PACKAGE}.methods.milp:carbon_time", "GAIA's Carbon-Time within 12 h, then in order, online"
        ),
        "ecovisor": Method(f"{_PACKAGE}.methods.milp:ecovisor", "Ecovisor's gate at the 10th percentile, online"),
        "fixed-1": Method(f"{_PACKAGE}.methods.milp:fixed_1", "every job on 1 GPU as soon as there is room, online"),
        "fixed-2": Method(f"{_PACKAGE}.methods.milp:fixed_2", "every job on 2 GPUs as soon as there is room, online"),
        "fcfs": Method(f"{_PACKAGE}.methods.milp:fcfs", "strictly in the order of arrival on 1 GPU, online: the baseline"),
    },
    functions={
        "read": f"{_PACKAGE}.data.file:from_dict",
        "schema": f"{_PACKAGE}.data.file:MlClusterFile",
        "choose": f"{_PACKAGE}.methods.milp:choose",
        "check": f"{_PACKAGE}.verify.check:check",
        "proven_bound": f"{_PACKAGE}.verify.certificate:proven_bound",
        "formulate": f"{_PACKAGE}.methods.milp:formulate",
        "limited": f"{_PACKAGE}.methods.limited:limited",
        "quantities": f"{_PACKAGE}.methods.limited:quantities",
        "at_equal": f"{_PACKAGE}.methods.limited:at_equal",
        "simulate": f"{_PACKAGE}.online.run:simulate",
        "diagnose": f"{_PACKAGE}.methods.diagnose:diagnose",
        "inspect": f"{_PACKAGE}.methods.diagnose:inspect",
        "generate": f"{_PACKAGE}.data.generate:generate",
        "convert": f"{_PACKAGE}.data.convert:convert",
        "plot": "carbonopt.plotting.mlcluster_load:plot_mlcluster_load",
    },
    compared=("price", "green", "green-no-shifting", "tiresias", "tiresias-2", "carbon-time", "ecovisor", "fixed-1"),
    shown={"added_carbon_kg": "added kg", "carbon_kg": "carbon kg", "mean_jct_hours": "mean JCT h", "churn": "churn"},
    quick="fcfs",
    policies={name: PolicyEntry(summary) for name, summary in _POLICIES.items()},
    baseline="tiresias",
)
