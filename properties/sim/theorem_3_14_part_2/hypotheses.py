"""Hypotheses of part 2 of theorem 3.14 on the scores and the number of inputs."""

from attsvm.exact import ExactData
from attsvm.primitives.descent import Descent
from attsvm.primitives.hypotheses import EQUAL_RIVALS, SEVERAL_TOKENS, UNIQUE, rivals_equal
from attsvm.theory import Hypothesis


def scores_shared(run: Descent) -> bool:
    """Every input has one token of the highest score of all, and others of one lower score."""
    exact = ExactData.of(run.data)
    return exact.unique and len({frozenset(row) for row in exact.gamma}) == 1 and rivals_equal(run)


SAME = Hypothesis(
    "optimal tokens share a score, all others another one",
    scores_shared,
    says="all optimal tokens have one score, and all others another one",
    implies=(UNIQUE,),
)
PAIRS = Hypothesis(
    "there are two inputs, of two tokens each",
    lambda run: run.data.n == 2 and all(len(x) == 2 for x in ExactData.of(run.data).X),
    says="there are two inputs, of two tokens each",
    implies=(
        SEVERAL_TOKENS,
        EQUAL_RIVALS,
    ),
)
