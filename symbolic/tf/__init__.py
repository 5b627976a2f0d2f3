"""Proofs for the statements of `properties/tf`, file by file."""
