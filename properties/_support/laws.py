"""Random data of a given dimension: exact probabilities, and counts in samples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from attsvm._types import Array, Bool, Float, Int
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.language import Language
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.hypotheses import all_tight, unique_optimum
from attsvm.primitives.sentences import Sentences
from attsvm.strategies import composite, sizes
from attsvm.theory import Hypothesis
from attsvm.theory.types import Values

if TYPE_CHECKING:
    import sympy as sp

SEVERAL = Hypothesis("T is at least 2", lambda law: law.T >= 2)
RISK = 5e-10
"""Error probability of each end of an interval that decides a claim."""

FINE = 1e6
"""Maximum condition number, and maximum ratio of the largest to the smallest weight, at which float
signs are trusted."""


@dataclass(frozen=True, slots=True)
class Signs:
    """n inputs of T tokens in R^d, and queries; all entries are independent fair signs.

    Scores are by the head (1, .., 1); `seed` is the seed of samples.
    """

    n: int
    T: int
    d: int
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.n, self.T, self.d) < 1:
            raise DataError("a size is below 1", value=(self.n, self.T, self.d))


def equal_scores(law: Signs) -> Fraction:
    """Return the exact probability of part 2 of assumption 3.10 with unique optimal tokens.

    The T scores of an input are 2 s_t - d, or all of them negated, with independent binomial s_t.
    One s_t is the largest and all others are equal with probability T sum_s P(S = s)^(T - 1) P(S >
    s). Inputs are independent, so the result is the n-th power of this.
    """
    if law.T == 1:
        return Fraction(1)
    ways = list(
        itertools.accumulate(range(law.d), lambda w, s: w * (law.d - s) // (s + 1), initial=1)
    )
    above = [0, *itertools.accumulate(reversed(ways[1:]))][::-1]
    count = law.T * sum(w ** (law.T - 1) * a for w, a in zip(ways, above, strict=True))
    return Fraction(count, 2 ** (law.d * law.T)) ** law.n


def drawn(law: Signs, generator: np.random.Generator) -> AttentionData:
    """Return one data set of this law; its first tokens get the best scores."""
    X, Z = (
        2.0 * generator.integers(0, 2, size=s) - 1.0
        for s in ((law.n, law.T, law.d), (law.n, law.d))
    )
    return AttentionData(X, Z, scores=np.eye(1, law.T) * np.ones((law.n, 1)))


def support(data: AttentionData, alphas: Int[Array, "a n"]) -> Bool[Array, " a"]:
    """Return, for each choice, whether W^mm(alpha) exists with all tokens as support vectors."""
    tight: Array = supports(data.X[None], data.Z[None], alphas)[0]
    return tight


def supports(
    X: Float[Array, "s n T d"], Z: Float[Array, "s n d"], alphas: Int[Array, "a n"]
) -> Bool[Array, "s a"]:
    """Return `support` for many sets of tokens and queries.

    If the constraints are independent, all tokens are support vectors exactly if no entry of G^-1 1
    is negative, where G is their Gram matrix. Floats decide the signs if G is well conditioned and
    no entry is near 0; otherwise rationals decide.
    """
    (_, n, T, d), rows = X.shape, np.arange(X.shape[1])
    others = np.array([[[t for t in range(T) if t != a] for a in alpha] for alpha in alphas])
    D = X[:, rows, alphas][:, :, :, None] - X[:, rows[:, None], others]
    D = D.reshape(*D.shape[:2], n * (T - 1), d)
    queries = np.repeat(Z, T - 1, axis=1)
    G = (D @ D.mT) * (queries @ queries.mT)[:, None]
    fine = np.linalg.cond(G) < FINE
    w = np.zeros(G.shape[:3])
    w[fine] = np.linalg.solve(G[fine], np.ones((G.shape[2], 1)))[..., 0]
    sure = fine & (np.abs(w).min(axis=2) > np.abs(w).max(axis=2) / FINE)
    tight: Array = sure & (w.min(axis=2) > 0.0)
    for s, k in np.argwhere(~sure):
        data = AttentionData(X[s], Z[s], scores=np.zeros((n, T)))
        answer = exact_att_svm(data, alphas[k])
        tight[s, k] = answer is not None and answer.all_tight
    return tight


def counted(law: Signs, samples: int) -> int:
    """Return the number of samples in which the first tokens meet part 1 of assumption 3.10."""
    generator = np.random.default_rng([law.seed, law.n, law.T, law.d])
    first = np.zeros((1, law.n), dtype=np.int64)
    return sum(bool(support(drawn(law, generator), first)[0]) for _ in range(samples))


@dataclass(frozen=True, slots=True)
class RandomSentences:
    """m sentences of n tokens of a language whose tokens are orthonormal in R^d.

    Any token may be the first; `follow` has the weights of successors. Attention chooses among the
    whole vocabulary.

    Raises:
        DataError: `Language` rejects the weights, the vocabulary exceeds d, m < 1, or n < 2.
    """

    follow: Int[Array, "V V"]
    m: int
    n: int
    d: int

    def __post_init__(self) -> None:
        sizes = (self.language.size, self.m, self.n, self.d)
        if min(self.d - sizes[0], self.m - 1, self.n - 2) < 0:
            raise DataError("the data are no sentences of orthonormal tokens", value=sizes)

    @property
    def language(self) -> Language:
        """The language, in coordinates of the span of its tokens."""
        V = len(self.follow)
        return Language(np.ones(V, dtype=np.int64), self.follow, np.eye(V))


def spoken(law: RandomSentences) -> list[tuple[list[int], Fraction]]:
    """Return the possible sentences of the language with their probabilities."""
    texts = [list(text) for text in itertools.product(range(len(law.follow)), repeat=law.n)]
    chances = [law.language.probability(text) for text in texts]
    return [(text, chance) for text, chance in zip(texts, chances, strict=True) if chance > 0]


def part_1_probability(law: RandomSentences) -> Fraction:
    """Return the exact probability of part 1 of assumption 3.10 with unique optimal tokens."""
    language = law.language
    total, known = Fraction(0), dict[frozenset[tuple[int, int]], bool]()
    for chosen in itertools.product(spoken(law), repeat=law.m):
        sentences = [text for text, _ in chosen]
        pairs = frozenset(p for text in sentences for p in itertools.pairwise(text))
        if pairs not in known:  # problems that repeat constrain nothing
            data = Sentences(language.embeddings, np.array(sentences), True).data
            known[pairs] = unique_optimum(data) and all_tight(data)
        chance = Fraction(1)
        for _, part in chosen:
            chance *= part
        total += chance * known[pairs]
    return total


@composite
def signs(draw: st.DrawFn, d: tuple[int, int] = (1, 64), T: tuple[int, int] = (1, 4)) -> Signs:
    """Draw small numbers of inputs and tokens, with dimensions in the range d."""
    return Signs(draw(sizes(1, 3)), draw(sizes(*T)), draw(sizes(*d)), draw(sizes(0, 99)))


@composite
def random_sentences(draw: st.DrawFn) -> RandomSentences:
    """Draw languages of two tokens, with up to three sentences, in R^1000 and more."""
    follow = [[draw(sizes(0, 3)), draw(sizes(1, 3))] for _ in range(2)]
    return RandomSentences(
        np.array(follow), draw(sizes(1, 3)), draw(sizes(2, 3)), draw(sizes(1000, 4000))
    )


@composite
def nearly_orthogonal(draw: st.DrawFn) -> AttentionData:
    """Draw tokens and queries from rows of a Hadamard matrix, with a few signs flipped.

    At most d/(10 (T - 1)) signs are flipped, so that the rows stay nearly orthogonal.
    """
    n, T, d = draw(sizes(1, 3)), draw(st.sampled_from((3, 4, 2, 1))), 2 ** draw(sizes(4, 6))
    H = np.ones((1, 1))
    while len(H) < d:
        H = np.block([[H, H], [H, -H]])
    tokens, queries = H[1 : n * T + 1].copy(), H[d - n :].copy()
    for _ in range(draw(sizes(0, d // (10 * max(T - 1, 1))))):
        row, place = draw(sizes(0, n * T - 1)), draw(sizes(0, d - 1))
        tokens[row, place] *= -1.0
    best = [draw(sizes(0, T - 1)) for _ in range(n)]
    return AttentionData(tokens.reshape(n, T, d), queries, scores=np.eye(T)[best])


def near_enough(n: sp.Expr, k: sp.Expr) -> sp.Expr:
    """Return e = 1/(2 k + 2 sqrt(k (k + n - 1))), for which `disturbance(n, k, e)` is 1."""
    return 1 / (2 * k + 2 * (k * (k + n - 1)) ** Fraction(1, 2))


def twice_the_pairs(n: sp.Expr, T: sp.Expr) -> sp.Expr:
    """Return twice the number of pairs of tokens and of queries: n T (n T - 1) + n (n - 1)."""
    return n * T * (n * T - 1) + n * (n - 1)


NEARLY_ORTHOGONAL = r"1 - M \exp\left(-\frac{$factor d e^2}{2}\right)"

LETTERS = "M = n T (n T - 1) + n (n - 1), e = 1/(2 k + 2 sqrt(k (k + n - 1))), k = T - 1"


def least_chance(law: Values, factor: int) -> float:
    """Return 1 - M exp(-factor d e^2/2)."""
    exponent = factor * law.d * near_enough(float(law.n), law.T - 1) ** 2 / 2
    return float(1.0 - twice_the_pairs(law.n, law.T) * np.exp(-exponent))
