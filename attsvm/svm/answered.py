"""The common part of all answers: their targets, and their page of text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attsvm._types import Array, Int
from attsvm._words import counted, rising
from attsvm.svm.programme import Programme, Tokens

Facts = list[tuple[str, str]]
"""Lines of a page: a name, empty for a continuation line, and the text."""

ENCLOSED = "enclosed: the bracket holds in outward-rounded arithmetic"
"""The proof behind bounds that were rounded outward, in words."""

_ALONE = "none, a single token"
"""Text in place of the margins of an input with a single token."""


class Answered:
    """The targets, titles and page of text that every answer has.

    An answer also has `solved`, `status`, `margins`, `duals`, `support`, `degenerate`, residuals, a
    gap, and `optimum`: the lines that state the minimised quantity.
    """

    __slots__ = ()
    programme: Programme

    @property
    def targets(self) -> Int[Array, " n"]:
        """The token that each input selects."""
        return self.programme.targets

    @property
    def heading(self) -> str:
        """The beginning of a heading: the quantity that is minimised."""
        return "Frobenius"

    @property
    def grouping(self) -> str:
        """The end of a heading: the constraints that share a slack."""
        return ""

    @property
    def title(self) -> str:
        """The minimised quantity, and the sizes of the data."""
        n, T = self.programme.shape
        sizes = f"{counted(n, 'input')}, up to {counted(T, 'token')}"
        constraints = counted(len(self.programme.bound), "constraint")
        return f"{self.heading} {self.programme.name}: {sizes}, {constraints}{self.grouping}"

    @property
    def proof(self) -> str:
        """The proof of the floats in this answer, in words."""
        return "graded in floating point: residuals recomputed, not certified"

    @property
    def remarks(self) -> Facts:
        """Remarks below the status, such as the place of a certificate."""
        return []

    @property
    def tight_margin(self) -> str:
        """The margin of support tokens, in words."""
        return "1"

    @property
    def facts(self: Any) -> Facts:
        """The lines of the answer's page."""
        if not self.solved:
            return _unseparable(self)
        facts = [
            ("status", f"{self.status}, {self.proof}"),
            *self.remarks,
            *self.optimum,
            (
                "residuals",
                f"primal {rising(self.primal_residual)}, gap {rising(self.gap)}, "
                f"least multiplier {self.duals.min():.1e}",
            ),
        ]
        if any(self.degenerate):
            facts.append(("idle", f"tight with multiplier 0: {_tokens(self.degenerate)}"))
        if self.programme.duplicates:
            groups = (
                " = ".join(f"input {i} token {t}" for i, t in group)
                for group in self.programme.duplicates
            )
            facts.append(("repeated", f"the same constraint: {'; '.join(groups)}"))
        return facts

    def margins_in_words(self: Any, i: int) -> list[str]:
        """Return the finite margins of an input as `token:margin`; a star marks support."""
        return [
            f"{t}{'*' if t in self.support[i] else ''}:{margin:.4g}"
            for t, margin in enumerate(self.margins[i])
            if math.isfinite(margin)
        ]

    def _text(self: Any) -> str:
        """Return the page of text that `attsvm solve` prints."""
        lines = [self.title, *(f"{name:<9} {value}" for name, value in self.facts)]
        if self.solved:
            width = len(str(len(self.programme.targets) - 1))
            for i, target in enumerate(self.programme.targets):
                shown = "  ".join(self.margins_in_words(i)) or _ALONE
                lines.append(f"input {i:>{width}}   selects token {target}; margins {shown}")
            lines.append(f"          * marks support tokens, whose margin is {self.tight_margin}")
        return "\n".join(lines)


def bracket_in_words(bracket: tuple[float, float]) -> str:
    """Return the text `bracket [low, high]`."""
    return f"bracket [{bracket[0]:.12g}, {bracket[1]:.12g}]"


def _tokens(rows: Tokens) -> str:
    return "; ".join(
        f"input {i} token {', '.join(map(str, tokens))}" for i, tokens in enumerate(rows) if tokens
    )


def _unseparable(answer: Any) -> Facts:
    weights = [
        ("", f"input {int(i)}, token {int(t)}: {answer.duals[i, t]:.6g}")
        for i, t in np.argwhere(answer.duals > 0)
    ]
    return [
        ("status", "unseparable: no W gives every target a positive margin"),
        (
            "proof",
            f"nonnegative weights whose constraints cancel, residual "
            f"{rising(answer.dual_residual)};",
        ),
        ("", answer.proof),
        *weights,
    ]
