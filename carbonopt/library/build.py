"""Make instances by their recipes, and check that they are what the recipes say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from carbonopt.core.errors import Fault, InputError
from carbonopt.core.instance import Instance
from carbonopt.core.registry import problem_of
from carbonopt.generate import generate
from carbonopt.library.recipes import Generated, Public, PublicFile

Download = Callable[[PublicFile], Path]
"""Returns the path of a public file whose hash is right."""


def build(recipe: Generated) -> Instance:
    """Return a generated instance.

    Raises
    ------
    InputError
        If it is not the one of the recipe.
    """
    return require_known(_named(generate(recipe.problem, **recipe.parameters), recipe), recipe)


def build_public(recipe: Public, download: Download) -> Instance:
    """Return an instance made of public files.

    Raises
    ------
    InputError
        If it is not the one of the recipe.
    """
    return require_known(converted(recipe, download), recipe)


def converted(recipe: Public, download: Download) -> Instance:
    """Return what the problem's role `convert` makes of the files, under the recipe's name."""
    with TemporaryDirectory() as folder:
        paths = {
            name: _placed(download(part), part, Path(folder) / str(number))
            for number, (name, part) in enumerate(recipe.files.items())
        }
        parameters = {key: _with_paths(value, paths) for key, value in recipe.parameters.items()}
        made: Instance = problem_of(recipe.problem).role("convert")(**parameters)
    return _named(made, recipe)


def _named(instance: Instance, recipe: Generated | Public) -> Instance:
    """Return the instance under the name of the recipe."""
    renamed: Any = replace  # instances are dataclasses, their base is not
    named: Instance = renamed(instance, name=recipe.name)
    return named


def require_known(instance: Instance, recipe: Generated | Public) -> Instance:
    """Return the instance, refused if its hash is not that of the recipe."""
    if instance.sha256 != recipe.sha256:
        words = f"must be {recipe.sha256}, as the recipe says: other versions of carbonopt or numpy may make another"
        raise InputError(Fault("sha256", words, instance.sha256, file=recipe.name))
    return instance


def _placed(path: Path, part: PublicFile, target: Path) -> Path:
    """Return a plain file under its own name, or the folder of a ZIP file, unpacked, below `target`."""
    placed = target / Path(part.member or part.url).name
    if not part.member:
        target.mkdir()
        placed.write_bytes(path.read_bytes())
        return placed
    placed.mkdir(parents=True)
    with ZipFile(path) as archive:
        for name in archive.namelist():
            if Path(name).parent == Path(part.member):
                (placed / Path(name).name).write_bytes(archive.read(name))
    return placed


def _with_paths(value: Any, paths: Mapping[str, Path]) -> Any:
    """Return a parameter with the paths of files in the place of their names in braces."""
    if isinstance(value, list):
        return [_with_paths(part, paths) for part in value]
    if isinstance(value, str) and value[:1] == "{" and value[-1:] == "}":
        return paths[value[1:-1]]
    return value
