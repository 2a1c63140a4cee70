"""A loop that keeps a plan: it opens what is due, plans again every hour, and survives being killed."""
