"""What every command shares: output, progress, options, and several files at once."""

from __future__ import annotations

import functools
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from carbonopt.cli.names import complete_methods, complete_policies
from carbonopt.cli.tables import print_table
from carbonopt.core import display
from carbonopt.core.errors import CarbonoptError, Fault, InputError, PolicyError, UnsupportedError, one_line
from carbonopt.core.files import is_device, require_writable
from carbonopt.core.interrupt import INTERRUPTED, is_asked
from carbonopt.core.report import Violation
from carbonopt.core.solution import Solution
from carbonopt.core.tablefile import WRITERS

USAGE = 2
JSON = (".json",)
TABLE = tuple(WRITERS)
FIGURE = (".png", ".svg", ".pdf", ".eps", ".jpg", ".jpeg", ".pgf", ".ps", ".tif", ".tiff", ".webp")
"""What names of outputs end in, by what is written."""
SHOWN = 25
"""Lines of one kind that are printed for one file; --json holds all."""


def unlimited(limit: float | None) -> float | None:
    """Return a limit, None where it is infinite: a callback of options."""
    return None if limit == float("inf") else limit


def seconds(context: typer.Context, limit: float | None) -> float | None:
    """Return a time limit, None where it is infinite, or left out beside a work limit: a callback of options."""
    is_left_out = getattr(context.get_parameter_source("time_limit"), "name", "") == "DEFAULT"
    if is_left_out and context.params.get("work_limit") is not None:
        return None
    return unlimited(limit)


