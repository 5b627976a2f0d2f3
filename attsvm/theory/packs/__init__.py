"""Claim packs: the known packs, their loading, and the digests of their code."""
