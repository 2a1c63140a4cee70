"""Recipes: what makes an instance of the library, and the hash by which it is known.

`recipes.json` holds them. `instances/library.py` writes it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

from carbonopt.core.errors import UnsupportedError, shown

INFEASIBLE = "infeasible"
"""In place of a difficulty: it is proven that no schedule exists."""
DIFFICULTIES = ("toy", "easy", "medium", "hard", "open")
"""By the gap that method `price` proves in `WORK`: at most .01 %, .1 %, 1 %, 5 %, and more or none."""
WORK = 10.0
"""Work units of a run that tells the difficulty: see `work_limit` of `carbonopt.solve`."""
MOST_GAPS = (1e-4, 1e-3, 1e-2, 5e-2)


@dataclass(frozen=True)
class Generated:
    """An instance that a generator makes.

    Parameters
    ----------
    name, problem
        Of the instance.
    parameters
        Of `carbonopt.generate`.
    sha256
        Of the instance.
    jobs
        Number of jobs.
    difficulty
        One of `DIFFICULTIES` or `INFEASIBLE`; empty where it was not measured.
    """

    name: str
    problem: str
    parameters: Mapping[str, Any]
    sha256: str
    jobs: int
    difficulty: str = ""

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        return "generated"


@dataclass(frozen=True)
class PublicFile:
    """A file on the network.

    Parameters
    ----------
    url, sha256
        Where it is, and what it must be.
    member
        Folder of a ZIP file that is used, below a name of its own; empty for a plain file.
    """

    url: str
    sha256: str
    member: str = ""


@dataclass(frozen=True)
class Public:
    """An instance made of public files that carbonopt does not ship.

    Parameters
    ----------
    name, problem, sha256, jobs, difficulty
        As of `Generated`.
    source
        Who published the data.
    files
        What to download, by name.
    parameters
        Of the problem's role `convert`; ``{name}`` stands for the path of a file.
    """

    name: str
    problem: str
    sha256: str
    jobs: int
    source: str
    files: Mapping[str, PublicFile]
    parameters: Mapping[str, Any]
    difficulty: str = ""


Recipe = Generated | Public


@dataclass
class Library:
    """Recipes by name, in the order of the file."""

    recipes: dict[str, Recipe] = field(default_factory=dict)

    @classmethod
    def shipped(cls) -> Library:
        """Return the recipes that come with the package."""
        told = json.loads(files("carbonopt.library").joinpath("recipes.json").read_text(encoding="utf-8"))
        recipes: list[Recipe] = [Generated(**recipe) for recipe in told["generated"]]
        recipes += [_public(recipe) for recipe in told["public"]]
        return cls({recipe.name: recipe for recipe in recipes})

    def __getitem__(self, name: str) -> Recipe:
        """Return a recipe by its name.

        Raises
        ------
        UnsupportedError
            If there is none of that name.
        """
        if name not in self.recipes:
            near = get_close_matches(name, self.recipes, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ": `carbonopt instances list` names them"
            raise UnsupportedError(f"no instance {shown(name)} in the library{hint}")
        return self.recipes[name]

    def chosen(self, problem: str | None, difficulty: str | None, most_jobs: int | None) -> list[Recipe]:
        """Return the recipes of a problem, of a difficulty, and of at most so many jobs; None for any."""
        return [
            recipe
            for recipe in self.recipes.values()
            if problem in (None, recipe.problem)
            and difficulty in (None, recipe.difficulty)
            and (most_jobs is None or recipe.jobs <= most_jobs)
        ]


def command_of(recipe: Recipe, paths: Mapping[str, str]) -> str:
    """Return the command that makes an instance; `paths` of its files, by name."""
    verb = "generate" if isinstance(recipe, Generated) else "convert"
    words = ["carbonopt", verb, recipe.problem]
    for key, value in recipe.parameters.items():
        option = "trace" if key == "jobs" and verb == "convert" else key.replace("_", "-")
        for part in value if isinstance(value, list) else [value]:
            if part is not False:
                words.append(f"--{option}")
            if not isinstance(part, bool):
                words.append(str(part).format(**paths))
    return shlex.join(words)


def difficulty_of(gap: float | None) -> str:
    """Return the class of a proven gap.

    Examples
    --------
    >>> difficulty_of(0.0005), difficulty_of(None)
    ('easy', 'open')
    """
    if gap is None:
        return DIFFICULTIES[-1]
    return DIFFICULTIES[sum(gap > most for most in MOST_GAPS)]


def _public(told: dict[str, Any]) -> Public:
    parts = {name: PublicFile(**part) for name, part in told["files"].items()}
    return Public(**{**told, "files": parts})
