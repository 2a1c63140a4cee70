"""A report of campaigns: one page for a browser, and tables for a paper."""
