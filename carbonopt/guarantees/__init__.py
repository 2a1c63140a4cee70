"""Online rules with a proven ratio: they know bounds on the carbon intensity, and no forecast."""
