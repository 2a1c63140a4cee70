"""Method `milp` of mlcluster: the best schedule that changes GPUs at the edges of cells alone, with HiGHS.

Its optimum bounds no schedule that changes GPUs at other moments. The bound of the answer is that of `price`, which
holds for all schedules and carries its certificate; what HiGHS proves of the grid is in ``info``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from carbonopt.core.errors import Fault, TooLargeError
from carbonopt.core.options import Options
from carbonopt.core.parameters import Parameters, number
from carbonopt.core.solution import Outcome
from carbonopt.core.status import Status
from carbonopt.milp import highs
from carbonopt.problems.mlcluster.data.instance import MlClusterInstance
from carbonopt.problems.mlcluster.formulation.grid import build_grid, estimate_grid
from carbonopt.problems.mlcluster.methods.price.incumbent import Incumbent
from carbonopt.problems.mlcluster.methods.price.method import price


@dataclass(frozen=True)
class MilpParameters(Parameters):
    """Parameters of method `milp`.

    Parameters
    ----------
    cells
        Parts of each slot, at the edges of which jobs may change their GPUs. More of them allow better schedules, and
        make the program larger.
    most_columns
        Columns up to which the program is solved; a larger one is refused.
    price_share
        Share of the time limit for the bound and the first schedule of `price`; HiGHS has the rest.
    """

    cells: int = number(1, least=1)
    most_columns: int = number(50_000, least=1)
    price_share: float = number(0.3, above=0, below=1)


def milp(instance: MlClusterInstance, options: Options) -> Outcome:
    """Solve the time-indexed program with HiGHS, beside the bound from prices that holds for every schedule.

    Raises
    ------
    TooLargeError
        If the program has too many columns: `MilpParameters.most_columns`, or what fits into memory.
    """
    params = options.parameters(MilpParameters)
    columns, nonzeros = estimate_grid(instance, params.cells)
    if columns > params.most_columns:
        text = (
            f"the time-indexed program of {instance.name} would have {columns:.3g} columns and {nonzeros:.3g}"
            f" nonzeros; milp takes at most {params.most_columns:.3g} columns (parameter most_columns): price has no"
            " such limit"
        )
        raise TooLargeError(Fault("", text))
    form = build_grid(instance, params.cells)
    priced = price(instance, replace(options.part(params.price_share), params=None))
    if priced.status is Status.INFEASIBLE or not len(instance.jobs) or options.remaining <= 0:
        return priced
    silent = replace(options, callback=None)  # bounds of the grid are none of other schedules
    result = highs.solve(form.program, silent)
    incumbent = Incumbent(instance, options)
    incumbent.offer(priced.schedule)
    if result.values is not None:
        incumbent.offer(form.schedule(result.values, instance))
    grid = {"cells": params.cells, "grid_status": str(result.status)}
    told = {key: value for key, value in result.info.items() if key != "root_bound"}  # it is none of other schedules
    for name, value in (("grid_optimum", result.objective), ("grid_bound", result.bound)):
        grid[name] = None if value is None else value + form.constant
    status = Status.FEASIBLE if incumbent.schedule is not None else Status.UNKNOWN
    if result.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        status = result.status
    return Outcome(status, incumbent.schedule, priced.bound, priced.certificate, {**priced.info, **told, **grid})
