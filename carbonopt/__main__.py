"""`python -m carbonopt`, and the command `carbonopt`."""


def main() -> None:
    """Import the command line, and run it; until then a Ctrl-C ends the process in one line."""
    from carbonopt.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
