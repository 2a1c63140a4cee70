"""GREEN's ML cluster: how many GPUs each training job has at each moment."""

from carbonopt.core.registry import Method, PolicyEntry, Problem, Warmup

_POLICIES = {
    "green": PolicyEntry(".online.green:Green", "GREEN: energy efficiency above, carbon footprint below"),
    "green-no-shifting": PolicyEntry(".online.green:Green", "GREEN with mu = 1", {"mu": 1.0}),
    "green-gpu-hours": PolicyEntry(
        ".online.green:Green",
        "GREEN that ranks by GPU time in the place of the footprint",
        {"footprint": "gpu-hours"},
    ),
    "green-gpu-hours-no-shifting": PolicyEntry(".online.green:Green", "both", {"footprint": "gpu-hours", "mu": 1.0}),
    "tiresias": PolicyEntry(
        ".online.tiresias:Tiresias",
        "least attained service first, on the most GPUs at the best energy efficiency",
    ),
    "tiresias-2": PolicyEntry(".online.tiresias:Tiresias", "the same with two queues", {"threshold_gpu_hours": 1.0}),
    "carbon-time": PolicyEntry(".online.gates:CarbonTime", "GAIA's Carbon-Time within 12 h, then in order"),
    "ecovisor": PolicyEntry(
        ".online.gates:Ecovisor", "runs in the cleanest 10 % of the coming day, and after 24 h anyway"
    ),
    "fixed-1": PolicyEntry(".online.base:FirstCome", "1 GPU as soon as there is room", {"gpus": 1, "backfill": True}),
    "fixed-2": PolicyEntry(".online.base:FirstCome", "2 GPUs as soon as there is room", {"gpus": 2, "backfill": True}),
    "fcfs": PolicyEntry(".online.base:FirstCome", "strictly in the order of arrival, on 1 GPU"),
}

PROBLEM = Problem(
    name="mlcluster",
    package=__name__,
    title="GPUs of training jobs on a fixed-capacity ML cluster (GREEN)",
    methods={
        "price": Method(
            ".methods.price.method:price",
            "prices of GPU time: a certified bound, and schedules that follow them",
            parameters=".methods.price.parameters:PriceParameters",
            takes_start=True,
            certificate="yes",
        ),
        "milp": Method(
            ".methods.grid:milp",
            "the time-indexed program with HiGHS: GPUs change at the edges of cells, beside the bound of price",
            parameters=".methods.grid:MilpParameters",
            takes_start=True,
            certificate="yes",
        ),
        "lp": Method(
            ".methods.milp:lp",
            "the whole LP with HiGHS: the same bound, and the same schedules",
            parameters=".methods.price.parameters:PriceParameters",
            bound_only=True,
            certificate="yes",
        ),
        **{
            name: Method(".methods.simulated:simulated", f"online: {_POLICIES[name].summary}", {"policy": name})
            for name in _POLICIES
            if not name.startswith("green-gpu-hours")
        },
    },
    roles={
        "read": ".data.file:from_dict",
        "schema": ".data.file:MlClusterFile",
        "choose": ".methods.milp:choose",
        "check": ".verify.check:check",
        "proven_bound": ".verify.certificate:proven_bound",
        "formulate": ".methods.milp:formulate",
        "limited": ".methods.limited:limited",
        "quantities": ".methods.limited:quantities",
        "at_equal": ".methods.limited:at_equal",
        "simulate": ".online.run:simulate",
        "covering": ".online.covering:covering",
        "diagnose": ".methods.diagnose:diagnose",
        "inspect": ".methods.diagnose:inspect",
        "generate": ".data.generate:generate",
        "convert": ".data.convert:convert",
        "plot": "carbonopt.plotting.mlcluster_load:plot_mlcluster_load",
    },
    compared=("price", "green", "green-no-shifting", "tiresias", "tiresias-2", "carbon-time", "ecovisor", "fixed-1"),
    shown={
        "added_carbon_kg": "added carbon kg",
        "carbon_kg": "carbon kg",
        "mean_jct_hours": "mean JCT h",
        "churn": "churn",
    },
    quick="fcfs",
    policies=_POLICIES,
    baseline="tiresias",
    warmups=(Warmup({}),),
)
