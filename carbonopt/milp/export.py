"""Programs as LP and MPS files."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import highspy
import numpy as np

from carbonopt.core.files import replace_file
from carbonopt.milp.first import new_highs
from carbonopt.milp.highs import pass_program
from carbonopt.milp.program import Program
from carbonopt.milp.scaling import Scaling

END_OF_FILE = {".lp": b"end", ".mps": b"ENDATA"}
"""The last line of a whole file."""


def export(program: Program, path: str | os.PathLike[str]) -> None:
    """Write a program as LP or MPS (told by the suffix), with the names of blocks and members."""
    highs = new_highs()
    highs.setOptionValue("output_flag", False)
    pass_program(highs, program, program.arrays(), Scaling(1.0, np.ones(program.rows)))
    for block in program.variables.values():
        for position, label in enumerate(program.names.labels(block), start=block.start):
            highs.passColName(position, label)
    for block in program.constraints.values():
        for position, label in enumerate(program.names.labels(block), start=block.start):
            highs.passRowName(position, label)
    replace_file(path, lambda part: _write(highs, part))


def _write(highs: Any, path: Path) -> None:
    """Let HiGHS write a file, and look whether it is whole: HiGHS does not tell of a full disk."""
    status = highs.writeModel(os.fspath(path))
    last = END_OF_FILE[path.suffix]
    if status == highspy.HighsStatus.kError or path.read_bytes()[-len(last) - 2 :].strip() != last:
        raise OSError(errno.ENOSPC, "HiGHS could not write all of the program: is the disk full?")
