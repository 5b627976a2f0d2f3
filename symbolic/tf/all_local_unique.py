"""Data for which only the optimal choice is locally optimal."""

from attsvm.primitives.hypotheses import ONE_INPUT
from attsvm.theory import Supposed, ensure_equal
from attsvm.theory.declaration.proof import suppose
from properties._support.suppositions import UNIQUE_OPTIMUM
from properties.tf import all_local_unique as statement
from symbolic.inner_products import inner, vector
from symbolic.least_points import (
    ensure_existence,
    ensure_multipliers,
    ensure_multipliers_suffice,
    ensure_some_margin_is_tight,
)

WITHOUT_RIVALS = Supposed(
    "W^mm(alpha) exists, without which alpha is not locally optimal, and meets the constraints "
    "without rivals as well",
    (statement.alone_exactly_if,),
)


def ensure_by_others() -> None:
    """Prove m = max(1, m') for rivals' least margins: m under W^mm(alpha), m' without rivals.

    `symbolic.tf.definition_2` links this.
    """
    ensure_existence(WITHOUT_RIVALS)
    ensure_multipliers()
    ensure_multipliers_suffice()


def prove_three() -> str:
    """Prove that, for tokens a, b and 0 of falling scores, b is locally optimal iff <a, b> < 0.

    Raises:
        ProofError: a step fails.
    """
    suppose(UNIQUE_OPTIMUM, ONE_INPUT, statement.FEW)
    ensure_by_others()
    a, b = vector("a"), vector("b")
    ensure_equal(
        (a - b) @ a - a @ a,
        -inner("a", "b"),
        "the solution a/||a||^2 of a against 0 gives b a margin above 1 where <a, b> < 0: there b "
        "is no support vector of the Att-SVM, else its margin is 1",
    )
    ensure_equal(
        (b - a) @ b - b @ b,
        -inner("a", "b"),
        "the solution b/||b||^2 of b against 0, which b has without its rival a, keeps a beyond "
        "the margin where <a, b> < 0, and nowhere else is b locally optimal",
    )
    ensure_some_margin_is_tight()
    return (
        "for any d: a token of the lowest score has rivals alone, of which one is tight, as has b "
        "where it scores no more than 0; of two tokens of the second-best score one is tight; "
        "without an Att-SVM solution the optimal choice is not local, and no token supports it"
    )
