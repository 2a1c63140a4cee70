"""Prices of reserved CPUs: the Lagrangian bound of every variant, and schedules by best responses to the load."""
