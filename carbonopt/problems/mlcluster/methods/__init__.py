"""The methods that solve an instance, or bound it."""
