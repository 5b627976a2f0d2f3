"""Proofs by computer algebra of the closed forms that the code runs; no float enters.

A function whose name begins with `prove` carries out a proof and returns for which sizes, data and
losses the proof holds. It raises `ProofError` if a step fails. Some of these functions also try a
false variant of a step, and raise `ProofError` if that variant passes.
"""
