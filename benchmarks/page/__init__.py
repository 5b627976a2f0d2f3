"""The page of a run in a real browser."""
