"""The letters of proofs about descent, and facts that hold for every data set and run.

Rivals are all tokens but the optimal one of each input. Rival j belongs to the input `OWNER(j)`,
has the score gamma_j, and the matrix A_j = (x_opt - x_j) z^T, so that its margin is m_j(W) = <A_j,
W>. Attention, outputs and the risk are terms that are written out from softmax. The step of descent
is written out from the derivative of the risk, which `derivative` computes.
"""

from __future__ import annotations

from attsvm.theory.proof.facts import K, Sequent, eq, ev, ge, gt, some
from attsvm.theory.proof.lemmas import continuous, falls, lipschitz_gradient
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
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
    substituted,
    total,
)

INPUT, RIVAL = Sort("input", index=True), Sort("rival", index=True)
i, j = Letter("i", INPUT), Letter("j", RIVAL)
_rival, _input = Letter("rival", RIVAL), Letter("input", INPUT)
OWNER = Function("input", (RIVAL,), INPUT)
"""The input of a rival."""
A = Function("A", (RIVAL,), VECTOR)
GAMMA, BEST = Function("gamma", (RIVAL,)), Function("best", (INPUT,))
"""The score of a rival, and that of the optimal token of an input."""
LOW, HIGH = Function("lowest")(), Function("highest")()
"""The lowest and the highest score of all tokens."""
LOSS, FALL = Function("l", (REAL,)), Function("fall", (REAL,))
W = Function("W", (STEP,), VECTOR)
RATE, SMOOTHNESS = Function("e")(), Function("L")()
"""The step, and the Lipschitz constant of the gradient of the risk."""
V = Function("V", (), VECTOR)()
"""The solution of the Att-SVM."""
X, M, x, t = Letter("X", VECTOR), Letter("M", VECTOR), Letter("x"), Letter("t")
off, bound = Letter("off", POSITIVE), Letter("b", POSITIVE)
NUMBER = total(1, i)
"""The number of inputs."""
FALLS = {LOSS: FALL}


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


def slope_of_risk() -> Term:
    """Return the derivative of the risk at W(k) along M."""
    along = derivative(risk(W(K) + M.term * t.term), t, FALLS)
    return substituted(along, {t: as_term(0)})


def descends() -> Sequent:
    """Return the fact <W(k + 1), M> = <W(k), M> - e dL(W(k)) along M, for every M."""
    present, after = W(K) @ M.term, W(K.term + 1) @ M.term
    return Sequent(eq(after, present - RATE * slope_of_risk()))


SETTING = {
    "descent takes the step e along the negative gradient of the risk": descends(),
    "the step is positive": Sequent(gt(RATE, 0)),
    "there is an input": Sequent(some(i)),
    "fall is the negative slope of the loss": Sequent(falls(LOSS, FALL)),
    "no score is below the lowest": Sequent(ge(GAMMA(j), LOW)),
    "no best score is below the lowest": Sequent(ge(BEST(i), LOW)),
    "no best score is above the highest": Sequent(ge(HIGH, BEST(i))),
}
"""Facts about every run that follow from the meaning of the letters."""


# hypotheses and conclusions as facts


def unique() -> list[Sequent]:
    """Return the fact that each rival has a lower score than the optimal token of its input."""
    return [Sequent(gt(BEST(OWNER(j)), GAMMA(j)))]


def several() -> list[Sequent]:
    """Return the fact that some input has two tokens: there is a rival."""
    return [Sequent(some(j))]


def smooth_loss() -> list[Sequent]:
    """Return the fact that the slope of the loss is continuous."""
    return [Sequent(continuous(FALL))]


def negative_slope() -> list[Sequent]:
    """Return the fact that l' is negative from the lowest to the highest score."""
    return [Sequent(gt(FALL(x), 0), frozenset({ge(x, LOW), ge(HIGH, x)}))]


def feasible() -> list[Sequent]:
    """Return the facts that V has margins of at least 1, and least norm among all such X."""
    margins = ge(least(margin(j.term, X.term), j), 1)
    return [
        Sequent(ge(margin(j.term, V), 1)),
        Sequent(ge(X.term @ X.term, V @ V), frozenset({margins})),
    ]


def basin() -> list[Sequent]:
    """Return the facts that some input has rivals, and that the start is in the basin.

    That is, the risk gap of the start is below (l(second) - l(best))/n for each such input.
    """
    threshold = (LOSS(second(OWNER(j))) - LOSS(BEST(OWNER(j)))) / NUMBER
    return [Sequent(gt(threshold, risk(W(0)) - INFIMUM)), *several()]


def short() -> list[Sequent]:
    """Return the facts that the gradient of the risk is L-Lipschitz, and the step at most 1/L."""
    return [
        Sequent(lipschitz_gradient(risk(X.term), SMOOTHNESS)),
        Sequent(ge(1, RATE * SMOOTHNESS)),
    ]


def direction(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claim that W(k)/||W(k)|| tends to V/||V||; None for another target.

    It says that both norms exceed 0 and that, for every off > 0, ||V|| ||W(k)|| <= (1 + off) <W(k),
    V> from some step on.
    """
    norms = NORM(V) * NORM(W(K))
    sequents = gt(NORM(V), 0), ev(gt(NORM(W(K)), 0)), ev(ge((1 + off.term) * (W(K) @ V), norms))
    return Said(tuple(map(Sequent, sequents)), SETTING) if towards == "optimal" else None


def divergence(**_: object) -> Said:
    """Return the claim ||W(k)|| -> infinity: for every b > 0 it exceeds b from some step on."""
    return Said((Sequent(ev(gt(NORM(W(K)), bound))),), SETTING)


def margins_diverge(of: str = "least", whose: str = "optimal", **_: object) -> Said | None:
    """Return the claim that the margin of every rival tends to infinity; None for other margins."""
    known = (of, whose) == ("least", "optimal")
    return Said((Sequent(ev(gt(margin(j.term, W(K)), bound))),), SETTING) if known else None


def selects(which: str = "optimal", **_: object) -> Said | None:
    """Return the claim that attention to optimal tokens tends to 1; None for other tokens."""
    text = Sequent(ev(ge(attention(i.term, W(K)), 1 - off.term)))
    return Said((text,), SETTING) if which == "optimal" else None


def settles(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claims of `divergence` and `selects`; None for other tokens."""
    result = selects(towards)
    return result and Said((*divergence().sequents, *result.sequents), SETTING)


def direction_and_divergence(towards: str = "optimal", **_: object) -> Said | None:
    """Return the claims of `direction` and `divergence`; None for another target."""
    result = direction(towards)
    return result and Said((*result.sequents, *divergence().sequents), SETTING)
