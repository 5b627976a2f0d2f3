"""Proofs by computer algebra of the closed forms that the code runs; no float enters.

A function whose name begins with `prove` returns what it proves. It raises `ProofError` where a
step fails, and where a false neighbour that it looks at turns out to be true.
"""
