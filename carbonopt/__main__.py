"""`python -m carbonopt`, and the command `carbonopt`."""

import os
import sys


def main() -> None:
    """Import the command line, and run it; until then a Ctrl-C ends the process in one line."""
    _open_what_is_closed()
    from carbonopt.cli.main import main as run

    run()


def _open_what_is_closed() -> None:
    """Let closed standard streams be /dev/null: else the next file that is opened would take their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the least free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    main()
