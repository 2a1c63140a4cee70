"""`carbonopt instances`: the library of instances, by recipe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli import console, make, tables
from carbonopt.core.errors import UnsupportedError, one_of
from carbonopt.core.registry import problem_names
from carbonopt.core.tablefile import write_table

Names = Annotated[list[str], typer.Argument(metavar="NAMES...", help="Names of instances.")]
Folder = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for the instance files; of a single one, its file.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    group = typer.Typer(
        help="The library of instances: recipes with a hash, and how hard each is.", no_args_is_help=True
    )
    console.command(group, listed, "list")
    console.command(group, show)
    console.command(group, build)
    console.command(group, fetch)
    app.add_typer(group, name="instances")


def listed(
    problem: Annotated[str | None, typer.Option("--problem", help="Only of this problem.")] = None,
    difficulty: Annotated[
        str | None,
        typer.Option("--difficulty", help="Only of this class: toy, easy, medium, hard, open or infeasible."),
    ] = None,
    most_jobs: Annotated[int | None, typer.Option("--most-jobs", min=1, help="Only up to this number of jobs.")] = None,
    output: tables.TableFile = None,
    json_output: console.Json = False,
) -> None:
    """List the instances that recipes make, by problem, difficulty and size."""
    from carbonopt.library.recipes import DIFFICULTIES, INFEASIBLE, Library

    console.require_target(output, (), console.TABLE)
    for option, value, known in (
        ("problem", problem, problem_names()),
        ("difficulty", difficulty, (*DIFFICULTIES, INFEASIBLE)),
    ):
        if value is not None and value not in known:
            raise UnsupportedError(f"--{option} {value}: must be {one_of(known)}")
    chosen = Library.shipped().chosen(problem, difficulty, most_jobs)
    if output is not None:
        import pandas as pd

        heads = ["instance", "problem", "jobs", "difficulty", "source"]
        write_table(output, pd.DataFrame([_told(recipe) for recipe in chosen], columns=heads))
    if json_output:
        for recipe in chosen:
            console.print_json(_told(recipe))
        return
    rows = [[recipe.name, str(recipe.jobs), recipe.difficulty or "-", recipe.source] for recipe in chosen]
    tables.print_table(f"{len(rows)} instances", ["instance", "jobs", "difficulty", "source"], rows)


def show(names: Names, json_output: console.Json = False) -> None:
    """Show recipes: the files, the command, and the hash of the instance."""
    from carbonopt.library.recipes import Library

    library = Library.shipped()
    told = [_told(library[name]) for name in names]
    for recipe in told:
        if json_output:
            console.print_json(recipe)
            continue
        for key, value in recipe.items():
            for line in value if isinstance(value, list) else [value]:
                print(f"{key:10s}  {line}")


def build(names: Names, output: Folder = Path()) -> None:
    """Make generated instances, and check them by their hashes."""
    from carbonopt.library.build import build as made
    from carbonopt.library.recipes import Generated, Library

    _require_folder(output, names)
    library = Library.shipped()
    recipes = [library[name] for name in names]
    for recipe in recipes:
        if not isinstance(recipe, Generated):
            raise UnsupportedError(f"{recipe.name} is made of public files: use `carbonopt instances fetch`")
    for recipe in recipes:
        assert isinstance(recipe, Generated)
        _write(made(recipe), output)


def fetch(
    names: Names,
    output: Folder = Path(),
    cache: Annotated[Path | None, typer.Option("--cache", help="Folder for the files that are downloaded.")] = None,
) -> None:
    """Download public files, make instances of them, and check both by their hashes."""
    from carbonopt.library.build import build_public
    from carbonopt.library.download import download_into
    from carbonopt.library.recipes import Library, Public

    _require_folder(output, names)
    library = Library.shipped()
    recipes = [library[name] for name in names]
    for recipe in recipes:
        if not isinstance(recipe, Public):
            raise UnsupportedError(f"{recipe.name} is generated: use `carbonopt instances build`")
    download = download_into(cache)
    for recipe in recipes:
        assert isinstance(recipe, Public)
        _write(build_public(recipe, download), output)


def _require_folder(output: Path, names: Sequence[str]) -> None:
    """Refuse to write several instances into one file."""
    if _is_file(output) and len(names) > 1:
        raise UnsupportedError(f"--output {output}: {len(names)} instances need a folder")


def _is_file(output: Path) -> bool:
    """Return whether an output is named as a file of an instance."""
    return output.name.endswith((".json", ".json.gz")) and not output.is_dir()


def _write(instance: Any, output: Path) -> None:
    if not _is_file(output):
        output.mkdir(parents=True, exist_ok=True)
    print(make.write(instance, output))


def _told(recipe: Any) -> dict[str, Any]:
    """Return a recipe as it is shown."""
    from carbonopt.library.recipes import Public, command_of

    told: dict[str, Any] = {
        "instance": recipe.name,
        "problem": recipe.problem,
        "jobs": recipe.jobs,
        "difficulty": recipe.difficulty or "not measured",
        "source": recipe.source,
    }
    paths: dict[str, str] = {}
    if isinstance(recipe, Public):
        told["file"] = [f"{part.url} (sha256 {part.sha256})" for part in recipe.files.values()]
        paths = {name: Path(part.member or part.url).name for name, part in recipe.files.items()}
    return told | {"command": command_of(recipe, paths), "sha256": recipe.sha256}
