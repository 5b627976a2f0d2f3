"""The letters of proofs about descent, and facts that hold for every data set and run.

Rivals are all tokens but the optimal one of each input. Rival j belongs to the input `OWNER(j)`,
has the score gamma_j, and the matrix A_j = (x_opt - x_j) z^T, so that its margin is m_j(W) = <A_j,
W>. Attention, outputs and the risk are terms that are written out from softmax. The step of descent
is written out from the derivative of the risk, which `derivative` computes.

W may stand for the transpose of X, or for the matrix of which a prompt is the first column: see
`attsvm.primitives.descent`. If the loss is the sum over n inputs, e is n times the step on it.
"""

import functools
from collections.abc import Callable
from fractions import Fraction

from flint import fmpq

from attsvm.theory.proof.facts import K, Sequent, eq, ev, ge, gt, some
from attsvm.theory.proof.lemmas import continuous, falls, lipschitz_gradient
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    INV,
    LOG,
    NORM,
    POSITIVE,
    REAL,
    STEP,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    Term,
    as_term,
    derivative,
    least,
    most,
    same,
    substituted,
    total,
)

INPUT, RIVAL = Sort("input", index=True), Sort("rival", index=True)
i, peer, j, other = (
    *(Letter("i", INPUT), Letter("peer", INPUT)),
    *(Letter("j", RIVAL), Letter("other", RIVAL)),
)
_rival, _input = Letter("rival", RIVAL), Letter("input", INPUT)
OWNER = Function("input", (RIVAL,), INPUT)
"""The input of a rival."""
TWIN = Function("twin", (RIVAL,), RIVAL)
"""The other rival, if there are two."""
MATE = Function("mate", (RIVAL,), RIVAL)
"""The other rival of an input with two rivals, or the rival itself if its input has no other."""
RUNNER_UP = Function("runner-up", (RIVAL,), RIVAL)
"""A second-best token of the input of a rival, with margin 1 under V, if there is one."""
A = Function("A", (RIVAL,), VECTOR)
GAMMA, BEST = Function("gamma", (RIVAL,)), Function("best", (INPUT,))
"""The score of a rival, and that of the optimal token of an input."""
LEAST_SCORE = Function("least score", (INPUT,))
"""The least score of the tokens of an input."""
LOW, HIGH = Function("lowest")(), Function("highest")()
"""The lowest and the highest score of all tokens."""
LOSS, FALL = Function("l", (REAL,)), Function("fall", (REAL,))
W = Function("W", (STEP,), VECTOR)
COUNT = Function("k", (STEP,))
"""The number of a step, as a real."""
OTHER = Function("other", (RIVAL,))
"""1 for a rival that is no support vector of V, else 0."""
GRADIENT = Function("grad L", (VECTOR,), VECTOR)
"""The gradient of the risk at a matrix."""
RATE, SMOOTHNESS = Function("e")(), Function("L")()
"""The step, and the Lipschitz constant of the gradient of the risk."""
V = Function("V", (), VECTOR)()
"""The solution of the Att-SVM."""
WORD = Sort("word", index=True)
ASKED, NEXT = (Function(name, (INPUT,), WORD) for name in ("query word", "next word"))
WORD_OF, EMBEDDING = Function("word of", (RIVAL,), WORD), Function("e", (WORD,), VECTOR)
"""The word that a problem of a language asks with, its next word, the word of a rival, and the
embedding of a word."""
_word, _other_word = Letter("another word", WORD), Letter("word", WORD)
X, M, x, t = Letter("X", VECTOR), Letter("M", VECTOR), Letter("x"), Letter("t")
PRIME = Letter("X'", VECTOR)
y = Letter("y")
q, w = Letter("q", VECTOR), Letter("w", VECTOR)
off, bound = Letter("off", POSITIVE), Letter("b", POSITIVE)
NUMBER = total(1, i)
"""The number of inputs."""
FALLS = {LOSS: FALL}
HEAD = Function("head", (), VECTOR)()
"""A matrix whose margins are the leads gamma_o - gamma_j, if scores are linear in the tokens."""
LABEL, QUERY = Function("Y", (INPUT,)), Function("z", (INPUT,), VECTOR)
"""The label and the query of an input, if scores are those of labels and a head v."""
LIFT, SIDE = Function("v q^T", (VECTOR,), VECTOR), Function("q", (), VECTOR)()
"""The matrix v q^T for a vector q, and the q with Y_i <z_i, q> > 0 for all i."""

