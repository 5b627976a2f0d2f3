"""Words for people."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
