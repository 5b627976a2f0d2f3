"""Mutants of attsvm, and how many of them the tests and `attsvm verify` kill."""
