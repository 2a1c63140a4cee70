"""The checker: what a schedule is worth and what a certificate proves, without a solver."""
