"""The same mosp program, stated with carbonopt, Pyomo, linopy and CVXPY; measured by `mosp_build.py`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from mosp_data import Arrays, Data, Tool, placements, usage

import carbonopt

# carbonopt


def carbonopt_model(data: Data) -> Any:
    return carbonopt.formulate(data.instance)


def carbonopt_arrays(model: Any) -> Arrays:
    a = model.arrays()
    return Arrays(a.cost, a.lower, a.upper, a.integer, a.row_lower, a.row_upper, a.starts, a.rows, a.values)


# Pyomo


def pyomo_model(data: Data) -> Any:
    import pyomo.environ as pyo
    from pyomo.core.expr.numeric_expr import LinearExpression

    columns = placements(data)
    _, column, row = usage(data, columns)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(columns.job)), domain=pyo.Binary)
    x = list(m.x.values())

    ends = np.searchsorted(columns.job, np.arange(1, len(data.arrival) + 1)).tolist()
    firsts = [0, *ends[:-1]]

    @m.Constraint(range(len(ends)))
    def placed(_: Any, i: int) -> Any:
        own = x[firsts[i] : ends[i]]
        return LinearExpression(linear_coefs=[1.0] * len(own), linear_vars=own) == 1

    order = np.argsort(row, kind="stable")
    users, needs = column[order].tolist(), data.demand[columns.job[column[order]]].tolist()
    capacity = data.capacity.ravel().tolist()
    bounds = np.searchsorted(row[order], np.arange(len(capacity) + 1)).tolist()

    @m.Constraint(range(len(capacity)))
    def within_capacity(_: Any, k: int) -> Any:
        here = slice(bounds[k], bounds[k + 1])
        if here.start == here.stop:
            return pyo.Constraint.Skip
        return LinearExpression(linear_coefs=needs[here], linear_vars=[x[c] for c in users[here]]) <= capacity[k]

    m.objective = pyo.Objective(expr=LinearExpression(linear_coefs=columns.cost.tolist(), linear_vars=x))
    return m


def pyomo_arrays(model: Any) -> Arrays:
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    bounds = np.array([x.bounds for x in form.columns], dtype=np.float64)
    integer = np.array([x.is_integer() for x in form.columns])
    kind, rhs = np.array([row.bound_type for row in form.rows]), np.array(form.rhs)  # -1: >=, 0: ==, 1: <=
    return Arrays(
        form.c.toarray()[0],
        bounds[:, 0],
        bounds[:, 1],
        integer,
        np.where(kind <= 0, rhs, -np.inf),
        np.where(kind >= 0, rhs, np.inf),
        form.A.indptr,
        form.A.indices,
        form.A.data,
    )


# linopy


def linopy_model(data: Data) -> Any:
    import linopy
    import pandas as pd
    import xarray as xr

    linopy.options["semantics"] = "v1"  # what sparse models are built under
    columns = placements(data)
    _, column, row = usage(data, columns)
    m = linopy.Model(sparse=True)
    index = pd.RangeIndex(len(columns.job), name="column")
    x = m.add_variables(binary=True, coords=[index], name="x")
    m.add_constraints(x.groupby(pd.Series(columns.job, index, name="job")).sum() == 1, name="placed")

    entry = pd.RangeIndex(len(column), name="entry")
    user = xr.DataArray(column, {"entry": entry}, "entry")
    need = xr.DataArray(data.demand[columns.job[column]], {"entry": entry}, "entry")
    used = (x.isel(column=user) * need).drop_vars("column").groupby(pd.Series(row, entry, name="row")).sum()
    rows = used.indexes["row"]
    capacity = xr.DataArray(data.capacity.ravel()[rows], {"row": rows}, "row")
    m.add_constraints(used <= capacity, name="within_capacity")

    m.add_objective((x * xr.DataArray(columns.cost, {"column": index}, "column")).sum())
    return m


def linopy_arrays(model: Any) -> Arrays:
    m = model.matrices
    return Arrays(
        m.c,
        m.lb,
        m.ub,
        m.vtypes != "C",
        np.where(m.sense != "<", m.b, -np.inf),
        np.where(m.sense != ">", m.b, np.inf),
        m.A.indptr,
        m.A.indices,
        m.A.data,
        by_rows=True,
    )


def linopy_load(model: Any) -> Any:
    with _silent():
        return model.to_highspy()


# CVXPY


def cvxpy_model(data: Data) -> Any:
    import cvxpy as cp
    from scipy.sparse import csc_array

    columns = placements(data)
    starts, column, row = usage(data, columns)
    n = len(columns.job)
    place = csc_array((np.ones(n), columns.job, np.arange(n + 1)), shape=(len(data.arrival), n))
    demand = data.demand[columns.job[column]]
    use = csc_array((demand, row, starts), shape=(data.capacity.size, n))
    x = cp.Variable(n, boolean=True)
    return cp.Problem(cp.Minimize(columns.cost @ x), [place @ x == 1, use @ x <= data.capacity.ravel()])


def cvxpy_arrays(model: Any) -> Arrays:
    import cvxpy as cp
    import cvxpy.settings as s

    data, _, _ = model.get_problem_data(cp.HIGHS, canon_backend=cp.SCIPY_CANON_BACKEND)
    cost, matrix, sides = data[s.C], data[s.A].tocsc(), data[s.B]
    integer = np.zeros(len(cost), dtype=np.bool_)
    integer[data[s.BOOL_IDX]] = True
    row_lower = np.where(np.arange(len(sides)) < data[s.DIMS].zero, sides, -np.inf)
    lower = np.zeros(len(cost))  # every column is boolean
    upper = np.ones(len(cost))
    return Arrays(cost, lower, upper, integer, row_lower, sides, matrix.indptr, matrix.indices, matrix.data)


# HiGHS


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Send what HiGHS itself writes to stdout nowhere: a new object announces its version."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


TOOLS: dict[str, Tool] = {
    "carbonopt": Tool(carbonopt_model, carbonopt_arrays, package="carbonopt"),
    "pyomo": Tool(pyomo_model, pyomo_arrays, package="pyomo", slow=True),
    "linopy": Tool(linopy_model, linopy_arrays, linopy_load, package="linopy"),
    "cvxpy": Tool(cvxpy_model, cvxpy_arrays, package="cvxpy"),
}