Files = Annotated[  # readable=False: typer would end the call over one file that is not
    list[Path], typer.Argument(help="Instance files (.json or .json.gz).", show_default=False, readable=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per file.")]
Method = Annotated[str, typer.Option("--method", "-m", help="Method, or auto.", autocompletion=complete_methods)]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        "-m",
        help="Methods, separated by commas, or one by one: -m a -m b.",
        autocompletion=complete_methods,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        "-t",
        min=0.0,
        help="Wall seconds a method; inf for none.",
        callback=seconds,
    ),
]
WholeTimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        "-t",
        min=0.0,
        help="Wall seconds for an instance, starting and reading included; inf for none.",
        callback=seconds,
    ),
]
WorkLimit = Annotated[
    float | None,
    typer.Option(
        "--work-limit",
        min=0.0,
        help="Work units a method, about a second each: the same answer on a busy machine.",
        callback=unlimited,
    ),
]
RelGap = Annotated[float, typer.Option("--mip-rel-gap", min=0.0, help="Stop at this relative gap.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random.")]
Seeds = Annotated[str, typer.Option("--seeds", "--seed", help="Seeds of what is drawn at random: 1-5, or 1,4,7.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Runs at a time, each in a process.")]
Cluster = Annotated[
    str | None, typer.Option("--cluster", help="dask://HOST:PORT or a scheduler file: make the runs there.")
]
ArrayTask = Annotated[
    str | None, typer.Option("--array-task", help="K/N: make the K-th of N parts, into a file of its own.")
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the solver.")]
Params = Annotated[
    Path | None, typer.Option("--params", help="TOML file with parameters of the method, in place of its defaults.")
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        "-p",
        help="Policies, separated by commas or one by one; a file's own: my_policy.py:MyPolicy; all.",
        show_default="all",
        autocompletion=complete_policies,
    ),
]
Lengths = Annotated[str, typer.Option("--lengths", help="What policies know of run times: mean or true.")]
Past = Annotated[
    Path | None, typer.Option("--past", help="Instance that ended before: its statistics, and what it teaches.")
]
Knowledge = Annotated[
    Path | None, typer.Option("--knowledge", help="File of `carbonopt learn`, for policy carbonflex.")
]
Forecast = Annotated[
    str | None,
    typer.Option(
        "--forecast", help="What policies see of the signal ahead: a file of forecasts, or errors, e.g. error=0.1."
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write; with several inputs, a folder.")]


def forecast(text: str | None) -> Any:
    """Return the forecast that an option names; None for a perfect one."""
    if text is None:
        return None
    from carbonopt.simulation.forecast import parse_forecast

    return parse_forecast(text)


def say(text: str) -> None:
    """Print lines for a person to stderr; what a file put into them is no command to the terminal."""
    print("\n".join(map(one_line, text.split("\n"))), file=sys.stderr, flush=True)


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object on one line; characters that no terminal prints are written out."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text), flush=True)


def require_one_format(csv: bool, json_output: bool) -> None:
    """Refuse two formats for one output."""
    if csv and json_output:
        raise UnsupportedError("--csv and --json both print to stdout: choose one")


def print_written(path: Path, json_output: bool, note: str = "", **facts: Any) -> None:
    """Say which file was written: its name and a note for a person, one JSON object for a program."""
    if json_output:
        print_json({"file": str(path), **facts})
    else:
        print(one_line(f"{path}: {note}" if note else str(path)))


def print_frame(title: str, frame: Any) -> None:
    """Print the first `SHOWN` rows of a DataFrame as a table."""
    print_table(title, *display.frame_cells(frame.head(SHOWN)))
    if len(frame) > SHOWN:
        say(f"and {len(frame) - SHOWN} more (--json and --output hold all)")


def records(frame: Any) -> list[dict[str, Any]]:
    """Return a DataFrame's rows as JSON objects, with null for what is missing."""
    content: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", double_precision=15))
    return content


def filled(heads: Mapping[str, str], solutions: Sequence[Solution]) -> dict[str, str]:
    """Return the metrics, with the heads of their columns, that any of the solutions has."""
    return {key: head for key, head in heads.items() if any(s.metrics.get(key) is not None for s in solutions)}


def command(app: typer.Typer, function: Callable[..., None], name: str | None = None) -> None:
    """Add `function` to `app` as a command, by its own name or another; its errors become lines and an exit code."""

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _say_each_once()
            code = guard(lambda: function(*args, **kwargs))
        if code:
            raise typer.Exit(code)

    app.command(name or function.__name__)(guarded)


def _say_each_once() -> Callable[..., None]:
    """Return what tells warnings on stderr: a text that a solve repeats is told once a command."""
    told: set[str] = set()

    def show(message: Warning | str, *_where: Any, **_more: Any) -> None:
        line = one_line(str(message))
        if line not in told:
            told.add(line)
            say(f"warning: {line}")

    return show


def guard(work: Callable[[], int | None], subject: Path | None = None) -> int:
    """Do `work` on `subject` and return its exit code, with its errors told on stderr."""
    place = "" if subject is None else f"{subject}: "
    try:
        return work() or 0
    except InputError as error:
        for line in (error if subject is None else error.in_file(subject)).lines():
            say(f"error: {line}")
        return USAGE
    except PolicyError as error:
        say(f"error: {place}{one_line(error.summary)}")
        if error.details:
            say(error.details.rstrip())
        return USAGE if error.log is None else 1
    except CarbonoptError as error:
        say(f"error: {place}{one_line(str(error))}")
        return USAGE if isinstance(error, UnsupportedError) else 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        say(f"error: {place if error.filename is None else f'{error.filename}: '}{error.strerror or error}")
        return USAGE
    except MemoryError:
        say(f"error: {place}does not fit into memory")
        return USAGE
    except ImportError as error:
        if is_interruption(error):
            say("interrupted")
            return INTERRUPTED
        say(f"error: {place}a module cannot be loaded; is there too little memory? ({one_line(str(error))})")
        return USAGE
    except (KeyboardInterrupt, Exception) as error:
        if not is_interruption(error):
            raise
        if subject is None or not is_asked():  # else it is told once, at the end
            say("interrupted")
        return INTERRUPTED


def is_interruption(error: BaseException) -> bool:
    """Return whether an error is a Ctrl-C, or what code of others made of one, as imports do."""
    return isinstance(error, (KeyboardInterrupt, typer.Abort)) or is_asked()


def each_file(paths: list[Path], work: Callable[[Path], int]) -> None:
    """Do `work` on each file; a bad one is reported and the others go on. Exits with the worst code."""
    worst = 0
    for path in paths:
        code = guard(functools.partial(work, path), path)
        worst = max(worst, code)
        if code == INTERRUPTED or is_asked():
            worst = INTERRUPTED
            break
    raise typer.Exit(worst)


def stem(path: Path) -> str:
    """Return the name of an input without its endings, from which the names of outputs are made."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def require_new(output: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse an output that is one of the inputs: it would be lost.

    Raises
    ------
    InputError
        It names the output.
    """
    for path in inputs:
        if path is not None and os.path.realpath(path) == os.path.realpath(output) and not is_device(path):
            raise InputError(Fault("", "is an input, and would be lost: choose another output", file=str(output)))


def require_target(output: Path | None, inputs: Iterable[Path | None], endings: Sequence[str]) -> None:
    """Refuse an output that cannot be written, is an input, or is named after what the command does not write.

    Raises
    ------
    InputError
        It names the output.
    """
    if output is None:
        return
    require_writable(output)
    require_new(output, inputs)
    if endings and not is_device(output) and not output.name.removesuffix(".gz").lower().endswith(tuple(endings)):
        raise InputError(Fault("", f"must end in {' or '.join(endings)}: that is what is written", file=str(output)))


def is_table(output: Path) -> bool:
    """Return whether an output is named after a table."""
    return output.name.lower().removesuffix(".gz").endswith(TABLE)


def output_for(output: Path | None, paths: list[Path], path: Path, ending: str, endings: Sequence[str]) -> Path | None:
    """Return where to write what becomes of `path`: `output`, or a file in it if it is a folder.

    Parameters
    ----------
    output, paths, path
        As the user named them: where to write, all inputs, and the input at work.
    ending
        Of the name in a folder.
    endings
        What the names of this command's outputs may end in, with or without ``.gz``.

    Raises
    ------
    InputError
        If nothing can be written there, or not this, or it is an input: told before the work and not after it.
    """
    if output is None:
        return None
    if len(paths) > 1 or output.is_dir():
        if output.exists() and not output.is_dir():
            raise InputError(Fault("", "is a file: several inputs need a folder to write to", file=str(output)))
        if len({other.resolve() for other in paths if stem(other) == stem(path)}) > 1:
            raise UnsupportedError(f"another input has the same name: both would be written to {output / stem(path)}")
        output.mkdir(parents=True, exist_ok=True)
        output = output / f"{stem(path)}.{ending}"
    require_target(output, paths, endings)
    return output


def telling(violations: Sequence[Violation]) -> list[Violation]:
    """Return the violations worth a line each: of a solution of another instance, only that it is one."""
    others = [violation for violation in violations if violation.constraint == "instance"]
    return others or list(violations[:SHOWN])
