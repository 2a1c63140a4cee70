"""Campaigns over many instances and methods, gap tables, and best-known values."""
