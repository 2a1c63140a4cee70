"""Sparse mathematical programs with named blocks, and HiGHS to solve them."""
