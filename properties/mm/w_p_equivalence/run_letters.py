"""The letters of the proof on two runs: one moves W, with the prompt W_k p, and one a prompt r_k.

All vectors are d x d matrices. D_j has the difference of a chosen token of an input and another
token j as its first column, and else 0. P is a matrix of first row p^T with P P^T = ||p||^2 I, and
F(Y) = Y P, so that <F(Y), W> = <Y, W P^T>, and W P^T has the first column W p.

The other run trains the first column of b. If it trains q, G(Y) = Y, and b(0) = W_0 P^T. If it
trains p, G(Y) = W_0^T Y, b(0) = P^T, and W_0 b(k) has the first column W_0 p_k. So both runs have
the attention of `descent_letters` with the margins <F(D_j), W> and <G(D_j), b>.
"""

from collections.abc import Callable

from attsvm.primitives.descent_letters import (
    BEST,
    FALL,
    FALLS,
    GAMMA,
    LOSS,
    NUMBER,
    OWNER,
    RATE,
    RIVAL,
    M,
    W,
    i,
    t,
)
from attsvm.theory.proof.facts import K, Sequent, eq
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    EXP,
    INV,
    STEP,
    VECTOR,
    Function,
    Letter,
    Over,
    Term,
    as_term,
    derivative,
    substituted,
    total,
)

D = Function("D", (RIVAL,), VECTOR)
F, G = (Function(name, (VECTOR,), VECTOR) for name in "FG")
OTHER = Function("b", (STEP,), VECTOR)
"""The trained prompt of the other run."""
SCALE, PACE, OTHER_RATE = Function("||p||^2")(), Function("c")(), Function("e'")()
"""<F(Y), F(Z)> = ||p||^2 <Y, Z> and <G(Y), G(Z)> = c <Y, Z>; the step of the other run."""
y, z, r = Letter("y", VECTOR), Letter("z", VECTOR), Letter("r", RIVAL)
Margins = Callable[[Letter], Term]
"""A number for each rival."""


def share(m: Margins, i: Term) -> Term:
    """Return the attention of an input to its chosen token, by the margins of rivals."""
    return INV(1 + total(EXP(-m(r)), r, Over(OWNER, i)))


def mean(m: Margins, i: Term) -> Term:
    """Return the score of an input, the mean of scores by attention."""
    return share(m, i) * (BEST(i) + total(EXP(-m(r)) * GAMMA(r), r, Over(OWNER, i)))


def pull(m: Margins, j: Letter) -> Term:
    """Return the coefficient of a rival in the negative gradient of the risk."""
    u = mean(m, OWNER(j))
    return FALL(u) * share(m, OWNER(j)) * EXP(-m(j)) * (u - GAMMA(j)) * INV(NUMBER)


def slope(m: Margins, along: Margins) -> Term:
    """Return the derivative of the risk as margins m change by t times other numbers."""
    moved = mean(lambda r: m(r) + t.term * along(r), i.term)
    risk = total(LOSS(moved), i) * INV(NUMBER)
    return substituted(derivative(risk, t, FALLS), {t: as_term(0)})


def of_weights(M: Term) -> Margins:
    """Return <F(D_j), M>."""
    return lambda j: F(D(j)) @ M


def of_prompt(M: Term) -> Margins:
    """Return <G(D_j), M>."""
    return lambda j: G(D(j)) @ M


SETTING = {
    "descent on W takes the step e": Sequent(
        eq(
            W(K.term + 1) @ M.term,
            W(K) @ M.term - RATE * slope(of_weights(W(K)), of_weights(M.term)),
        )
    ),
    "descent on the prompt takes the step e'": Sequent(
        eq(
            OTHER(K.term + 1) @ M.term,
            OTHER(K) @ M.term - OTHER_RATE * slope(of_prompt(OTHER(K)), of_prompt(M.term)),
        )
    ),
    "<Y P, Z P> is ||p||^2 <Y, Z>": Sequent(eq(F(y) @ F(z), SCALE * (y.term @ z.term))),
    "both runs start at W_0 p": Sequent(eq(F(y) @ W(0), G(y) @ OTHER(0))),
    "c e' is ||p||^2 e": Sequent(eq(OTHER_RATE * PACE, RATE * SCALE)),
}
_SCALED = Sequent(eq(G(y) @ G(z), PACE * (y.term @ z.term)))
OF_Q = "G(Y) is Y, and c is 1"
"""The words for what holds of G if the other run trains q."""


def isotropic() -> list[Sequent]:
    """Return the fact that <W_0^T Y, W_0^T Z> = c <Y, Z>."""
    return [_SCALED]


def one_prompt(trained: str = "q", by: str = "square", share: object = 1) -> Said | None:
    """Return the claim <F(Y), W_k> = <G(Y), b(k)> for every Y and k.

    For matrices Y = y e_1^T it says that <y, W_k p> = <y, r_k>, so that W_k p = r_k.
    """
    text = Sequent(eq(F(y) @ W(K), G(y) @ OTHER(K)))
    known = {**SETTING, OF_Q: _SCALED} if trained == "q" else SETTING
    return Said((text,), known) if (by, share) == ("square", 1) else None
