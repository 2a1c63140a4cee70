"""The papers' figures as experiments on any instance: a table, a plot, and a note of what matches the paper."""
