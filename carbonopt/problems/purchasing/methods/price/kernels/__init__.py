"""The loops over jobs, cells and moments that numba compiles."""
