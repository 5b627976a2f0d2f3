"""A run from end to end: every part searched, verdicts, and their record."""
