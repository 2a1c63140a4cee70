"""The mathematical program, and the coefficients of its objective."""
