"""The integer model by whole-job plans: exact pricing, column generation for the bound, balancing of loads."""
