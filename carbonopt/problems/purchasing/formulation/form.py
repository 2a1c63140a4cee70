"""The program of an instance, whichever its model."""

from __future__ import annotations

from carbonopt.problems.purchasing.data.instance import PurchasingInstance
from carbonopt.problems.purchasing.formulation.piece_program import PieceProgram, build_pieces
from carbonopt.problems.purchasing.formulation.program import RunProgram, build

Form = RunProgram | PieceProgram
"""A program, with what its columns stand for."""


def form_of(instance: PurchasingInstance, integer: bool) -> Form:
    """Return the program of an instance, or its LP relaxation.

    Raises
    ------
    TooLargeError
        If it would not fit into memory; nothing is allocated then.
    """
    if instance.model == "suspend-resume":
        return build_pieces(instance, integer)
    return build(instance, integer)
