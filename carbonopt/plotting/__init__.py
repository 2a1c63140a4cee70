"""One plot a file; each takes ``ax=None`` and returns the axes."""
