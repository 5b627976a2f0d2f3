"""Facts on descent under a head, on one input of two tokens."""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import FALL, RATE, M, W
from attsvm.theory.proof.facts import Fact, K, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL, SIZE
from attsvm.theory.proof.linked import setting, suppose
from attsvm.theory.proof.rules import add_up, at, cite, decide, scale
from attsvm.theory.proof.terms import ABS, EXP, NORM, Term
from properties.tf.generalised_svm import head_letters as letters
from properties.tf.generalised_svm.head_descent import QUERY
from properties.tf.generalised_svm.head_letters import (
    APART,
    INNER,
    MARGIN,
    OUTER,
    SECOND,
    STEEP,
    A,
    u,
)
from symbolic.facts import against, power, product


@dataclass(frozen=True, slots=True)
class Step:
    """A step of descent, which moves the lead by `pull` times the slope of h along x_1 - x_2.

    Attributes:
        shares: the attention s_1 and s_2 to both tokens.
        positive: both are above 0.
        whole: they add up to 1.
        output: the mean o of the tokens.
        pull: e ||A||^2 (-l'(h(o))) s_1 s_2.
        moved: the lead after the step.
    """

    shares: tuple[Term, Term]
    positive: tuple[Fact, Fact]
    whole: Fact
    output: Term
    pull: Term
    moved: Fact


def step() -> Step:
    """Return the facts on the step from W(k)."""
    E, o = EXP(-MARGIN), letters.output(MARGIN)
    unit, inverse = cite(RECIPROCAL, [decide(gt(1 + E, 0), power(-MARGIN))], 1 + E)
    first, second = letters.shares(MARGIN)
    falls, square = FALL(letters.head(o)), A @ A
    turned = add_up(scale(unit, OUTER(u) * STEEP(INNER(u) @ o) * (INNER(u) @ SECOND) * second), u)
    pull = RATE * square * falls * first * second
    along_rival = at(setting(letters.SETTING, letters.STEP), {M: A})
    moved = decide(
        eq(A @ W(K.term + 1), MARGIN + pull * letters.slope(o, APART)),
        *(along_rival, scale(turned, RATE * falls * square)),
        degree=1,
    )
    positive = inverse, decide(gt(second, 0), power(-MARGIN), inverse)
    return Step((first, second), positive, decide(eq(first + second, 1), unit), o, pull, moved)


def moves(x: Term, some: Fact) -> Fact:
    """Return that ||A||^2 > 0, as sum_u x_u <a_u, x_1 - x_2> > 0 and the query is not 0."""
    (queried,) = suppose(QUERY)
    a, (size, size_square) = INNER(u), cite(SIZE, (), x)
    minus, plus = (decide(ge(size.proposition.term, k * x), size, size_square) for k in (1, -1))
    (up,), down = cite(CAUCHY_SCHWARZ, (), a, APART), against(a, APART)
    most = NORM(a) * NORM(APART)
    each = decide(ge(ABS(x) * most, x * (a @ APART)), minus, plus, up, down)
    length = cite(LENGTH, (), APART)[1]
    part = add_up(product(size, cite(LENGTH, (), a)[0]), u)
    apart = decide(gt(NORM(APART), 0), add_up(each, u), some, part)
    apart = decide(gt(APART @ APART, 0), apart, length)
    is_outer = setting(letters.FROM_ZERO, "A is (x_1 - x_2) z^T")
    return decide(gt(A @ A, 0), is_outer, apart, queried)
