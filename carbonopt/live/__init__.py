"""Signals fetched from their sources, where the extra ``carbonopt[live]`` is installed."""
