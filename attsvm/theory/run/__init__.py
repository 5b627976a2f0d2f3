"""Evaluation of claims on instances: hypotheses, conclusion, exact confirmation, and counts."""
