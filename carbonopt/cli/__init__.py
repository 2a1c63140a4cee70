"""The command line: `carbonopt solve | check | compare | info | ...`."""
