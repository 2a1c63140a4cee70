"""`carbonopt fetch-signal`: a signal from its source, into a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carbonopt.cli import console


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    console.command(app, fetch_signal, "fetch-signal")


def fetch_signal(
    source: Annotated[str, typer.Argument(help="electricity-maps, watttime or neso.")],
    zone: Annotated[str, typer.Argument(help="As the source calls it: DE; CAISO_NORTH; GB, or part of a postcode.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File; it is the cache, and stays where the source is down.")
    ],
    what: Annotated[str, typer.Option("--what", help="forecast, or history of a day.")] = "forecast",
    max_age_minutes: Annotated[
        float, typer.Option("--max-age-minutes", min=0.0, help="A younger file is not fetched again.")
    ] = 15.0,
    url: Annotated[str | None, typer.Option("--url", help="Of a mirror, instead of the source's own.")] = None,
    json_output: console.Json = False,
) -> None:
    """Fetch a carbon signal; the key comes from the environment, and is never printed."""
    from carbonopt.live.fetch import fetch_signal as fetch

    done = fetch(source, zone, output, what, max_age_minutes=max_age_minutes, url=url)
    if done.problem:
        console.say(f"warning: {done.problem}: {done.path} is as it was")
    if json_output:
        console.print_json({"file": str(done.path), "came_from": done.came_from, "problem": done.problem})
    else:
        console.say(f"{done.path}: from the {done.came_from}")
