"""Programs that keep a solver busy."""

import numpy as np

from carbonopt.milp.program import Program


def hard_knapsack(rows: int = 30, columns: int = 120) -> Program:
    """Return a multidimensional knapsack that HiGHS does not close within seconds."""
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 1000, (rows, columns)).astype(float)
    program = Program("knapsack", sense="max")
    cost = weight.mean(axis=0) + rng.uniform(0, 100, columns)
    x = program.add_variables("x", columns, upper=1, cost=cost, integer=True)
    row = program.add_rows("weight", rows, upper=0.5 * weight.sum(axis=1))
    program.add_entries(np.repeat(row.index, columns), np.tile(x.index, rows), weight.reshape(-1))
    return program
