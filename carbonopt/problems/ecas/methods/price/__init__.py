"""Method `price` of ecas."""
