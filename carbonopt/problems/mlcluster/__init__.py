"""GREEN's ML cluster: how many GPUs each training job has at each moment."""

from carbonopt.core.registry import Method, PolicyEntry, Problem

_ROOM = "carbonopt.problems.mlcluster"

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
            f"{_ROOM}.prices.method:price", "prices of GPU time: a certified bound, and schedules that follow them"
        ),
        "lp": Method(
            f"{_ROOM}.methods:lp", "the whole LP with HiGHS: the same bound, and the same schedules", bound_only=True
        ),
        "green": Method(f"{_ROOM}.methods:green", "GREEN, online"),
        "green-no-shifting": Method(f"{_ROOM}.methods:green_no_shifting", "GREEN without shifting (mu = 1), online"),
        "tiresias": Method(f"{_ROOM}.methods:tiresias", "Tiresias, least attained service first, online"),
        "tiresias-2": Method(f"{_ROOM}.methods:tiresias_2", "Tiresias with two queues, online"),
        "carbon-time": Method(f"{_ROOM}.methods:carbon_time", "GAIA's Carbon-Time within 12 h, then in order, online"),
        "ecovisor": Method(f"{_ROOM}.methods:ecovisor", "Ecovisor's gate at the 10th percentile, online"),
        "fixed-1": Method(f"{_ROOM}.methods:fixed_1", "every job on 1 GPU as soon as there is room, online"),
        "fixed-2": Method(f"{_ROOM}.methods:fixed_2", "every job on 2 GPUs as soon as there is room, online"),
        "fcfs": Method(f"{_ROOM}.methods:fcfs", "strictly in the order of arrival on 1 GPU, online: the baseline"),
    },
    functions={
        "read": f"{_ROOM}.file:from_dict",
        "schema": f"{_ROOM}.file:MlClusterFile",
        "choose": f"{_ROOM}.methods:choose",
        "check": f"{_ROOM}.check:check",
        "proven_bound": f"{_ROOM}.certificate:proven_bound",
        "formulate": f"{_ROOM}.methods:formulate",
        "limited": f"{_ROOM}.limited:limited",
        "quantities": f"{_ROOM}.limited:quantities",
        "at_equal": f"{_ROOM}.limited:at_equal",
        "simulate": f"{_ROOM}.policies.run:simulate",
        "diagnose": f"{_ROOM}.diagnose:diagnose",
        "inspect": f"{_ROOM}.diagnose:inspect",
        "generate": f"{_ROOM}.generate:generate",
        "convert": f"{_ROOM}.convert:convert",
        "plot": "carbonopt.plotting.mlcluster_load:plot_mlcluster_load",
    },
    compared=("price", "green", "green-no-shifting", "tiresias", "tiresias-2", "carbon-time", "ecovisor", "fixed-1"),
    shown={"added_carbon_kg": "added kg", "carbon_kg": "carbon kg", "mean_jct_hours": "mean JCT h", "churn": "churn"},
    quick="fcfs",
    policies={name: PolicyEntry(summary) for name, summary in _POLICIES.items()},
    baseline="tiresias",
)
