"""The error of a formula that does what no arithmetic could do soundly."""

from __future__ import annotations

from attsvm.errors import ClaimError

__all__ = ["misuse"]


def misuse(what: str, remedy: str) -> ClaimError:
    """That error, to be raised: "a formula" and what it does, with the remedy."""
    return ClaimError(f"a formula {what}", remedy=remedy)
