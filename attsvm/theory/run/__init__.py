"""Evaluation: instances drawn, hypotheses, conclusion, confirmation, tally; and workers."""
