"""The integer program of ecas."""
