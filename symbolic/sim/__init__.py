"""Proofs for the statements of `properties/sim`, file by file."""