OPTIMAL, TOKEN = Function("x_opt", (INPUT,), VECTOR), Function("x", (RIVAL,), VECTOR)
"""The optimal token of an input, and a rival."""
OUTER = Function("w q^T", (VECTOR, VECTOR), VECTOR)
"""The matrix w q^T for vectors w and q."""
DUAL = Function("q", (INPUT,), VECTOR)
"""The q with <q, z> = 1 for the query z of the input, and 0 for those of the others."""


def margin(j: Term, W: Term) -> Term:
    """Return the margin of a rival at a matrix."""
    return A(j) @ W


def attention(i: Term, W: Term) -> Term:
    """Return the attention of an input to its optimal token: 1 / (1 + sum of exp(-margins))."""
    return INV(1 + total(EXP(-margin(_rival.term, W)), _rival, Over(OWNER, i)))


def output(i: Term, W: Term) -> Term:
    """Return the score of an input: the mean of its tokens' scores by attention."""
    others = total(EXP(-margin(_rival.term, W)) * GAMMA(_rival.term), _rival, Over(OWNER, i))
    return attention(i, W) * (BEST(i) + others)


def risk(W: Term) -> Term:
    """Return the mean loss of the inputs."""
    return total(LOSS(output(_input.term, W)), _input) * INV(NUMBER)


INFIMUM = total(LOSS(BEST(i.term)), i) * INV(NUMBER)
"""The mean loss of the best scores."""


def second(i: Term) -> Term:
    """Return the second-best score of an input that has rivals."""
    return most(GAMMA(_rival.term), _rival, Over(OWNER, i))


def slope_of_risk(point: Term | None = None) -> Term:
    """Return the derivative of the risk along M at a matrix, by default W(k)."""
    start = W(K) if point is None else point
    along = derivative(risk(start + M.term * t.term), t, FALLS)
    return substituted(along, {t: as_term(0)})


def descends() -> Sequent:
    """Return the fact <W(k + 1), M> = <W(k), M> - e dL(W(k)) along M, for every M."""
    present, after = W(K) @ M.term, W(K.term + 1) @ M.term
    return Sequent(eq(after, present - RATE * slope_of_risk()))


def climbs() -> Sequent:
    """Return the fact <W(k + 1), M> = <W(k), M> + e dL(W(k)) along M, for every M."""
    present, after = W(K) @ M.term, W(K.term + 1) @ M.term
    return Sequent(eq(after, present + RATE * slope_of_risk()))


def is_gradient() -> Sequent:
    """Return the fact that <grad L(X), M> is the derivative of the risk along M, for every M."""
    return Sequent(eq(GRADIENT(X) @ M.term, slope_of_risk(X.term)))


SETTING = {
    "descent takes the step e along the negative gradient of the risk": descends(),
    "the gradient has the slope of the risk along every matrix": is_gradient(),
    "the step is positive": Sequent(gt(RATE, 0)),
    "there is an input": Sequent(some(i)),
    "rivals are the same or not": Sequent(eq(same(other, j) ** 2, same(other, j))),
    "fall is the negative slope of the loss": Sequent(falls(LOSS, FALL)),
    "no score is below the lowest": Sequent(ge(GAMMA(j), LOW)),
    "no best score is below the lowest": Sequent(ge(BEST(i), LOW)),
    "no best score is above the highest": Sequent(ge(HIGH, BEST(i))),
    "no score is above the best of its input": Sequent(ge(BEST(OWNER(j)), GAMMA(j))),
    "A_j has the product <x_opt - x_j, w> <z, q> with w q^T": Sequent(
        eq(
            A(j) @ OUTER(w, q),
            ((OPTIMAL(OWNER(j)) - TOKEN(j)) @ w.term) * (QUERY(OWNER(j)) @ q.term),
        )
    ),
}
"""Facts about every run that follow from the meaning of the letters."""


