"""Energy-cost aware scheduling (ICON challenge 2014): when machines are on, and where and when each job runs."""

from carbonopt.core.registry import Method, Problem, Warmup

_ALL = ("machines.available", "jobs.machine")
"""Optional constraints."""
_PARAMETERS = ".methods.price.parameters:PriceParameters"

PROBLEM = Problem(
    name="ecas",
    package=__name__,
    title="jobs on machines that are switched on and off, at prices of energy (ICON challenge 2014)",
    roles={
        "read": ".data.file:from_dict",
        "schema": ".data.file:EcasFile",
        "generate": ".data.generate:generate",
        "convert": ".data.convert:convert",
        "read_schedule": ".data.challenge:read_schedule",
        "write_schedule": ".data.challenge:to_text",
        "check": ".verify.check:check",
        "proven_bound": ".verify.certificate:proven_bound",
        "choose": ".methods.milp:choose",
        "formulate": ".formulation.program:formulate",
        "diagnose": ".methods.diagnose:diagnose",
        "inspect": ".methods.diagnose:inspect",
        "stuck": ".methods.diagnose:stuck_jobs",
        "plot": "carbonopt.plotting.ecas_load:plot_ecas_load",
    },
    methods={
        "price": Method(
            ".methods.price.method:price",
            "prices of capacity: a certified bound, and schedules by ruin and recreation",
            parameters=_PARAMETERS,
            takes_start=True,
            respects=_ALL,
            certificate="yes",
        ),
        "milp": Method(
            ".methods.milp:milp",
            "the whole program with HiGHS",
            exact=True,
            respects=_ALL,
            certificate="no",
        ),
        "lp": Method(
            ".methods.rounding:lp",
            "the LP relaxation: a bound and its certificate",
            bound_only=True,
            respects=_ALL,
            certificate="yes",
        ),
        "lp-rounding": Method(
            ".methods.rounding:lp_rounding",
            "jobs go where most of them is in the LP relaxation",
            respects=_ALL,
            certificate="yes",
        ),
        "greedy": Method(
            ".methods.price.method:greedy",
            "largest jobs first, each at its least marginal cost",
            parameters=_PARAMETERS,
            respects=_ALL,
        ),
    },
    compared=("price", "greedy"),
    shown={"energy_cost": "energy cost", "switching_cost": "switching", "carbon_kg": "carbon kg", "starts": "starts"},
    quick="greedy",
    warmups=(
        Warmup(
            {"jobs": 60, "machines": 2, "load": 0.9},  # so full that jobs are forced out of their places
            params={"search": {"moves_per_job": 5}, "repair": {"forced_per_job": 5}},
        ),
    ),
)
