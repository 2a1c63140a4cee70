"""Method `price`: Lagrangian slot prices for the bound, and a search for schedules that they guide."""