DOWN = "descent takes the step e along the negative gradient of the risk"
UP = "descent on 1 - l takes the step e along the gradient of the risk"
RISING = {UP: climbs(), **{words: fact for words, fact in SETTING.items() if words != DOWN}}
"""Facts about every run on g(u) in the letters of the loss l = g(-u), which is 1 - g(u)."""
LN_K = LOG(COUNT(K))
TIMED = {
    **SETTING,
    "the first step has the number 0": Sequent(eq(COUNT(0), 0)),
    "each step has the next number": Sequent(eq(COUNT(K.term + 1), COUNT(K) + 1)),
    "k is the exponential of ln k, from k = 1 on": Sequent(ev(eq(EXP(LN_K), COUNT(K)))),
}
"""Facts about every run that speaks of ln k, which has no meaning at k = 0."""
MULTIPLE, GAP, RANGE = Function("r")(), Function("gap")(), Function("range", (INPUT,))
FLAT, STEEP = Function("least steep")(), Function("steepest")()
"""The start over V; the least lead of a best score over a lower one, 1 if there is none; the range
of the scores of an input. At the scores `FLAT` and `STEEP` -l' is least and largest."""
_ON_SCORES = frozenset({ge(x, LOW), ge(HIGH, x)})
PROPER = {
    "the start is r V": Sequent(eq(W(0) @ M.term, MULTIPLE * (V @ M.term))),
    "r is at least 1": Sequent(ge(MULTIPLE, 1)),
    "exp(r - 1) min |l'| gap is at least max |l'| times the sum of ranges over rivals": Sequent(
        ge(EXP(MULTIPLE - 1) * FALL(FLAT) * GAP, FALL(STEEP) * total(RANGE(OWNER(j)), j))
    ),
    "no positive lead is below the gap": Sequent(
        ge(BEST(OWNER(j)) - GAMMA(j), GAP), frozenset({gt(BEST(OWNER(j)) - GAMMA(j), 0)})
    ),
    "the gap is positive": Sequent(gt(GAP, 0)),
    "no lead is above the range": Sequent(ge(RANGE(OWNER(j)), BEST(OWNER(j)) - GAMMA(j))),
    "the score of least |l'| is at least the lowest": Sequent(ge(FLAT, LOW)),
    "it is at most the highest": Sequent(ge(HIGH, FLAT)),
    "no |l'| between the scores is less": Sequent(ge(FALL(x), FALL(FLAT)), _ON_SCORES),
    "no |l'| between the scores is above the largest": Sequent(
        ge(FALL(STEEP), FALL(x)), _ON_SCORES
    ),
}
"""Facts about the start r V with r = 1 + max(0, ln [M sum_i (T_i - 1) range_i / (m gap)])."""


# hypotheses and conclusions as facts


def unique() -> list[Sequent]:
    """Return the fact that each rival has a lower score than the optimal token of its input."""
    return [Sequent(gt(BEST(OWNER(j)), GAMMA(j)))]


def several() -> list[Sequent]:
    """Return the fact that some input has two tokens: there is a rival."""
    return [Sequent(some(j))]


def lead(j: Term) -> Term:
    """Return how far the score of a rival is below that of the optimal token of its input."""
    return BEST(OWNER(j)) - GAMMA(j)


def two_scores() -> list[Sequent]:
    """Return the facts that some rival has a lower score than its optimal token.

    No lead is negative, so that their sum is positive if one of them is.
    """
    return [Sequent(gt(total(lead(j.term), j), 0)), *several()]


def tight() -> list[Sequent]:
    """Return the fact that V has the margin 1 at every rival."""
    return [Sequent(eq(margin(j.term, V), 1))]


def tight_or_level() -> list[Sequent]:
    """Return the fact that all margins of V are 1, or the rivals of each input have the same score.

    For every rival j and every other rival, of any input: one of two factors is 0.
    """
    level = second(OWNER(other)) - GAMMA(other)
    return [Sequent(eq((margin(j.term, V) - 1) * level, 0))]


def level() -> list[Sequent]:
    """Return the fact that all rivals of an input have the second-best score."""
    return [Sequent(eq(second(OWNER(j)), GAMMA(j)))]


