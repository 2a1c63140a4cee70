"""The rows of limits on carbon, cost and wait (epsilon-constraints), each divided by its limit."""

from __future__ import annotations

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.milp.block import Block
from carbonopt.milp.program import Program
from carbonopt.problems.purchasing.data.instance import ROUNDING_HOURS, PurchasingInstance

LEAST_SHARE = 1.01e-6
"""Of the largest coefficient, what the others are at least: a solver's tolerances know no finer ones."""
Part = tuple[Block, dict[str, FloatArray]]
"""A block, and what each of its columns adds to each limited sum."""


def floored(values: FloatArray, largest: float) -> FloatArray:
    """Return coefficients of columns that are at least 0, in costs or rows ``<=``, cleared of those next to nothing.

    They are rounded down, to 0 or to the least share of the largest below it: the program stays a relaxation.
    """
    step = LEAST_SHARE * largest
    small = np.abs(values) < step
    return np.where(small, np.where(values < 0, -step, 0.0), values)


def limit_values(instance: PurchasingInstance) -> dict[str, float]:
    """Return the right-hand side of each limit that there is: of carbon, cost of use and wait in all."""
    limits = instance.limits
    found = {}
    if limits.carbon_kg is not None:
        found["carbon_kg"] = limits.carbon_kg
    if limits.cost_usd is not None:
        found["cost_usd"] = limits.cost_usd - instance.prepaid_usd(instance.reserved_cpus or 0)
    if limits.mean_wait_hours is not None:
        found["mean_wait_hours"] = limits.mean_wait_hours * len(instance.jobs)
    return found


def limit_scales(instance: PurchasingInstance) -> dict[str, float]:
    """Return what each row of limits is divided by: a solver's tolerance is then relative to the limit."""
    least = {"mean_wait_hours": ROUNDING_HOURS * len(instance.jobs)}  # less is no wait
    return {
        name: abs(value) if abs(value) > least.get(name, 0.0) else 1.0 for name, value in limit_values(instance).items()
    }


def add_limits(
    program: Program, instance: PurchasingInstance, parts: list[tuple[Block, dict[str, FloatArray]]]
) -> None:
    """Add the rows of the limits; `parts` tells what the columns of blocks add to each."""
    values = limit_values(instance)
    scales = limit_scales(instance)
    if not values:
        return
    rows = program.add_rows("limit", len(values), upper=[values[name] / scales[name] for name in values])
    for block, sums in parts:
        add_to_limits(program, instance, block, sums)
    if "cost_usd" not in values:
        return
    row = rows.start + list(values).index("cost_usd")
    scale = scales["cost_usd"]
    if "overflow" in program.variables:
        price = instance.prices.on_demand_usd_per_cpu_hour
        program.add_entries(row, program.block("overflow").index, price / scale)
    if "reserved" in program.variables:
        program.add_entries(row, program.block("reserved").index, instance.prepaid_usd(1) / scale)


def add_to_limits(
    program: Program,
    instance: PurchasingInstance,
    block: Block,
    sums: dict[str, FloatArray],
    among: IntArray | None = None,
) -> None:
    """Add to the rows of the limits what the columns of a block add to each; `among` picks entries of `sums`."""
    scales = limit_scales(instance)
    for number, (name, scale) in enumerate(scales.items()):
        amount = sums[name] if among is None else sums[name][among]
        largest = max(float(np.abs(sums[name]).max(initial=0.0)), scale * LEAST_SHARE)
        program.add_entries(program.block("limit").start + number, block.index, floored(amount, largest) / scale)
