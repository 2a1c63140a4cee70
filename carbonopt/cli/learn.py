"""`carbonopt learn`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console
from carbonopt.core.errors import UnsupportedError
from carbonopt.core.interrupt import INTERRUPTED, is_asked
from carbonopt.core.registry import problem_of


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, learn)


def learn(
    files: console.Files,
    output: Annotated[Path, typer.Option("--output", "-o", help="Knowledge base (.json or .json.gz).")],
    oracle: Annotated[str, typer.Option("--oracle", help="greedy: Algorithm 1; optimum: certified.")] = "greedy",
    window_hours: Annotated[float, typer.Option("--window-hours", help="Hours of a replayed window.")] = 168.0,
    step_hours: Annotated[float, typer.Option("--step-hours", help="Hours from window to window.")] = 24.0,
) -> None:
    """Learn from past instances what an oracle did in which state, for the policy carbonflex (elastic only).

    `carbonopt simulate WEEK -p carbonflex --knowledge FILE` uses it.
    """
    import carbonopt as co
    from carbonopt.core.files import require_writable

    require_writable(output)
    instances = [co.read(path) for path in files]
    for instance in instances:
        if "learn" not in problem_of(instance.problem).roles:
            raise UnsupportedError(f"{instance.name}: no policy of {instance.problem} learns from a past")
    learn_from = problem_of(instances[0].problem).role("learn")
    base = learn_from(())
    try:
        learn_from(instances, base, oracle=oracle, window_hours=window_hours, step_hours=step_hours)
    except KeyboardInterrupt:
        if not len(base):
            raise
    base.write(output)
    print(f"{output}: {len(base)} cases")
    if is_asked():
        console.say("interrupted: these are the cases of the windows until then")
        raise typer.Exit(INTERRUPTED)
