"""The review of claims: what was expected of each, and whether a run may pass."""
