"""Places of the largest jobs, found together and before any schedule: partial placements, compared by their bounds.

A job of half of the reserved CPUs leaves little room beside it. The relaxation splits it over several starts, so its
prices do not tell where two such jobs are best together. Best responses do not find it either: once small jobs have
settled around a large one, all of its other places are full. So the largest jobs get their places first, one after the
other. Of a few partial placements each tries the starts that cost least at its own prices. With the job there,
the prices climb on from where they are. The placements of least bound go on to the next job: a beam search.

A job that has its place has one choice. The dual of all jobs, at its best prices, tells what a placement costs at
least, and these prices know where the large jobs are.

References
----------
Ow, Morton (1988), "Filtered beam search in scheduling", International Journal of Production Research 26, 35-62.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from carbonopt.algorithms.prices import Ascent
from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.core.options import Options
from carbonopt.problems.purchasing.methods.price.bound import Proof
from carbonopt.problems.purchasing.methods.price.dual import Dual
from carbonopt.problems.purchasing.methods.price.grid import Grid
from carbonopt.problems.purchasing.methods.price.guides import Guide
from carbonopt.problems.purchasing.methods.price.placement_parameters import PlacementParameters
from carbonopt.problems.purchasing.methods.price.places import Places

FIRST_CLIMB = 2
"""Times `more_iterations` that prices climb before any job has a place: cells are not those of the bound."""
MOST_HOURS = 8.0
"""Hours of a run that count for how large a job is, at most: a longer one is not harder to place."""
LEAST_UNKNOWN = 0.05
"""CPU-hours of a job whose place is unknown, at least, for it to get one; relative to an hour of all reserved CPUs."""
LEAST_JOBS = 2
"""Jobs for which there must be time; places of fewer are of little use."""
UNKNOWN_TEMPERATURE = 1e-3
"""At which parts of a job are looked for, over its cost on demand: at less, half a job may seem to be whole."""


@dataclass(frozen=True, eq=False)
class Placement:
    """A placement of some jobs.

    Parameters
    ----------
    places
        The jobs and their places.
    value
        Of the dual function of all jobs, these in their places, at `point`.
    point
        Flat arguments of the best value so far.
    latest
        Where the soft function was last climbed to.
    """

    places: Places
    value: float
    point: FloatArray
    latest: FloatArray


def placements_of(
    proof: Proof, remaining: Callable[[], float], options: Options, parameters: PlacementParameters
) -> list[Guide]:
    """Return what rounds begin with beside the best placements of large jobs, that of least bound first.

    The list is empty where no job is large, where places of the largest do not raise the bound, or where time is out
    before.

    Parameters
    ----------
    proof
        The bound; its prices are where the search begins.
    remaining
        Time or work that is left for it.
    options
        Count the work.
    parameters
        Of the search.
    """
    dual = proof.dual
    possible = not (dual.capped or dual.decided or len(dual.limited.index))
    large = np.flatnonzero(dual.jobs.shared > parameters.least_share * dual.most)
    if not possible or not parameters.placements or not len(large):
        return []
    beam = _Beam(proof, large, remaining, options, parameters)
    found = beam.run()
    if not found:
        return []
    grid = Grid.near(dual.instance, parameters.last_cell_hours, beam.dual.grid.per_slot)
    finer = Dual(dual.instance, grid, dual.held_multiplier, dual.sizes.units)
    last = sorted((beam.climbed_on(finer, one) for one in found), key=_value)
    return [Guide.beside(one.places, finer, one.point) for one in last]


def _value(placement: Placement) -> float:
    return placement.value


class _Beam:
    """The search; see `placements_of`."""

    def __init__(
        self,
        proof: Proof,
        large: IntArray,
        remaining: Callable[[], float],
        options: Options,
        parameters: PlacementParameters,
    ) -> None:
        self.remaining, self.options, self.parameters = remaining, options, parameters
        self.dual, self.point = on_cells(proof, parameters.cell_hours)
        self.large = large
        jobs = self.dual.jobs
        self.size = jobs.shared * np.minimum(jobs.length, MOST_HOURS)
        self.kept_back = 0.0

    def run(self) -> list[Placement]:
        """Return the best placements."""
        parameters = self.parameters
        root = Placement(Places.none(self.dual.jobs.arrival), -np.inf, self.point, self.point)
        if not self._has_time(root):
            return []
        root = self._climbed(root, self.dual, parameters.temperatures, FIRST_CLIMB * parameters.more_iterations)
        kept = [root]
        known: list[Placement] = []
        idle = 0
        for _ in range(parameters.jobs):
            before = kept[0].value
            job = self._least_sure(kept[0])
            if job is None:
                break
            longer = self._with_job(kept, job)
            if not longer:
                break
            kept = longer
            if kept[0].value - before > parameters.least_rise * abs(before):
                known, idle = kept, 0
            else:
                idle += 1
            if idle >= parameters.idle_jobs:
                break
        if not known or known[0].value - root.value <= parameters.least_total_rise * abs(root.value):
            return []
        return known[: parameters.placements]

    def _has_time(self, root: Placement) -> bool:
        """Return whether time allows for some jobs, by what the first evaluation takes; keep back some for the last."""
        parameters = self.parameters
        left = self.remaining()
        if left == np.inf:
            return True
        self.kept_back = parameters.last_share * left
        self._climbed(root, self.dual, (), 1)
        each = (left - self.remaining()) / 2  # two evaluations
        climb = len(parameters.temperatures) * parameters.more_iterations
        of_job = (parameters.starts + 1) * parameters.iterations
        first = of_job + 2 * parameters.width * climb
        later = parameters.width * (of_job + 2 * climb)
        count = FIRST_CLIMB * climb + first + (LEAST_JOBS - 1) * later
        return each * count <= left - self.kept_back

    def _least_sure(self, placement: Placement) -> int | None:
        """Return the job whose place the prices of a placement know least, by its size; None if they know all."""
        rest = self.large[~placement.places.placed[self.large]]
        if not len(rest):
            return None
        unknown = np.array([self._unknown(placement, job) for job in rest.tolist()]) * self.size[rest]
        best = int(unknown.argmax())
        return int(rest[best]) if unknown[best] > LEAST_UNKNOWN * self.dual.most else None

    def _unknown(self, placement: Placement, job: int) -> float:
        """Return the part of a job that the soft dual does not put near its best start, or off the pool."""
        start, value, other = self.dual.costs_of(job, placement.latest)
        jobs = self.dual.jobs
        heat = UNKNOWN_TEMPERATURE * self.dual.unit * jobs.shared[job] * jobs.length[job]
        least = min(float(value.min()), other)
        mass = np.exp(-np.minimum((value - least) / heat, 50.0))
        off = float(np.exp(-min((other - least) / heat, 50.0)))
        near = np.abs(start - start[int(value.argmin())]) <= self.parameters.apart_hours
        return 1.0 - max(off, float(mass[near].sum())) / (off + float(mass.sum()))

    def _with_job(self, placements: list[Placement], job: int) -> list[Placement]:
        """Return the best placements with one more job; an empty list if time is out before all are compared.

        As soon as there are enough, each goes on with its best place alone: else all would be alike soon.
        """
        width = self.parameters.width
        most = width if len(placements) < width else 1
        found: list[Placement] = []
        for placement in placements:
            found += self._best_with(placement, job, most)
            if self._late():
                return []
        return sorted(found, key=_value)[:width]

    def _best_with(self, placement: Placement, job: int, most: int) -> list[Placement]:
        """Return the best of a placement with one more job, so many at most."""
        parameters = self.parameters
        tried: list[Placement] = []
        for cost, start in self._starts(placement, job):
            if len(tried) == 2 * most and placement.value + cost >= tried[-1].value:
                break  # at the prices known: climbing from there only adds to it
            one = replace(placement, places=placement.places.with_job(job, start))
            tried.append(self._climbed(one, self.dual, parameters.temperatures[:1], parameters.iterations))
            tried = sorted(tried, key=_value)[: 2 * most]
            if self._late():
                return []
        best = [self._climbed(one, self.dual, parameters.temperatures, parameters.more_iterations) for one in tried]
        return sorted(best, key=_value)[:most]

    def _late(self) -> bool:
        """Return whether only the time is left that finer cells take."""
        return self.remaining() <= self.kept_back

    def _starts(self, placement: Placement, job: int) -> list[tuple[float, float | None]]:
        """Return starts of a job that may be best, None for off the pool, each with its cost beyond the least."""
        parameters = self.parameters
        start, value, other = self.dual.costs_of(job, placement.point)
        before = np.concatenate([[np.inf], value[:-1]])
        after = np.concatenate([value[1:], [np.inf]])
        least = min(float(value.min()), other)
        found: list[tuple[float, float | None]] = [(other - least, None)]
        chosen: list[float] = []
        apart = parameters.apart_hours
        for c in sorted(np.flatnonzero((value <= before) & (value <= after)).tolist(), key=lambda c: float(value[c])):
            begin = placement.places.room(job, float(start[c]), apart, self.dual.jobs, self.dual.most)
            if begin is None or any(abs(begin - other_start) <= apart for other_start in chosen):
                continue
            chosen.append(begin)
            found.append((float(np.interp(begin, start, value)) - least, begin))  # between breakpoints it is linear
            if len(chosen) == parameters.starts:
                break
        return sorted(found, key=lambda entry: entry[0])

    def climbed_on(self, dual: Dual, placement: Placement) -> Placement:
        """Return a placement at better prices on finer cells."""
        cells = self.dual.grid.cells
        point, latest = (
            np.concatenate([dual.grid.spread(x[:cells]), x[cells:]]) for x in (placement.point, placement.latest)
        )
        finer = Placement(placement.places, placement.value, point, latest)
        return self._climbed(finer, dual, self.parameters.last_temperatures, self.parameters.last_iterations)

    def _climbed(self, placement: Placement, dual: Dual, temperatures: tuple[float, ...], iterations: int) -> Placement:
        """Return a placement at better prices: a dual climbs from the best of those known."""
        dual = dual.with_places(placement.places)
        spend = partial(self.options.spend, dual.steps)
        ascent = Ascent(dual.hard, dual.soft, placement.latest, 0.0, dual.upper, 1.0, self.remaining, spend)
        ascent.look(placement.point)
        ascent.smooth(temperatures, iterations)
        return Placement(placement.places, ascent.value, ascent.prices, ascent.latest)


def on_cells(proof: Proof, hours: float) -> tuple[Dual, FloatArray]:
    """Return the dual of a proof on cells of about so many hours, with its prices as means over these."""
    dual = proof.dual
    grid = Grid.near(dual.instance, hours)
    if dual.grid.cells <= grid.cells or dual.grid.cells % grid.cells:
        return dual, proof.point
    cells = dual.grid.cells
    prices = proof.point[:cells].reshape(grid.cells, -1).mean(axis=1)
    longer = Dual(dual.instance, grid, dual.held_multiplier, dual.sizes.units)
    return longer, np.concatenate([prices, proof.point[cells:]])
