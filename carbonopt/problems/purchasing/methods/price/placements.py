"""Places of the largest jobs, found together and before any schedule: partial placements, compared by their bounds.

A job of half of the reserved CPUs leaves little room beside it. The relaxation splits it over several starts, so its
prices do not tell where two such jobs are best together. Best responses do not find it either: once small jobs have
settled around a large one, all of its other places are full. So the largest jobs get their places first, one after the
other. Of a few partial placements each tries the starts that cost least at its own prices. With the job there,
the prices climb on from where they are. The placements of least bound go on to the next job: a beam search.

A job that has its place has one choice. The dual of all others, at its best prices, tells what the placement costs at
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
from carbonopt.problems.purchasing.methods.price.placement_parameters import PlacementParameters
from carbonopt.problems.purchasing.methods.price.places import Places

FIRST_CLIMB = 2
"""Times the iterations of a start that prices climb before any job has a place: cells are not those of the bound."""
MOST_HOURS = 8.0
"""Hours of a run that count for how large a job is, at most: a longer one is not harder to place."""
LEAST_UNKNOWN = 0.05
"""CPUs of a job over R, and as many hours, at least whose place is unknown, for it to get one."""
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
        Of the dual function of all others, at `point`.
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
) -> tuple[Dual, list[Placement]]:
    """Return the best placements of large jobs, that of least bound first, and the dual that they are of.

    None where no job is large, where places of the largest do not raise the bound, or where time is out before.

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
    beam = _Beam(proof, remaining, options, parameters)
    found = beam.run() if len(beam.large) else []
    dual, _ = on_cells(proof, parameters.last_cell_hours)
    last = [beam.climbed_on(dual, one) for one in found]
    return dual, sorted(last, key=_value)


def _value(placement: Placement) -> float:
    return placement.value


class _Beam:
    """The search; see `placements_of`."""

    def __init__(
        self, proof: Proof, remaining: Callable[[], float], options: Options, parameters: PlacementParameters
    ) -> None:
        self.remaining, self.options, self.parameters = remaining, options, parameters
        self.dual, self.point = on_cells(proof, parameters.cell_hours)
        self.large = self._large()
        jobs = self.dual.jobs
        self.size = jobs.shared * np.minimum(jobs.length, MOST_HOURS)
        self.kept_back = 0.0

    def _large(self) -> IntArray:
        """Return the jobs that are large enough to get a place."""
        dual, parameters = self.dual, self.parameters
        if dual.capped or dual.decided or len(dual.limited.index) or not parameters.placements:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(dual.jobs.shared > parameters.least_share * dual.most)

    def run(self) -> list[Placement]:
        """Return the best placements."""
        parameters = self.parameters
        root = Placement(Places.none(self.dual.jobs.arrival), -np.inf, self.point, self.point)
        root = self._climbed(root, self.dual, parameters.temperatures, FIRST_CLIMB * parameters.more_iterations)
        kept = [root]
        left = self.remaining()
        self.kept_back = parameters.last_share * left if left < np.inf else 0.0
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
            if kept[0].value - before >= parameters.least_rise * abs(before):
                known, idle = kept, 0
            else:
                idle += 1
            if idle >= parameters.idle_jobs:
                break
        if not known or known[0].value - root.value < parameters.least_total_rise * abs(root.value):
            return []
        return known[: parameters.placements]

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
        """Return the best placements with one more job; none if time is out before all are compared.

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
                break  # prices only climb from here
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
        chosen: list[int] = []
        for c in sorted(np.flatnonzero((value <= before) & (value <= after)).tolist(), key=lambda c: float(value[c])):
            if all(abs(start[c] - start[d]) > parameters.apart_hours for d in chosen):
                chosen.append(c)
        least = min(float(value.min()), other)
        found: list[tuple[float, float | None]] = [(other - least, None)]
        for c in chosen[: parameters.starts]:
            begin = placement.places.room(job, float(start[c]), parameters.apart_hours, self.dual.jobs, self.dual.most)
            if begin is not None:
                found.append((float(value[c]) - least, begin))
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
    longer = Dual(dual.instance, grid, dual.held_multiplier, dual.sizes.divisors)
    return longer, np.concatenate([prices, proof.point[cells:]])
