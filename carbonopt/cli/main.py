"""The `carbonopt` command and its exit codes.

0 done; 1 no solution, or `check` found a violation; 2 usage or unreadable input; 130 interrupted,
with the incumbent written.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from carbonopt.cli import (
    bench,
    bks,
    check,
    compare,
    compile,
    console,
    controller,
    data,
    diagnose,
    export,
    extend,
    fetch,
    instances,
    learn,
    lesson,
    params,
    pareto,
    plan,
    plot,
    regret,
    report,
    reproduce,
    risk,
    simulate,
    solve,
    timetable,
)
from carbonopt.core import interrupt
from carbonopt.core.errors import one_line
from carbonopt.core.leftover import exit_with

_UsageError: Any = typer.BadParameter.__base__  # typer has its own copy of click, or not, by version


WITHOUT_FILES = ("convert", "generate")
"""Commands whose inputs are all options."""
SEVERAL = ("--carbon", "--price")
"""Options of theirs after which several files may stand."""


OLD_SPELLINGS = {"--jobs": "--trace"}
"""Of options of `convert` for jobs in a trace, which are still understood: `--jobs` is a number in `generate`."""
OF_TRACES = ("elastic", "mlcluster", "mosp", "purchasing")
"""Problems to which `convert` brings a trace."""


def respelled(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the options of `convert` as they are spelled today.

    Examples
    --------
    >>> respelled(["convert", "mosp", "--jobs", "a.csv"]), respelled(["generate", "mosp", "--jobs", "9"])
    (['convert', 'mosp', '--trace', 'a.csv'], ['generate', 'mosp', '--jobs', '9'])
    """
    if list(arguments[:1]) != ["convert"] or not set(arguments[1:2]) & set(OF_TRACES):
        return list(arguments)
    parts = [argument.partition("=") for argument in arguments]
    return ["".join((OLD_SPELLINGS.get(name, name), *rest)) for name, *rest in parts]


def spread(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with each file behind its own option, as the parser wants them.

    Examples
    --------
    >>> spread(["convert", "mosp", "--carbon", "a.csv", "b.csv", "--load", "0.5"])
    ['convert', 'mosp', '--carbon', 'a.csv', '--carbon', 'b.csv', '--load', '0.5']
    >>> spread(["plan", "--carbon", "a.csv", "squeue.json"])
    ['plan', '--carbon', 'a.csv', 'squeue.json']
    """
    if not arguments or arguments[0] not in WITHOUT_FILES:
        return list(arguments)
    found: list[str] = []
    option = ""
    for argument in arguments:
        if option and not argument.startswith("-") and found[-1] != option:
            found.append(option)
        elif argument.startswith("-"):
            option = argument if argument in SEVERAL else ""
        found.append(argument)
    return found


class Commands(TyperGroup):
    """The commands; a wrong option is told in one line, like every other error."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the arguments name and exit with its code."""
        try:
            code = super().main(
                spread(respelled(sys.argv[1:] if args is None else args)),
                prog_name,
                complete_var,
                False,
                windows_expand_args,
                **extra,
            )
        except _UsageError as error:
            code = error.exit_code
            message = error.format_message().rstrip(".\n ")
            command = error.ctx.command_path if error.ctx is not None else "carbonopt"
            if message:  # empty where no command was given: then the help has been shown
                console.say(f"error: {one_line(message)} (see `{command} --help`)")
        if standalone_mode:
            sys.exit(code or 0)
        return code


app = typer.Typer(
    cls=Commands,
    name="carbonopt",
    help="Mathematical optimization of carbon-aware computing, with proven gaps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        import carbonopt

        print(carbonopt.__version__)
        raise typer.Exit(0)


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Mathematical optimization of carbon-aware computing, with proven gaps."""


for module in (
    plan, controller, fetch, solve, timetable, check, compare, learn, simulate, regret, risk, pareto, reproduce, data,
    diagnose, extend, export, bench, report, instances, bks, plot, compile, params, lesson,
):  # fmt: skip
    module.register(app)


def command_names() -> list[list[str]]:
    """Return the words that name each command, one list for each problem of `generate` and `convert`."""
    return list(_names(typer.main.get_command(app)))


def _names(command: Any, *words: str) -> Iterator[list[str]]:
    if not hasattr(command, "commands"):
        yield list(words)
    for word, part in getattr(command, "commands", {}).items():
        yield from _names(part, *words, word)


def main() -> None:
    """Run the command line and exit with its code."""
    interrupt.forget()
    interrupt.handle_with(interrupt.ask)
    try:
        app(prog_name="carbonopt")
    except SystemExit as end:
        code = end.code
    except (KeyboardInterrupt, Exception) as error:  # outside all commands
        if not console.is_interruption(error):
            raise
        console.say("interrupted")
        code = interrupt.INTERRUPTED
    finally:
        # CPython remembers an interrupt that passed through code run from C, and would end by the signal instead of
        # with the code of the command. It forgets when it runs such code again.
        eval("None")
    interrupt.begin_or_end_command()
    exit_with(code if isinstance(code, int) else int(bool(code)))


if __name__ == "__main__":
    main()
