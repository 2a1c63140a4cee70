"""The cheapest whole plan of one job at given slot prices, exactly.

A plan gives a job a level (number of units) in each slot of its window. At the price mu of work it
splits: every choice has a penalty, what it loses against the choice that is best at mu, and

    cost = z(mu) + penalties + mu (work done - work required),      z(mu) = min cost - mu (done - required)

z(mu) is the value of the LP where mu is its break price. The excess over z(mu) is found by labels
(work done, penalty), class by class of choices: a label with more work left over and no higher
penalty + mu x slack dominates. For a regular profile (one server a unit, gains not rising, energies not
falling) some optimum takes at each unit u the n_u cheapest slots with room, so the classes are the
units and the choices the counts n_u; for any other profile they are the slots and their levels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from carbonopt.core.arrays import FloatArray, IntArray
from carbonopt.problems.elastic.data.instance import ElasticInstance


class Table(NamedTuple):
    """Jobs and profiles as arrays: N jobs, P profiles of up to U units.

    Attributes
    ----------
    intensity
        CI_t [g/kWh], shape (T,).
    first, width, offset
        Window of each job, and where its slots start in a flat array of levels, shape (N,).
    work
        Required work, shape (N,).
    profile
        Of each job, shape (N,).
    units, regular
        Of each profile: number of units; 0 where classes are slots, 1 where they are units, 2 where
        besides all units take the same energy. Shape (P,).
    gain, kwh
        Work and energy [kWh] that each unit adds in a slot, shape (P, U).
    servers, reach, energy
        Servers, work and energy [kWh] of each level 0..U, shape (P, U + 1).
    """

    intensity: FloatArray
    first: IntArray
    width: IntArray
    offset: IntArray
    work: FloatArray
    profile: IntArray
    units: IntArray
    regular: IntArray
    gain: FloatArray
    kwh: FloatArray
    servers: IntArray
    reach: FloatArray
    energy: FloatArray


class Scratch(NamedTuple):
    """Work space of the pricing of one job.

    `value` and `place` hold, for each unit, costs in increasing order and their slots (of an irregular
    profile: `value` for each level its cost in each slot); the others hold choices (class, work,
    penalty, what it means) and labels (slack, penalty, place in the pool of steps).
    """

    value: FloatArray
    place: IntArray
    size: IntArray
    base: IntArray
    room: IntArray
    choice_first: IntArray
    choice_class: IntArray
    choice_tag: IntArray
    choice_gain: FloatArray
    choice_penalty: FloatArray
    ratio_up: FloatArray
    ratio_down: FloatArray
    slack: FloatArray
    penalty: FloatArray
    label: IntArray
    parent: IntArray
    step: IntArray


def table_of(instance: ElasticInstance) -> Table:
    """Return the table of an instance."""
    jobs, units = instance.jobs, instance.units
    width = jobs.window_end - jobs.arrival
    zero = np.zeros((len(units.count), 1))
    servers, reach, energy = (
        np.concatenate([zero, np.cumsum(part, axis=1)], axis=1) for part in (units.servers, units.gain, units.kwh)
    )
    regular = np.array([_form(instance, number) for number in range(len(units.count))], dtype=np.int64)
    return Table(
        np.array(instance.intensity),
        np.array(jobs.arrival),
        width,
        np.cumsum(width) - width,
        np.array(jobs.required),
        np.array(instance.profile_of_job),
        np.array(units.count),
        regular,
        np.array(units.gain),
        np.array(units.kwh),
        servers.astype(np.int64),
        reach,
        energy,
    )


def _form(instance: ElasticInstance, number: int) -> int:
    count = int(instance.units.count[number])
    units = instance.units
    gain = units.gain[number, :count]
    kwh = units.kwh[number, :count]
    if units.servers[number, 0] != 1 or (np.diff(gain) > 0).any() or (np.diff(kwh) < 0).any():
        return 0
    return 2 if (kwh == kwh[0]).all() else 1


def scratch_of(table: Table, labels: int = 4096, label_steps: int = 1 << 17) -> Scratch:
    """Return work space that fits every job of the table.

    Parameters
    ----------
    table
        The jobs.
    labels, label_steps
        See `ColumnParameters`: what is dropped for lack of space weakens the job's bound.
    """
    slots = int(table.width.max(initial=1))
    levels = table.gain.shape[1] + 1
    classes = max(slots, levels)
    choices = slots * levels + 1

    def whole(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    return Scratch(
        value=np.zeros((levels, slots)),
        place=whole(levels, slots),
        size=whole(classes),
        base=whole(classes),
        room=whole(classes),
        choice_first=whole(classes + 1),
        choice_class=whole(choices),
        choice_tag=whole(choices),
        choice_gain=np.zeros(choices),
        choice_penalty=np.zeros(choices),
        ratio_up=np.zeros(classes + 1),
        ratio_down=np.zeros(classes + 1),
        slack=np.zeros((3, labels)),
        penalty=np.zeros((3, labels)),
        label=whole(3, labels),
        parent=whole(label_steps),
        step=whole(label_steps),
    )
