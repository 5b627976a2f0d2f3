"""Claim packs: which there are, how they are loaded, and the digests of their code."""
