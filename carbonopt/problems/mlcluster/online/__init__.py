"""GREEN's scheduler and its baselines, on the package's event-driven engine; times in minutes."""
