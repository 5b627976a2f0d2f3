"""The decision whether constraints are separable, with a matrix or Farkas multipliers as proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from attsvm._types import Array, Float
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, present
from attsvm.exact.deadline import Deadline
from attsvm.exact.programme import ExactProgramme
from attsvm.exact.svm import ExactAnswer, decide, nearest
from attsvm.svm.bounds import certain_margins
from attsvm.svm.farkas import cancelling_multipliers, coprime_integers
from attsvm.svm.methods import propose
from attsvm.svm.programme import Programme, att_svm_programme, subset

SECONDS = 60.0
"""Default time limit of rational arithmetic, in processor seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Separability:
    """The decision whether some W gives every constraint a positive margin, with the proof.

    Attributes:
        separable: the decision.
        W: if separable, a float matrix whose exact margins are proved positive, or None if rounding
            the exact solution loses this.
        exact: if separable without W, the exact solution, whose `W` has margins of at least 1.
        rows: if unseparable, constraints that already have no common solution; else None.
        weights: if unseparable, the floats nearest to positive multipliers, one for each of `rows`.
            These multipliers exist exactly, and with them the constraint matrices sum to zero. Else
            None.
    """

    separable: bool
    W: Float[Array, "d e"] | None = None
    rows: Programme | None = None
    weights: Float[Array, " k"] | None = None
    exact: ExactAnswer | None = None

    @property
    def farkas(self) -> tuple[tuple[int, int, fmpq], ...]:
        """Farkas multipliers as (input, token, weight) with coprime integer weights.

        They cancel exactly, as rational arithmetic has checked. Empty if separable.

        Raises:
            SolverError: the exact method did not end.
        """
        if self.rows is None:
            return ()
        exact = decide(self.rows, self.weights)
        if exact.status != "unseparable":
            raise SolverError("rational arithmetic finds the rows separable", value=exact.status)
        duals = coprime_integers(exact.duals)
        each = zip(self.rows.input.tolist(), self.rows.token.tolist(), duals, strict=True)
        return tuple((i, t, w) for i, t, w in each if w != 0)

    def __repr__(self) -> str:
        """Return the answer and its proof in a line."""
        if self.separable and self.W is None:
            return "<separable: by an exact W; rounded to float64, it has a margin of at most 0>"
        if self.separable:
            return "<separable: a W whose margins are proved positive>"
        weights = present(self.weights, "the weights of cancelling constraints")
        return f"<unseparable: {len(weights)} constraints cancel with positive weights>"


def separability(
    problem: Programme | AttentionData, seconds: float | None = SECONDS
) -> Separability:
    """Decide whether all margins can be positive, with a proof in either case.

    The problem is a programme, or the Att-SVM for the optimal tokens of a data set. A positive
    answer is proved by lower bounds of margins that include rounding errors. A negative answer is
    proved by multipliers that exist exactly. They belong to as many independent rows as W has
    entries and to one more row: an enclosure of their unique combination is positive. If that does
    not settle it, rational arithmetic decides.

    Args:
        problem: constraints whose margins must all be positive.
        seconds: processor time for rational arithmetic; None for no limit.

    Raises:
        DataError: the programme has bounds other than margins of at least 1.
        OutOfTimeError: undecided: rational arithmetic did not end in time.
        SolverError: the exact method did not end.
    """
    programme = att_svm_programme(problem) if isinstance(problem, AttentionData) else problem
    if programme.equal.any() or not (programme.bound > 0.0).all():
        raise DataError(
            "separability is defined for programmes that ask for positive margins alone",
            value=programme.name,
            remedy="Decide this one with attsvm.exact.decide.",
        )
    guess = propose(programme)
    if guess is not None and programme.keys is None:
        weights, solved = guess
        if solved:
            W = programme.combine(weights)
            if (certain_margins(programme.D, programme.Z, W) > 0.0).all():
                return Separability(True, W)
        else:
            rows = subset(programme, weights != 0.0)
            near = cancelling_multipliers(rows, weights[weights != 0.0])
            if near is not None:
                return Separability(False, None, rows, near)
    return _in_rationals(programme, None if guess is None else guess[0], seconds)


def _in_rationals(programme: Programme, guess: Array | None, seconds: float | None) -> Separability:
    deadline = None if seconds is None else Deadline.after(seconds)
    if guess is not None and not np.isfinite(guess).all():
        guess = None
    exact = decide(programme, guess, deadline)
    if exact.status == "unseparable":
        used = np.array([w != 0 for w in exact.duals])
        weights = [w for w in exact.duals if w != 0]
        largest = max(weights)
        near = np.array([nearest(w / largest) for w in weights])
        return Separability(False, None, subset(programme, used), near)
    W = np.array([[nearest(x) for x in row] for row in exact.W])
    if np.isfinite(W).all() and min(ExactProgramme.of(programme).float_margins(W)) > 0:
        return Separability(True, W)
    return Separability(True, exact=exact)
