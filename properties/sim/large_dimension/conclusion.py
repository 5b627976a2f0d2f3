"""Conditions for all margins to be tight, and their probability."""

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot, rational
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import att_svm, exact_att_svm
from attsvm.primitives.counts import interval, probability
from attsvm.primitives.sentences import Sentences
from attsvm.theory import Slack, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Comparison, Namespace, Number
from properties._support import laws
from properties._support.laws import (
    LETTERS,
    NEARLY_ORTHOGONAL,
    RandomSentences,
    Signs,
    least_chance,
)
from properties.sim._support.redundant_tokens import all_support, redundant_data

SAMPLES, ONE = 100, Fraction(1)
THREE_TOKENS = Signs(1, 3, 1000)
EVEN = RandomSentences(np.ones((2, 2), dtype=np.int64), 2, 3, 1000)
"""Sentences of two tokens that follow each other with equal probabilities."""
BESIDE = AttentionData.of([[[-3, 5, 4], [5, 4, 3], [4, 3, -5]]], [[1, 0, 0]], scores=[[1, 0, 0]])
"""The last token is beyond the margin; all have the squared norm 50, and products of at most 17."""
ASIDE = AttentionData.of([[[5, 0], [3, 4], [-3, 4]]], [[1, 0]], scores=[[1, 0, 0]])
"""The last token is no support vector, though all have norm 5."""
UNEVEN = AttentionData.of([[[100], [1], [2]]], [[1]], scores=[[1, 0, 0]])
"""Tokens of different norms: inner products are small only relative to the longest one."""
SOLVABLE = st.one_of(all_support(), redundant_data())

FAIR = "the entries of n inputs of T tokens and of their queries in R^d be independent fair signs"
ORTHONORMAL = "the data be m sentences of n tokens of a language with orthonormal tokens in R^d"


if TYPE_CHECKING:
    import sympy as sp


def coherence(data: AttentionData) -> fmpq | None:
    """Return the largest |<., .>| of two tokens or queries over the first one's squared norm.

    None if the first token or the first query is 0.
    """
    exact = ExactData.of(data)
    shares = [fmpq(0)]
    for vectors in ([x for tokens in exact.X for x in tokens], exact.Z):
        square = dot(vectors[0], vectors[0])
        if square == 0:
            return None
        shares += [abs(dot(x, y)) / square for i, x in enumerate(vectors) for y in vectors[:i]]
    return max(shares)


def long(data: AttentionData) -> bool:
    """Return whether all tokens have one norm and all queries have one norm, neither of them 0."""
    exact = ExactData.of(data)
    squares = [{dot(x, x) for tokens in exact.X for x in tokens}, {dot(z, z) for z in exact.Z}]
    return all(len(values) == 1 and 0 not in values for values in squares)


def disturbance(n: "sp.Expr", k: "sp.Expr", e: "sp.Expr") -> "sp.Expr":
    """Return 4 k (e + (n - 1) e^2)."""
    return 4 * k * (e + (n - 1) * e * e)


def incoherent(data: AttentionData, most: Fraction = ONE) -> bool:
    """Return whether 4 k (e + (n - 1) e^2) is at most `most`, where e is the coherence."""
    e = coherence(data)
    return e is not None and bool(disturbance(data.n, data.T - 1, e) <= rational(most))


def _write(m: Programs, law: Signs | RandomSentences, least: Number, chance: str) -> Proposition:
    """Return the checker's claim that a probability, written in its words, is at least a bound."""
    m.sources.add("attsvm.primitives.law_checker")
    m.lines["d"] = str(law.d)
    return Proposition(f"at_most(Q({str(least)!r}), {chance})", "")


def _likely(m: Programs, law: Signs, least: Number) -> Proposition:
    """Return the claim of `likely` for the checker."""
    return _write(m, law, least, f"equal_scores_chance({law.n}, {law.T}, d)")


def _likely_in_sentences(m: Programs, law: RandomSentences, least: Number) -> Proposition:
    """Return the claim of `likely_in_sentences` for the checker, with multipliers."""
    E, weights = law.language.embeddings, []
    for chosen in itertools.product(laws.spoken(law), repeat=law.m):
        data = ExactData.of(Sentences(E, np.array([text for text, _ in chosen]), True).data)
        weights.append(run_programs.multipliers(data, [best[0] for best in data.optimal]))
    listed = f"[{', '.join(weights)}]"
    return _write(
        m, law, least, f"support_chance({law.follow.tolist()}, {law.m}, {law.n}, {listed})"
    )