def aligned() -> list[Sequent]:
    """Return the fact <A_r, A_j> >= 0 for rivals r and j of different inputs."""
    apart = 1 - same(OWNER(other), OWNER(j))
    return [Sequent(ge(apart * (A(other) @ A(j)), 0))]


def one_input() -> list[Sequent]:
    """Return the fact that any two inputs are the same."""
    return [Sequent(eq(same(i, peer), 1))]


def one_pair() -> list[Sequent]:
    """Return the facts that any two inputs, and any two rivals, are the same, and there is one."""
    return [*one_input(), Sequent(eq(same(other, j), 1)), *several()]


def pairs() -> list[Sequent]:
    """Return the facts that rivals of one input are the same, and that no input has two."""
    alike = eq(same(OWNER(other), OWNER(j)), same(other, j))
    return [Sequent(alike), Sequent(ge(1, total(1, _rival, Over(OWNER, i.term))))]


def two_pairs() -> list[Sequent]:
    """Return the facts that there are two rivals, of different inputs: any one and its twin."""
    twins = eq(same(j, other) + same(j, TWIN(other)), 1)
    return [Sequent(twins), Sequent(eq(same(OWNER(other), OWNER(j)), same(other, j))), *several()]


def three_tokens() -> list[Sequent]:
    """Return the fact that each input has at most two rivals: any one and its mate."""
    others = (1 - same(j, other)) * (1 - same(j, MATE(other)))
    return [Sequent(eq(same(OWNER(j), OWNER(other)) * others, 0))]


def second_supports() -> list[Sequent]:
    """Return `feasible`, and that a second-best token of each input has margin 1 under V."""
    best = RUNNER_UP(j)
    return [
        *feasible(),
        Sequent(eq(same(OWNER(best), OWNER(j)), 1)),
        Sequent(ge(GAMMA(best), GAMMA(j))),
        Sequent(eq(margin(best, V), 1)),
    ]


def scores_shared() -> list[Sequent]:
    """Return the facts that all optimal tokens have one score, and all rivals one lower score."""
    return [
        Sequent(eq(BEST(i), BEST(peer))),
        Sequent(eq(GAMMA(j), GAMMA(other))),
        *unique(),
    ]


def zero_start() -> list[Sequent]:
    """Return the fact that the start is zero."""
    return [Sequent(eq(W(0) @ M.term, 0))]


def words() -> list[Sequent]:
    """Return the facts that tokens are orthonormal and form the whole vocabulary.

    Products of embeddings are 0 or 1. The optimal token is the next word, and all others score 0.
    """
    one, another = EMBEDDING(_word), EMBEDDING(_other_word)
    apart = [EMBEDDING(NEXT(OWNER(k))) - EMBEDDING(WORD_OF(k)) for k in (other, j)]
    asked = [EMBEDDING(ASKED(OWNER(k))) for k in (other, j)]
    following = EMBEDDING(NEXT(OWNER(j)))
    texts = (
        *(eq(one @ one, 1), eq((one @ another) ** 2, one @ another)),
        eq(A(other) @ A(j), (apart[0] @ apart[1]) * (asked[0] @ asked[1])),
        *(eq(following @ EMBEDDING(WORD_OF(j)), 0), eq(GAMMA(j), 0), eq(BEST(i), 1)),
    )
    return list(map(Sequent, texts))


def one_successor() -> list[Sequent]:
    """Return that problems of one query have one next word, if products are 0 or 1.

    That is, if queries and next words have length 1, and the product of the queries is 0 or 1.
    """
    asked, following = (EMBEDDING(f(i)) @ EMBEDDING(f(peer)) for f in (ASKED, NEXT))
    words = (EMBEDDING(f(k)) for f in (ASKED, NEXT) for k in (i, peer))
    orthonormal = {eq(asked**2, asked), *(eq(word @ word, 1) for word in words)}
    return [Sequent(eq(asked * (1 - following), 0), frozenset(orthonormal))]


def raised(of: str = "least", sign: int = 1, loss: object = "logistic-loss") -> Said | None:
    """Return the claim <A_j, -grad L> > 0 for every rival j; None for another margin or loss."""
    along = -substituted(slope_of_risk(), {M: A(j)})
    known = (of, sign, loss) == ("least", 1, "logistic-loss")
    return Said((Sequent(gt(along, 0)),), SETTING) if known else None


