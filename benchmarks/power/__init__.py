"""A measurement of power: planted false claims, and how many of them the searchers refute."""
