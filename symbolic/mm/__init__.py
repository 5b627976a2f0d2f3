"""Proofs for the statements of `properties/mm`, file by file."""
