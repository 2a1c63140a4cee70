"""`carbonopt info`, beside `generate` and `convert`: what instances are and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from carbonopt.cli import console, convert, generate, tables
from carbonopt.core import display
from carbonopt.core.errors import TooLargeError, one_line
from carbonopt.core.registry import problem_of
from carbonopt.core.tablefile import write_table


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    console.command(app, info)
    generate.register(app)
    convert.register(app)


def info(files: console.Files, output: tables.TableFile = None, json_output: console.Json = False) -> None:
    """Show what is in instances: size, load, tightness, size of the program, and jobs that cannot run."""
    import carbonopt as co

    def work(path: Path) -> int:
        instance = co.read(path)
        target = console.output_for(output, files, path, "info.csv", console.TABLE)
        problem = problem_of(instance.problem)
        content: dict[str, Any] = {
            "instance": instance.name,
            "problem": instance.problem,
            "sense": instance.sense,
            "sha256": instance.sha256,
            **instance.features(),
        }
        try:
            content |= problem.role("inspect")(instance) if "inspect" in problem.roles else {}
        except TooLargeError as error:
            content["warnings"] = [str(error)]
        warnings = content.pop("warnings", None)
        if target is not None:
            write_table(target, _frame(content))
        if json_output:
            console.print_json(content if warnings is None else content | {"warnings": warnings})
        else:
            rows = [[key, _shown(value)] for key, value in content.items() if key != "sha256"]
            tables.print_table(str(path), ["feature", "value"], rows)
            print(f"sha256 {instance.sha256}")  # whole at 80 columns, to be copied
            told = warnings or []
            for line in told[: console.SHOWN]:
                console.say(f"warning: {path}: {one_line(line)}")
            if len(told) > console.SHOWN:
                console.say(f"warning: {path}: and {len(told) - console.SHOWN} more (--json lists all)")
        return 0

    console.each_file(files, work)


def _frame(content: dict[str, Any]) -> Any:
    """Return the features as a table: all digits of numbers, and parts of a feature with commas between them."""
    import pandas as pd

    values = [_shown(value) if isinstance(value, (dict, list)) else value for value in content.values()]
    return pd.DataFrame({"feature": list(content), "value": pd.Series(values, dtype=object)})


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_shown(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return display.number(value, 4)
