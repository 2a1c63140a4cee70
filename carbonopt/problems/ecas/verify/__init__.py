"""The checkers of ecas: of schedules and of certificates."""
