"""Statements and counterexamples as theorems for Coq, and the kernel that checks them.

`terms` and `arrays` are two arithmetics whose numbers are Coq terms: one for the values of an
instance, one for arrays of any size. `theorems` writes theorems from the one formula of a reading.
`kernel` runs Coq.
"""
