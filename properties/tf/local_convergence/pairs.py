"""The pairs of a local solution: for a choice alpha all that cones around W^mm(alpha) depend on.

For a choice alpha write A_j = (x_alpha - x_t) z^T for the pairs j = (i, t), W* = W^mm(alpha) with
margins m_j and N = ||W*||, and lead_j for the score of alpha_i less that of t. The width of a cone
is given by r_j, the size of what A_j has across W*, r_j^2 = ||A_j||^2 - m_j^2/N^2, and by
c_j = m_j where t is a support token or scores below alpha_i, m_j - 1 where it is neither.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import Matrix, Vector
from properties._support.att_svm import exact_att_svm


@dataclass(frozen=True, slots=True)
class Pairs:
    """W* and its pairs, in rationals; one entry a pair, but for W, its square and `score`.

    Attributes:
        W: W^mm(alpha).
        square: N^2.
        score: the score of alpha_i, input by input.
        input: i.
        lead, margin, dual: lead_j, m_j and the multiplier.
        across: r_j^2.
        room: c_j.
    """

    W: Matrix
    square: fmpq
    score: Vector
    input: list[int]
    lead: Vector
    margin: Vector
    dual: Vector
    across: Vector
    room: Vector

    @classmethod
    def of(cls, data: AttentionData, alpha: Array) -> Pairs | None:
        """None where W^mm(alpha) does not exist or nothing is constrained."""
        found = exact_att_svm(data, alpha)
        if found is None or not found.A:
            return None
        exact = ExactData.of(data)
        tables = [dict(zip(*row, strict=True)) for row in zip(exact.kept, exact.gamma, strict=True)]
        score = [table[int(a)] for table, a in zip(tables, alpha, strict=True)]
        places, margin = list(found.A), list(found.margins.values())
        lead = [score[i] - tables[i][t] for i, t in places]
        across = [
            dot(A, A) - m * m / found.square for A, m in zip(found.A.values(), margin, strict=True)
        ]
        room = [m if x > 0 or m == 1 else m - 1 for m, x in zip(margin, lead, strict=True)]
        inputs, duals = [i for i, _ in places], list(found.duals.values())
        return cls(found.W, found.square, score, inputs, lead, margin, duals, across, room)

    @property
    def slope(self) -> fmpq:
        """The largest r_j^2/c_j^2: ||E||^2 times it stays below sigma^2 in the cone."""
        steepest: fmpq = max(r / (c * c) for r, c in zip(self.across, self.room, strict=True))
        return steepest

    @property
    def locally_optimal(self) -> bool:
        """Support tokens, those of margin exactly 1, score below alpha (definition 2)."""
        return all(m > 1 or x > 0 for m, x in zip(self.margin, self.lead, strict=True))
