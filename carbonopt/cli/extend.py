"""`carbonopt extend`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import one_line
from carbonopt.core.files import file_name
from carbonopt.core.options import Options
from carbonopt.core.registry import problem_of

WORDS = {
    True: "needed: the instance is proven infeasible",
    False: "not needed: parts of slots would complete every job (see method price)",
    None: "not known to be needed: the time ran out",
}


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, extend)


def extend(
    files: console.Files,
    step_slots: Annotated[int, typer.Option("--step-slots", min=1, help="Slots added to a slack at a time.")] = 1,
    time_limit: console.TimeLimit = 60.0,
    output: console.Output = None,
    json_output: console.Json = False,
) -> None:
    """Extend the deadlines of jobs that the paper's greedy leaves unfinished, and say which and by how much.

    Writes another instance (elastic only); it also says whether an extension was needed at all.
    """
    import carbonopt as co

    def work(path: Path) -> int:
        instance = co.read(path)
        found = problem_of(instance.problem).role("extend")(instance, Options(time_limit=time_limit), step_slots)
        target = console.output_for(output, files, path, "extended.json", console.JSON) or Path(
            f"{file_name(instance.name)}-extended.json"
        )
        if not found.job:
            target = path
        else:
            found.instance.write(target)
        extensions = [{"job": name, "extra_slots": n} for name, n in zip(found.job, found.extra_slots, strict=True)]
        if json_output:
            facts = {"needed": found.needed, "rounds": found.rounds, "extensions": extensions}
            console.print_json({"file": str(target), "instance": found.instance.name, **facts})
            return 0
        if not found.job:
            print(f"{path}: nothing to extend, every job completes")
            return 0
        print(f"{target}: {len(extensions)} extended; {WORDS[found.needed]}")
        for entry in extensions[: console.SHOWN]:
            print(f"  {one_line(entry['job'])}: {entry['extra_slots']} slots")
        if len(extensions) > console.SHOWN:
            console.say(f"and {len(extensions) - console.SHOWN} more (--json lists all)")
        return 0

    console.each_file(files, work)
