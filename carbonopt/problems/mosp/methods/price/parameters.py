"""What a user may set of method `price`."""

from __future__ import annotations

from dataclasses import dataclass, field

from carbonopt.core.parameters import Parameters
from carbonopt.problems.mosp.methods.price.beam.parameters import BeamParameters
from carbonopt.problems.mosp.methods.price.bound_parameters import (
    BlockParameters,
    BoundParameters,
    CliqueParameters,
    CutParameters,
    DiveParameters,
    NeighbourhoodParameters,
    RejectionBranchParameters,
    WindowParameters,
)
from carbonopt.problems.mosp.methods.price.search_parameters import PlaceParameters, SearchParameters, StartParameters


@dataclass(frozen=True)
class PriceParameters(Parameters):
    """Of method `price`: bound, first schedule, search, cuts and beams.

    Parameters
    ----------
    bound
        The ascent of the dual function.
    rejections
        Branches on how many jobs are rejected.
    places
        Lists of places by reduced cost.
    start
        The first schedule.
    search
        The annealing.
    cuts
        HiGHS's cuts, and its tree for small instances.
    cliques
        Starts of which at most one is in a schedule, where few jobs count.
    blocks
        Blocks of slots in which jobs are whole.
    windows
        Branches on where and when large jobs start, where few jobs count.
    dives
        Schedules by linear programs, the largest job first, where few jobs count.
    neighbourhoods
        Schedules by dives that place some jobs of a schedule again, where few jobs count.
    beam
        The dynamic program over slots.
    """

    bound: BoundParameters = field(default_factory=BoundParameters)
    rejections: RejectionBranchParameters = field(default_factory=RejectionBranchParameters)
    places: PlaceParameters = field(default_factory=PlaceParameters)
    start: StartParameters = field(default_factory=StartParameters)
    search: SearchParameters = field(default_factory=SearchParameters)
    cuts: CutParameters = field(default_factory=CutParameters)
    cliques: CliqueParameters = field(default_factory=CliqueParameters)
    blocks: BlockParameters = field(default_factory=BlockParameters)
    windows: WindowParameters = field(default_factory=WindowParameters)
    dives: DiveParameters = field(default_factory=DiveParameters)
    neighbourhoods: NeighbourhoodParameters = field(default_factory=NeighbourhoodParameters)
    beam: BeamParameters = field(default_factory=BeamParameters)
