"""Facts on descent under a head, on one input of two tokens."""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import FALL, RATE, M, W
from attsvm.theory.proof.facts import Fact, K, eq, gt
from attsvm.theory.proof.lemmas import RECIPROCAL
from attsvm.theory.proof.linked import setting
from attsvm.theory.proof.rules import add_up, at, cite, decide, scale
from attsvm.theory.proof.terms import EXP, Term
from properties.tf.generalised_svm import head_letters as letters
from properties.tf.generalised_svm.head_letters import (
    FIRST,
    INNER,
    MARGIN,
    OUTER,
    SECOND,
    STEEP,
    A,
    u,
)
from symbolic.facts import power


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
    taken = at(setting(letters.SETTING, letters.STEP), {M: A})
    moved = decide(
        eq(A @ W(K.term + 1), MARGIN + pull * letters.slope(o, FIRST - SECOND)),
        *(taken, scale(turned, RATE * falls * square)),
        degree=1,
    )
    positive = inverse, decide(gt(second, 0), power(-MARGIN), inverse)
    return Step((first, second), positive, decide(eq(first + second, 1), unit), o, pull, moved)
