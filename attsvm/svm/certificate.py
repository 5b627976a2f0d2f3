"""From an answer in floats to one in rationals whose conditions of optimality are checked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flint import fmpq

from attsvm.errors import SolverError
from attsvm.exact.svm import ExactAnswer, decide
from attsvm.svm.frobenius import FrobeniusAnswer

__all__ = ["certify", "coprime"]


def coprime(weights: Sequence[fmpq]) -> list[fmpq]:
    """Rationals, not all zero, as integers in the same proportion without a common divisor."""
    below = math.lcm(*(int(w.q) for w in weights))
    above = math.gcd(*(int(w.p) * (below // int(w.q)) for w in weights))
    return [w * below / above for w in weights]


def certify(answer: FrobeniusAnswer) -> ExactAnswer:
    """The exact answer of the same programme: solution or Farkas certificate, in rationals.

    The support of the float multipliers says which system to solve; its rational solution is
    accepted only if margins, signs and complementarity hold exactly, and where they do not, an
    active-set method in rationals decides. The exact values are those of the data: differences
    of tokens are taken anew.

    Raises:
        SolverError: the exact status differs from the answer's, or the method did not end.
    """
    exact = decide(answer.programme, answer.weights)
    if exact.status != answer.status:
        raise SolverError(
            f"the exact answer is `{exact.status}` where floats said `{answer.status}`",
            value=answer.value,
            remedy="Trust the exact one (attsvm.exact.decide): they are separable or not by a "
            "hair.",
        )
    return exact
