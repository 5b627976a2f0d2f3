"""Contradictions between the constraints that sentences put on X, and their probability."""

import sympy as sp

from attsvm.language import HEAVIEST
from attsvm.theory import (
    Supposed,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.declaration.proof import simplified, suppose
from properties.sim._support.causal_language import SUCCESSORS, VOCABULARY
from properties.sim.often_unsolvable import INDEPENDENT
from properties.sim.often_unsolvable.conclusion import COUNTED
from properties.sim.often_unsolvable.contradictions import mean_probability
from symbolic import textbook
from symbolic.inner_products import inner, vector
from symbolic.least_points import ensure_existence
from symbolic.sim import circles, repeated_tokens, successors

ROWS_OF_LANGUAGES = Supposed(
    "successors are drawn for each token apart: rows of a random language are independent",
    (COUNTED,),
)
TEN_SENTENCES = Supposed("there are ten sentences", (("m", 10),))
UNIT_EMBEDDINGS = Supposed(
    "embeddings are Gaussian, scaled to norm 1, so that almost surely no two are the same",
    (COUNTED,),
)
FIVE_WORDS = Supposed("sentences have five words", (("n", 5),))
ON_THE_SPHERE = Supposed(
    "embeddings are independent and uniform on the unit sphere, as scaled Gaussian ones are",
    (COUNTED,),
)
SUB_SEQUENCES = Supposed("attention is over the sub-sequence", (("over", "sub-sequence"),))
WHOLE_VOCABULARY = Supposed("attention is over the vocabulary", (("over", "vocabulary"),))


def prove() -> str:
    """Prove that X^mm exists if there is no cycle and the embeddings are linearly independent.

    The rank of a token is the length of the longest path from it. Some X has these ranks as logits,
    and they meet all constraints.
    """
    circles.prove()
    worse = sp.Symbol("rank", integer=True, nonnegative=True)
    more = sp.Symbol("more", integer=True, nonnegative=True)
    better = worse + 1 + more
    ensure_nonnegative(better - worse - 1, "the longest path from the better token is longer by 1")
    cite(textbook.INVERSE_OF_GRAM, met={textbook.INDEPENDENT: INDEPENDENT})
    V, d = sp.symbols("V d", integer=True, positive=True)
    E, L = sp.MatrixSymbol("E", V, d), sp.MatrixSymbol("L", V, V)
    gram = E * E.T
    X = E.T * gram.I * L * gram.I * E
    meets = (
        "E X E^T = L for X = E^+ L (E^+)^T, so that X has the logits L, which meet all constraints"
    )
    ensure_true([simplified(E * X * E.T) == L], meets)
    ensure_existence(meets)
    return "for any number of tokens and sentences"


def ensure_next_is_best() -> None:
    """Prove that the next token scores more than every other one, if embeddings have norm 1."""
    a, b = vector("a"), vector("b")
    apart, norms = a - b, {inner("a", "a"): 1, inner("b", "b"): 1}
    ensure_equal(
        (a @ a - b @ a).subs(norms),
        (apart @ apart / 2).subs(norms),
        "of unit embeddings the next token a scores more than every other b, by ||a - b||^2/2: it "
        "is what the query asks for",
    )


def prove_often() -> str:
    """Prove that ten sentences of a random language are contradictory with probability > 1/2."""
    ensure_next_is_best()
    circles.prove()  # the cycle has two tokens: a query asks for a above b, and for b above a
    successors.prove()
    z, q, r = sp.symbols("z mean_q mean_r")
    cite(textbook.MEAN_OF_PRODUCT, met={textbook.ROWS: ROWS_OF_LANGUAGES})
    ensure_zero(
        sp.expand((1 + q * z) * (1 + r * z)).coeff(z, 2) - q * r,
        "a coefficient of the product is a sum of products of one coefficient of each factor, so "
        "that its mean is that coefficient of the product of the means",
    )
    suppose(TEN_SENTENCES, WHOLE_VOCABULARY, UNIT_EMBEDDINGS)
    agree = mean_probability(10, VOCABULARY, SUCCESSORS, HEAVIEST)
    ensure_positive(
        sp.Rational(1, 2) - sp.Rational(int(agree.p), int(agree.q)),
        "the probability that the first two words of ten sentences leave each word one successor "
        "is below 1/2; over the vocabulary there is no X^mm where a word has two",
    )
    return "for sentences of two words or more, with any unit embeddings that differ"


def prove_default() -> str:
    """Prove that over sub-sequences there is no X^mm with probability > 0.63, by copies of tokens.

    The four words before the last one of a sentence may hold their optimal word twice. Then there
    is no X^mm. For a given language with embeddings, let r be the probability of this event. Then
    it happens in some of ten sentences with probability 1 - (1 - r)^10. A parabola bounds this by r
    and r^2, whose means are sums over patterns of words (`repeated_tokens`).
    """
    suppose(TEN_SENTENCES, FIVE_WORDS, SUB_SEQUENCES, UNIT_EMBEDDINGS)
    ensure_next_is_best()  # if the next token is in the sub-sequence
    cite(textbook.LARGEST, met={textbook.UNIFORM: ON_THE_SPHERE})  # if it is not
    cite(textbook.ROTATIONS, met={textbook.UNIFORM: ON_THE_SPHERE})  # one common word, or none
    circles.prove()  # the cycle has one token: a copy of the optimal token is its rival
    cite(textbook.MEAN_OF_PRODUCT, met={textbook.ROWS: ROWS_OF_LANGUAGES})
    r, a, b = sp.symbols("r a b")
    touches = sp.Rational(1, 6)
    above = 1 - a * r + b * r**2 - (1 - r) ** 10
    (solved,) = sp.solve(
        [above.subs(r, touches), sp.diff(above, r).subs(r, touches)], [a, b], dict=True
    )
    factor, rest = sp.div(sp.expand(above.subs(solved)), sp.expand(r * (r - touches) ** 2), r)
    ensure_zero(rest, "1 - a r + b r^2 - (1 - r)^10 is r (r - 1/6)^2 q(r) for some a and b")
    ensure_positive(solved[b], "b > 0, so that E r^2 may be replaced by a bound from above")
    u = sp.Symbol("u", nonnegative=True)
    parts = enumerate(reversed(sp.Poly(factor, r).all_coeffs()))
    spread = sum(sp.Poly(c * u**k, u) * sp.Poly(1 + u, u) ** (7 - k) for k, c in parts)
    ensure_positive(
        spread.all_coeffs(),
        "q(r) > 0 for 0 <= r < 1: with r = u/(1 + u) all coefficients of (1 + u)^7 q are positive",
    )
    means = [
        sp.Rational(int(x.p), int(x.q)) for x in (repeated_tokens.once(5), repeated_tokens.twice(5))
    ]
    ensure_positive(
        solved[a] * means[0] - solved[b] * means[1] - sp.Rational(63, 100),
        "a E r - b E r^2, which is at most the mean of 1 - (1 - r)^10, is above 0.63",
    )
    return "the probability is at least 0.63; contradictions of different sentences add to it"
