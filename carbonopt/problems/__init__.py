"""One folder a problem, the same rooms in each."""