@stated(
    "",
    r"P \ge $least",
    where="P is the probability of part 2 of assumption 3.10, that in each input one token has "
    "the highest score and all others share a lower one",
    checked=_likely,
)
def likely(m: Namespace, law: Signs, least: Number) -> Comparison:
    return m.at_least(m.values(laws.equal_scores(law)), least)


@stated(
    "",
    r"P \ge $least",
    where="P is the probability of part 1 of assumption 3.10, that all tokens are support vectors",
    checked=_likely_in_sentences,
)
def likely_in_sentences(m: Namespace, law: RandomSentences, least: Number) -> Comparison:
    return m.at_least(m.values(laws.part_1_probability(law)), least)


@stated(
    "",
    r"P \le \left(\frac{T}{2} \left(\frac{3 d}{2} + 1\right)^{-(T - $lost)/2}\right)^n",
    where="P is the probability that in each input one token has the highest score and all others "
    "share a lower one (part 2 of assumption 3.10), scores being the sums of entries of tokens",
)
def unlikely(m: Namespace, law: Signs, lost: int = 2) -> Comparison:
    root = 1 / m.sqrt(m.exact(Fraction(3 * law.d + 2, 2)))
    power = law.T - lost
    bound = m.power(root, power) if power >= 0 else m.power(1 / root, -power)
    right = m.power(m.exact(Fraction(law.T, 2)) * bound, law.n)
    return m.at_most(m.values(laws.equal_scores(law)), right)


@stated(
    "X^mm exists and all tokens are support vectors, that is $formula",
    r"A_j X^{mm} = 1 \text{ for all } j",
    where="A_j = (x_opt - x_t) z^T for each token t but the best of its input",
)
def all_tight(m: Namespace, data: AttentionData) -> Comparison:
    svm, one = att_svm(m, data), m.exact(1)
    if svm.weights is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    return m.equal(svm.rows @ svm.vector if len(svm.rows) else one, one)


@stated(
    "X^mm exists, and $formula exactly if no entry of $by is negative",
    r"A_j X^{mm} = 1 \text{ for all } j",
    {"by": {"inverse": "G^{-1} 1", "gram": "G"}},
    where="A_j = (x_opt - x_t) z^T, and G is the Gram matrix of the A_j",
)
def exactly_where(m: Namespace, data: AttentionData, by: str = "inverse") -> Comparison:
    svm = exact_att_svm(data)
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    if not svm.A:
        return m.equal(m.exact(1), m.exact(1))  # nothing is constrained, and no entry is negative
    gram = svm.gram(list(svm.A))
    if gram.rank() < len(svm.A):
        return m.below(m.exact(0), m.exact(0))  # there is no inverse
    weights = gram.solve(fmpq_mat([[1]] * len(svm.A))) if by == "inverse" else gram
    condition = all(w >= 0 for w in weights.entries())
    return m.equal(m.exact(int(svm.all_tight)), m.exact(int(condition)))


def _frequent(law: Signs, factor: int, samples: int) -> Slack:
    if law.T < 2:
        return Slack(-1.0, 0.0)  # k = 0, by which the bound divides
    high = interval(laws.counted(law, samples), samples, laws.RISK)[1]
    return Slack.at_most(least_chance(law, factor), high, 1e-12)


def frequent(law: Signs, factor: int = 1) -> Slack:
    """Return the slack of "part 1 is likely", by the upper end of an exact binomial interval."""
    return _frequent(law, factor, SAMPLES)


def frequent_again(law: Signs, factor: int = 1) -> Slack:
    """Return the slack of `frequent` for other samples, four times as many."""
    return _frequent(Signs(law.n, law.T, law.d, law.seed + 10_000), factor, 4 * SAMPLES)


COUNTED = probability(
    f"of part 1 of assumption 3.10, that all tokens are support vectors, {LETTERS}",
    NEARLY_ORTHOGONAL,
    floats=frequent,
    again=frequent_again,
)
