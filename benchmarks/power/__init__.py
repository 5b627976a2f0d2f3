"""Power, measured: planted false claims, and how many of them the searchers refute."""
