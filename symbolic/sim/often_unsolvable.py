"""Contradictions between the constraints that sentences put on X, and their probability."""

from __future__ import annotations

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

ROWS_OF_LANGUAGES = Supposed(
    "successors are drawn for each token apart: rows of a random language are independent",
    (COUNTED,),
)
TEN_SENTENCES = Supposed("there are ten sentences", (("m", 10),))
UNIT_EMBEDDINGS = Supposed(
    "embeddings are Gaussian, scaled to norm 1, so that almost surely no two are the same",
    (COUNTED,),
)
WHOLE_VOCABULARY = Supposed("attention is over the vocabulary", (("over", "vocabulary"),))


def prove_circles() -> str:
    """Prove that constraints around a cycle of tokens contradict each other.

    The differences of logits add up to 0, but the margins that are asked for add up to k > 0.
    """
    x, k = sp.Function("x"), sp.Symbol("k", integer=True, positive=True)
    i = sp.Symbol("i", integer=True, positive=True)
    around = sp.summation(x(i) - x(i + 1), (i, 1, k))
    ensure_zero(
        around.subs(x(k + 1), x(1)),
        "with x_{k+1} = x_1 the differences of logits around a cycle add up to 0, for any k",
    )
    ensure_positive(
        sp.summation(1, (i, 1, k)), "the margins that are asked for around a cycle add up to k"
    )
    return "for any embeddings and any number of tokens and sentences"


def prove() -> str:
    """Prove that X^mm exists if there is no cycle and the embeddings are linearly independent.

    The rank of a token is the length of the longest path from it. Some X has these ranks as logits,
    and they meet all constraints.
    """
    prove_circles()
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


def prove_probability() -> str:
    """Prove the probability that m sentences of two words have no word with two successors."""
    z, p, r = sp.symbols("z p r", positive=True)
    k = sp.Symbol("k", integer=True, positive=True)
    ensure_zero(
        sp.diff(p**k * sp.exp(p * z), z) - p ** (k + 1) * sp.exp(p * z),
        "k! [z^k] (exp(p z) - 1), the k-th derivative at 0, is p^k for every k > 0",
        normal=simplified,
    )
    ensure_zero(
        (1 + (sp.exp(p * z) - 1) + (sp.exp(r * z) - 1)).subs(z, 0) - 1,
        "no sentence that begins with q has weight 1, and k > 0 that end alike, sum_s p_qs^k",
    )
    cite(textbook.PRODUCT_OF_SERIES)  # a factor for the sentences that begin with q, for each q
    return "for any vocabulary, any weights and any m"


def prove_often() -> str:
    """Prove that ten sentences of a random language are contradictory with probability > 1/2."""
    a, b = vector("a"), vector("b")
    apart, norms = a - b, {inner("a", "a"): 1, inner("b", "b"): 1}
    ensure_equal(
        (a @ a - b @ a).subs(norms),
        (apart @ apart / 2).subs(norms),
        "of unit embeddings the next token a scores more than every other b, by ||a - b||^2/2: it "
        "is what the query asks for",
    )
    prove_circles()  # the cycle has two tokens: a query asks for a above b, and for b above a
    prove_probability()
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
