"""A run from end to end: every part searched, verdicts, their record, and the gate."""