def linear_keys() -> list[Sequent]:
    """Return the fact that the margins of some matrix are the leads of scores."""
    return [Sequent(eq(margin(j.term, HEAD), lead(j.term)))]


def linear_head() -> list[Sequent]:
    """Return the fact that v q^T has the margins Y_i <z_i, q> (gamma_o - gamma_j), for every q."""
    along = LABEL(OWNER(j)) * (QUERY(OWNER(j)) @ q.term)
    return [Sequent(eq(margin(j.term, LIFT(q)), along * lead(j.term)))]


def one_side() -> list[Sequent]:
    """Return the fact that Y_i <z_i, q> > 0 for all i and some q."""
    return [Sequent(gt(LABEL(i) * (QUERY(i) @ SIDE), 0))]


def independent_queries() -> list[Sequent]:
    """Return `one_side`, and that each query has some q with product 1, and 0 with all others."""
    return [*one_side(), Sequent(eq(DUAL(i) @ QUERY(peer), same(i, peer)))]


def smooth_loss() -> list[Sequent]:
    """Return the fact that the slope of the loss is continuous."""
    return [Sequent(continuous(FALL))]


def decreasing_loss() -> list[Sequent]:
    """Return the fact that l does not rise from the lowest to the highest score."""
    ordered = frozenset({ge(y, x), ge(x, LOW), ge(HIGH, y)})
    return [Sequent(ge(LOSS(x), LOSS(y)), ordered)]


def falling_at_best() -> list[Sequent]:
    """Return the fact that l' is negative at the best score of every input."""
    return [Sequent(gt(FALL(BEST(i)), 0))]


def convex_loss() -> list[Sequent]:
    """Return the fact that -l' does not rise."""
    return [Sequent(ge(FALL(x), FALL(y)), frozenset({ge(y, x)}))]


def negative_slope() -> list[Sequent]:
    """Return the fact that l' is negative from the lowest to the highest score."""
    return [Sequent(gt(FALL(x), 0), frozenset({ge(x, LOW), ge(HIGH, x)}))]


def falling_loss() -> list[Sequent]:
    """Return the fact that l' is negative everywhere."""
    return [Sequent(gt(FALL(x), 0))]


def feasible() -> list[Sequent]:
    """Return the facts that V has margins of at least 1, and least norm among all such X."""
    margins = ge(least(margin(j.term, X.term), j), 1)
    return [
        Sequent(ge(margin(j.term, V), 1)),
        Sequent(ge(X.term @ X.term, V @ V), frozenset({margins})),
    ]


def basin() -> list[Sequent]:
    """Return the facts that some input has rivals, and that the start is in the basin.

    That is, the risk gap of the start is below (l(second) - l(best))/n for each such input. If
    optimal tokens are tied, the best rival has no lower score: this says more than the hypothesis.
    So proofs take it together with `unique`.
    """
    threshold = (LOSS(second(OWNER(j))) - LOSS(BEST(OWNER(j)))) / NUMBER
    return [Sequent(gt(threshold, risk(W(0)) - INFIMUM)), *several()]


def short() -> list[Sequent]:
    """Return the facts that the gradient of the risk is L-Lipschitz, and the step at most 1/L."""
    apart = NORM(GRADIENT(X) - GRADIENT(PRIME))
    return [
        Sequent(lipschitz_gradient(risk(X.term), X, SMOOTHNESS)),
        Sequent(ge(1, RATE * SMOOTHNESS)),
        Sequent(ge(SMOOTHNESS * NORM(X.term - PRIME.term), apart)),
    ]


def gain(strict: bool = False, loss: object = "logistic-loss") -> Said | None:
    """Return that a step moves W along V by at least 1/n sum_i -l'(u_i) s_o (gamma_o - u_i).

    More exactly, the derivative of the risk along V is at most minus that, at any W; if `strict`,
    it is below 0. For losses that do not fall with the score nothing is declared.
    """
    u, s_o = output(i.term, W(K)), attention(i.term, W(K))
    along = -substituted(slope_of_risk(), {M: V})
    toward = total(FALL(u) * s_o * (BEST(i) - u), i) * INV(NUMBER)
    text = gt(along, 0) if strict else ge(along, toward)
    return Said((Sequent(text),), SETTING) if loss == "logistic-loss" else None


