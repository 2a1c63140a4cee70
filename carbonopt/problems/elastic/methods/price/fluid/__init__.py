"""The fluid model by slot prices: its optimum, its bound, and proofs that there is no schedule."""
