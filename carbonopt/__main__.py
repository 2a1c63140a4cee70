"""`python -m carbonopt`, and the command `carbonopt`: a Ctrl-C while modules are imported ends it in one line, too."""

import sys


def main() -> None:
    """Import the command line, and run it."""
    try:
        from carbonopt.cli.main import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
