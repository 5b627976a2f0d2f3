"""Figures of a head beside the Att-SVM that selects the tokens to which it attends most."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Float
from attsvm.heads.arrays import HeadArrays
from attsvm.svm.active import Active
from attsvm.svm.frobenius import FrobeniusAnswer
from attsvm.svm.nuclear import NuclearAnswer
from attsvm.svm.shared import SharedAnswer
from attsvm.svm.shared_programme import SharedProgramme
from attsvm.svm.shared_soft import SharedSoft


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The figures of a comparison of a head with the Att-SVM that selects the same tokens.

    Attributes:
        head: the head.
        programme: the constraints of the queries that are compared. Queries that contradict each
            other are set aside and named.
        attention: the attention weights, by query and token of its own sequence.
        answer: the Att-SVM with the head's selected tokens as targets: solved, or with a bracket of
            its norm. A head whose logits are x^T W z alone is separable by its own W.
        margins: margins of the head's W, by query and token of its own sequence; infinite without
            a constraint.
        active: the part of W on which the margins depend: the matrix of least Frobenius norm with
            the same margins.
        soft: the soft margin with a shortfall for each query, if no W is known that separates.
        selecting: the comparison of those queries whose selected token has at least half of the
            attention; None if there are none, if all do, or if it was not asked for.
        baseline: the cosine of a random W of the same rank and of the Att-SVM of the tokens that it
            selects; NaN if it was not asked for.
    """

    head: HeadArrays
    programme: SharedProgramme
    attention: Float[Array, "L T"]
    answer: SharedAnswer | FrobeniusAnswer | NuclearAnswer
    margins: Float[Array, "L T"]
    active: Active
    soft: SharedSoft | None = None
    selecting: Figures | None = None
    baseline: float = math.nan

    @property
    def margin(self) -> float:
        """The smallest margin of W, divided by the norm of the active part of W.

        The norm is the one that the Att-SVM minimises. Without constraints it is infinite. It is
        NaN if no single W gives the logits.
        """
        if self.head.weights is None:
            return math.nan
        return float(self.margins.min() / self._size) if self._size > 0.0 else math.inf

    @property
    def best_margin(self) -> float:
        """The smallest margin of the Att-SVM scaled to norm 1: no W of norm 1 has a larger one.

        If the Att-SVM is only bracketed, some W of norm 1 has this margin.
        """
        return 1.0 / self.answer.value if self.answer.value > 0.0 else math.inf

    @property
    def share(self) -> float:
        """The smallest margin of W as a share of the best one; NaN without constraints."""
        return self.margin * self.answer.value if self.programme.count else math.nan

    @property
    def decided_by(self) -> tuple[int, int, int] | None:
        """The query, its token and the rival that have the smallest margin; None without one.

        Tokens are counted within the sequence of the query.
        """
        if not self.programme.count:
            return None
        margins = self.margins
        query, rival = divmod(int(margins.argmin()), margins.shape[1])
        return query, int(self.head.targets[query]), rival

    @property
    def cosine(self) -> float:
        """Cosine of the active part of W and the Att-SVM; NaN if either is 0 or does not exist.

        If the Att-SVM is only bracketed, its multipliers so far give the direction.
        """
        if isinstance(self.answer, SharedAnswer) and not self.answer.solved:
            return math.nan
        sizes = self.active.norm * float(np.linalg.norm(self._direction))
        return float((self.active.W * self._direction).sum() / sizes) if sizes > 0.0 else math.nan

    @property
    def residual(self) -> float:
        """Distance of the active part of W and the Att-SVM, both scaled to Frobenius norm 1.

        It is NaN if either is 0 or does not exist.
        """
        if math.isnan(self.cosine):
            return math.nan
        units = (part / np.linalg.norm(part) for part in (self.active.W, self._direction))
        return float(np.linalg.norm(np.subtract(*units)))

    @property
    def _W(self) -> Array:
        """The matrix of the answer, for tokens and queries as the head has them."""
        W: Array = self.answer.W[: self.programme.X.shape[2], : self.programme.Z.shape[1]]
        return W

    @property
    def _direction(self) -> Array:
        return self.answer.combined if isinstance(self.answer, SharedAnswer) else self._W

    @property
    def _norm(self) -> float:
        return math.nan if self.head.weights is None else float(np.linalg.norm(self.head.weights))

    @property
    def _size(self) -> float:
        if isinstance(self.answer, NuclearAnswer):
            return float(np.linalg.norm(self.active.W, "nuc"))
        return self.active.norm


def averages(head: HeadArrays, weights: Float[Array, "L T"]) -> Float[Array, "L v"]:
    """Return the averages of values with these weights of the tokens of each query's sequence."""
    values = head.values.reshape(len(head.sequences), head.width, -1)
    return np.concatenate([weights[head.owners == b] @ own for b, own in enumerate(values)])


def prices(head: HeadArrays) -> Float[Array, "L T"]:
    """Return the relative change of the head's output if one token of its sequence is dropped.

    It is infinite if the token has all the weight, and NaN if the query does not see it.
    """
    weights, owners = head.own(head.attention), head.owners
    values = head.values.reshape(len(head.sequences), head.width, -1)
    result = np.empty_like(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(weights < 1.0, weights / (1.0 - weights), np.inf)
        for i, w in enumerate(weights):  # the differences of one query at a time
            V = values[owners[i]]
            output = w @ V
            away = np.linalg.norm(V - output, axis=1)
            result[i] = np.where(away > 0.0, odds[i] * away, 0.0) / np.linalg.norm(output)
    priced: Array = np.where(head.own(head.seen), result, np.nan)
    return priced
