"""Plans for several possible carbon signals: tail means, budgets of uncertainty, and what they are worth."""
