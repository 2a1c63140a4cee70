"""Online policies of the elastic problem: CarbonFlex's, its baselines', and re-planning at slot prices."""