def lowered(alike: bool = False, loss: object = "logistic-loss") -> Said | None:
    """Return the claim <A_j, -grad L> >= -(1 - 1/n)/4 max_i w_i max_j ||A_j||^2 for every rival j.

    w_i is -l'(u_i) times the range of the scores of input i.
    """
    along = -substituted(slope_of_risk(), {M: A(j)})
    w = FALL(output(i.term, W(K))) * (BEST(i) - LEAST_SCORE(i))
    whole = most(w, i) * most(A(_rival.term) @ A(_rival.term), _rival)
    known = {
        **SETTING,
        "no rival scores less than the least score": Sequent(ge(GAMMA(j), LEAST_SCORE(OWNER(j)))),
    }
    text = ge(along, -(1 - INV(NUMBER)) * whole / 4)
    return Said((Sequent(text),), known) if (alike, loss) == (False, "logistic-loss") else None


def of_falling(says: Callable[..., Said | None]) -> Callable[..., Said | None]:
    """Return claims about a loss that falls: nothing is declared for g(u), which rises.

    Letters of a run on g(u) are those of g(-u), and tokens of least score take the place of best.
    """

    @functools.wraps(says)
    def declared(*args: object, loss: object = "logistic-loss", **constants: object) -> Said | None:
        return None if loss == "logistic" else says(*args, **constants)

    return declared


