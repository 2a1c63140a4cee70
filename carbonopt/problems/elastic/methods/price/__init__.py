"""Method `price`."""
