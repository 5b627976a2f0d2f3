"""Proofs by computer algebra of the closed forms that the code runs; no float enters."""