@of_falling
def direction(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claim that W(k)/||W(k)|| tends to V/||V||; None for another target.

    It says that both norms exceed 0 and that, for every off > 0, ||V|| ||W(k)|| <= (1 + off) <W(k),
    V> from some step on.
    """
    norms = NORM(V) * NORM(W(K))
    sequents = gt(NORM(V), 0), ev(gt(NORM(W(K)), 0)), ev(ge((1 + off.term) * (W(K) @ V), norms))
    return Said(tuple(map(Sequent, sequents)), SETTING) if towards == "optimal" else None


def transposed(
    towards: str = "optimal", side: str = "X(k)^T", loss: object = "logistic-loss"
) -> Said | None:
    """Return the claim of `direction` for W = X^T; None for X itself, or for another loss."""
    known = (side, loss) == ("X(k)^T", "logistic-loss")
    return direction(towards) if known else None


def divergence(loss: object = "logistic-loss", **_: object) -> Said:
    """Return the claim ||W(k)|| -> infinity: for every b > 0 it exceeds b from some step on.

    If the loss is g(u), letters are of g(-u): see `RISING`.
    """
    known = RISING if loss == "logistic" else SETTING
    return Said((Sequent(ev(gt(NORM(W(K)), bound))),), known)


def _grows(term: Term, like: Term) -> Said:
    """Return the claim term/ln k -> like: in the end both are at most 1 + off times each other."""
    more, whole = 1 + off.term, like * LN_K
    sequents = ev(ge(more * term, whole)), ev(ge(more * whole, term))
    return Said(tuple(map(Sequent, sequents)), TIMED)


@of_falling
def rate(share: object = 1, **_: object) -> Said | None:
    """Return the claim ||W(k)||/ln k -> ||V||; None for a share of it."""
    return _grows(NORM(W(K)), NORM(V)) if share == 1 else None


@of_falling
def slope(share: object = 1, **_: object) -> Said | None:
    """Return the claim min_j m_j/ln k -> 1; None for another limit."""
    return _grows(least(margin(_rival.term, W(K)), _rival), as_term(1)) if share == 1 else None


def size(j: Term) -> Term:
    """Return the size of a rival's coefficient in the gradient: that of -l'(u) s_j (u - gamma_j)/n.

    It is the derivative of the risk by the logit of the rival, up to the sign.
    """
    u, s = output(OWNER(j), W(K)), attention(OWNER(j), W(K)) * EXP(-margin(j, W(K)))
    return ABS(FALL(u) * s * (u - GAMMA(j)) * INV(NUMBER))


def sizes() -> Term:
    """Return the sum of the sizes for all rivals and for the optimal tokens."""
    u, s_o = output(i.term, W(K)), attention(i.term, W(K))
    return total(size(j.term), j) + total(ABS(FALL(u) * s_o * (BEST(i) - u) * INV(NUMBER)), i)


@of_falling
def fades(which: str = "others", **_: object) -> Said | None:
    """Return that the share of all rivals of margins above 1 in the sizes tends to 0."""
    far, known = gt(margin(j.term, V), 1), dict(TIMED)
    known["OTHER is 1 if a margin is above 1"] = Sequent(eq(OTHER(j), 1), frozenset({far}))
    known["else it is 0"] = Sequent(eq(OTHER(j), 0), frozenset({far.denied()}))
    share = ev(ge(off.term * sizes(), total(OTHER(j) * size(j.term), j)))
    texts = gt(sizes(), 0), share
    return Said(tuple(map(Sequent, texts)), known) if which == "others" else None


@of_falling
def falls_like(share: object = 1, less: int = 1, **_: object) -> Said | None:
    """Return the claim ln c_j/ln k -> -(m_j - 1): c_j is the share of a rival, m_j = <A_j, V>."""
    steep, flat = (
        EXP(-(margin(j.term, V) - 1 + sign * off.term) * LN_K) * sizes() for sign in (1, -1)
    )
    texts = gt(sizes(), 0), ev(ge(size(j.term), steep)), ev(ge(flat, size(j.term)))
    return Said(tuple(map(Sequent, texts)), TIMED) if (share, less) == (1, 1) else None


@of_falling
def margins_diverge(of: str = "least", whose: str = "optimal", **_: object) -> Said | None:
    """Return the claim that the margin of every rival tends to infinity; None for other margins."""
    known = (of, whose) == ("least", "optimal")
    return Said((Sequent(ev(gt(margin(j.term, W(K)), bound))),), SETTING) if known else None


@of_falling
def selects(which: str = "optimal", **_: object) -> Said | None:
    """Return the claim that attention to optimal tokens tends to 1; None for other tokens."""
    text = Sequent(ev(ge(attention(i.term, W(K)), 1 - off.term)))
    return Said((text,), SETTING) if which == "optimal" else None


@of_falling
def settles(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claims of `divergence` and `selects`; None for other tokens."""
    result = selects(towards)
    return result and Said((*divergence().sequents, *result.sequents), SETTING)


@of_falling
def direction_and_divergence(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claims of `direction` and `divergence`; None for another target."""
    result = direction(towards)
    return result and Said((*result.sequents, *divergence().sequents), SETTING)


def not_stationary(**_: object) -> Said:
    """Return the claim that the gradient at W(0) is not 0."""
    return Said((Sequent(gt(NORM(GRADIENT(W(0))), 0)),), SETTING)


def bounded_below(share: object = 1) -> Said:
    """Return the claim share D <= ||grad L(W)|| ||V|| at W(0).

    D is the mean of -l'(u_i) s_o sum_j s_j (gamma_o - gamma_j).
    """
    u, s_o = output(i.term, W(0)), attention(i.term, W(0))
    s = s_o * EXP(-margin(_rival.term, W(0)))
    lost = total(s * (BEST(i) - GAMMA(_rival.term)), _rival, Over(OWNER, i.term))
    mean, ratio = total(FALL(u) * s_o * lost, i) * INV(NUMBER), Fraction(str(share))
    bound = mean * fmpq(ratio.numerator, ratio.denominator)
    return Said((Sequent(ge(NORM(GRADIENT(W(0))) * NORM(V), bound)),), SETTING)


def solvable(**_: object) -> Said:
    """Return the claim that V exists, so that 1/||V|| > 0, if there is a rival.

    It exists if its margins are at least 1. Without a matrix with such margins, V is 0, and so is
    1/||V||.
    """
    met = frozenset({ge(least(margin(_rival.term, X.term), _rival), 1)})
    known = {
        "V has margins of at least 1 if some matrix has": Sequent(ge(margin(j.term, V), 1), met)
    }
    claims = ge(margin(j.term, V), 1), gt(INV(NORM(V)), 0)
    return Said(tuple(Sequent(x, frozenset({some(j)})) for x in claims), known)
