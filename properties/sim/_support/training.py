"""Drawn runs, hypotheses, siblings and limits that statements on training share."""

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives import descent_limits as limits
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_limits import Letters, limit
from attsvm.primitives.descent_runs import opposed_data, runs
from attsvm.primitives.hypotheses import BASIN, MARGINS_ADD, all_tight, rivals_equal
from attsvm.primitives.steps import X_K, solutions, stepped
from attsvm.strategies import composite
from attsvm.svm import att_svm
from attsvm.theory import Hypothesis, changed
from attsvm.theory.declaration.siblings import Changed
from attsvm.theory.types import Values
from properties._support.published_data import gaussian_protocol
from properties._support.small_runs import UNEVEN
from properties.sim import LOSS_NAMES

UNDEFINED = {
    "L_X": "a Lipschitz constant of the gradient of the mean of g(b <f, h>) over the inputs",
}
"""Terms that the source does not define, with their sense in literal readings."""


def one_part(case: Values) -> bool:
    """Return whether all tokens are support vectors, or the rivals of each input share a score."""
    return all_tight(case) or rivals_equal(case)


ONE_PART = Hypothesis(
    "part 1 or part 2 of assumption 3.10 is true",
    one_part,
    implies=(MARGINS_ADD,),
    checked="fact(all_tight(data, target) or rivals_equal(data))",
)

# runs


@composite
def one_input_from_zero(draw: st.DrawFn) -> Descent:
    """Draw one input in the plane, from zero: (1, 0), the best token, and rivals on the other axis.

    The rivals include (0, 0), so X^mm has w = (1, 0), and all are support vectors.
    """
    rivals = [0, *draw(st.lists(st.integers(-3, 3), min_size=0, max_size=2))]
    scores = [draw(st.integers(-2, 1)) for _ in rivals]
    tokens = [[1, 0]] + [[0, y] for y in rivals]
    return Descent.of([tokens], [[1, 0]], scores=[[2, *scores]])


def levelled(generator: np.random.Generator, n: int) -> AttentionData:
    """Return the Gaussian protocol in R^6 with equal scores for all rivals, rounded to 1/64."""
    data = gaussian_protocol(generator, n=n, T=4, d=6)
    gamma = data.gamma
    level = np.where(gamma == gamma.max(axis=1, keepdims=True), 1.0, -1.0)
    return AttentionData(np.round(data.X * 64) / 64, np.round(data.Z * 64) / 64, scores=level)


def protocol(generator: np.random.Generator, n: int = 3) -> Descent:
    """Return a run on n inputs of this protocol, from a start of any size."""
    size = float(generator.choice([0.0, 1.0, 8.0]))
    return Descent(levelled(generator, n), size * generator.integers(-8, 9, size=(6, 6)) / 8)


def near_solution(generator: np.random.Generator) -> Descent:
    """Return a run on three inputs, started at the rounded float solution plus a random part."""
    data = levelled(generator, 3)
    W = att_svm(data).W
    noise = generator.integers(-4, 5, size=(6, 6)) / 8
    return Descent(data, np.round(4.0 * W * 64) / 64 + noise)


# their limits

LETTERS = Letters(
    "X(0)",
    X_K,
    solutions("X")["towards"],
    "descent on $loss has $formula",
    LOSS_NAMES,
)
DIRECTION = limit(limits.DIRECTION, LETTERS)
NORM = limit(limits.NORM, LETTERS)

OTHER_TARGETS = {"direction of the worst tokens": changed(towards="worst")}


def other_directions(case: Descent) -> dict[str, Changed]:
    """Return siblings that name another limit of the direction, each refuted by the run."""
    return {
        **OTHER_TARGETS,
        "X^mm turned by about a 64th": changed(towards="turned", examples=[case]),
        "mean of the constraints": changed(towards="mean", examples=[case]),
    }


OTHER_DIRECTIONS = other_directions(UNEVEN)


def any_start(*examples: Descent) -> dict[str, Changed]:
    """Return the sibling without the hypothesis on the start; inputs have opposed gradients."""
    opposed = stepped(Descent, runs(opposed_data(), 0))
    return {"any start": changed(drop=[BASIN], variables=opposed, examples=examples)}
