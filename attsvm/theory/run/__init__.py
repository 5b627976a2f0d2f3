"""Evaluating: an instance drawn, hypotheses, conclusion, confirmation, tally; and workers."""
