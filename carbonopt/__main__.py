"""`python -m carbonopt`."""

from carbonopt.cli.main import main

main()
