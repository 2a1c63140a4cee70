"""`carbonopt lesson start` and `check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console, tables

Number = Annotated[int, typer.Argument(metavar="LESSON", help="Number of the lesson.")]


def register(app: typer.Typer) -> None:
    """Add the group to `app`."""
    group = typer.Typer(no_args_is_help=True, help="Exercises of the course: begin a lesson, and have answers checked.")
    console.command(group, start)
    console.command(group, check)
    app.add_typer(group, name="lesson")


def start(
    number: Number,
    folder: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.")] = Path(),
    json_output: console.Json = False,
) -> None:
    """Write the instance of a lesson, and an answer file to fill in. Files that exist are kept."""
    from carbonopt.core.jsonfile import write_json
    from carbonopt.lessons.catalogue import lesson_of

    lesson = lesson_of(number)
    instance, answers = (folder / f"{kind}{number}.json" for kind in ("lesson", "answer"))
    for path in (instance, answers):
        if path.exists():
            console.say(f"warning: {path}: exists, and is kept")
        elif path is instance:
            lesson.instance().write(path)
        else:
            write_json(path, lesson.blank())
    if json_output:
        console.print_json({"lesson": number, "instance": str(instance), "answers": str(answers)})
        return
    rows = [[exercise.field, exercise.question] for exercise in lesson.exercises]
    tables.print_table(f"lesson {number}: {lesson.title}", ["answer", "question"], rows)
    print(f"{instance} holds the instance. Write your answers to {answers}, then:")
    print(f"carbonopt lesson check {number} {answers}")


def check(
    number: Number,
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="Answer file.", show_default=False)],
    json_output: console.Json = False,
) -> None:
    """Grade answers: exit 0 if all are accepted, 1 if not."""
    from carbonopt.core.errors import InputError
    from carbonopt.core.jsonfile import read_json
    from carbonopt.lessons.catalogue import lesson_of

    lesson = lesson_of(number)
    given = read_json(answers)
    try:
        verdicts = lesson.verdicts(given)
    except InputError as error:
        raise error.in_file(answers) from None
    passed = not any(verdicts.values())
    if json_output:
        console.print_json({"lesson": number, "passed": passed, "answers": verdicts})
    else:
        rows = [[field, reason or "accepted"] for field, reason in verdicts.items()]
        tables.print_table(f"lesson {number}: {lesson.title}", ["answer", "verdict"], rows)
    raise typer.Exit(0 if passed else 1)
