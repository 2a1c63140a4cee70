"""Ensembles: a point forecast and past errors, drawn in blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from carbonopt.core.arrays import FloatArray
from carbonopt.core.carbon import CarbonSignal
from carbonopt.core.errors import Fault, InputError
from carbonopt.core.ranges import require_number
from carbonopt.core.time import format_utc
from carbonopt.forecasts.archive import ForecastArchive
from carbonopt.forecasts.make import actual


def bootstrap(
    archive: ForecastArchive,
    signal: CarbonSignal,
    *,
    past: npt.ArrayLike = (),
    members: int = 20,
    block: int = 24,
    least_errors: int = 10,
    seed: int = 0,
) -> ForecastArchive:
    """Return an archive with as many members: each is the point forecast plus past errors.

    A member's errors of leads ``0 .. block-1`` are those that one past issue had at the same leads, the next
    block's those of another. So an error keeps its size at each lead, and within a block its autocorrelation
    (moving blocks: Künsch, *Annals of Statistics* 17, 1989). An issue learns from those alone whose
    errors at all leads were known when it was issued. Values below 0 become 0.

    Parameters
    ----------
    archive
        Point forecasts; its first issues only lend their errors.
    signal, past
        The truth, as in `make_archive`.
    members
        Number of members M.
    block
        Length of a block in slots; the horizon keeps whole paths of errors.
    least_errors
        Issues with fewer known paths of errors before them are left out.
    seed
        Of the draws.

    Returns
    -------
    ForecastArchive
        Of the issues that have enough past.

    Raises
    ------
    InputError
        If the archive has several members already, issues of unequal length, or no slot 0 with enough past.
    """
    for name, value in (("members", members), ("block", block), ("least_errors", least_errors)):
        require_number(name, value, least=1, whole=True)
    require_number("seed", seed, least=0, whole=True)
    if archive.members > 1 or archive.lengths.min() < archive.horizon:
        raise InputError(Fault("forecast", "must be point forecasts of one length: members are made of them"))
    errors = actual(archive, signal, past) - archive.point
    known_from = archive.issued_at + archive.horizon  # then the last of an issue's targets has ended
    known = np.searchsorted(known_from, archive.issued_at, side="right")
    whole = np.asarray(~np.isnan(errors).any(axis=1))
    random = np.random.default_rng(seed)
    rows = [row for row, end in enumerate(known) if whole[:end].sum() >= least_errors]
    if not rows or archive.issued_at[rows[0]] > 0:
        words = f"must have {least_errors} issues whose targets ended before {format_utc(signal.time.start)}"
        raise InputError(Fault("forecast.issued_at", words))
    values = [
        _members(archive.point[row], errors[: known[row]][whole[: known[row]]], members, block, random) for row in rows
    ]
    made = f"{archive.source}, {members} members"
    return replace(archive, issued_at=archive.issued_at[rows], g_per_kwh=np.array(values), source=made)


def _members(
    point: FloatArray, errors: FloatArray, members: int, block: int, random: np.random.Generator
) -> FloatArray:
    """Return the members of one issue, shape (M, H); `errors` are those of E past issues, shape (E, H)."""
    leads = np.arange(point.size)
    blocks = leads // block
    drawn = random.integers(len(errors), size=(members, int(blocks[-1]) + 1))
    return np.maximum(point + errors[drawn[:, blocks], leads], 0.0)
