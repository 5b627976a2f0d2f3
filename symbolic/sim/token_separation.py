"""A step on the decreasing loss raises <X, X^mm> under either part of assumption 3.10.

On `sim/token-separation`, with instances of `properties/sim/token_separation`:

Let each input have two tokens. After the first step from X(0) = 0 input j has the margin
(eta/4n) sum_i w_i <A_i, A_j>, where w_i is |l'| times the score gap of input i. It is negative if
and only if the other inputs outweigh w_j ||A_j||^2.

`sharp-3`: no step from any X lowers a margin by more than (eta/4)(1 - 1/n) max w max ||A||^2. From
zero, also with a feasible Att-SVM, the fall of a margin can approach this bound. The input then has
a small w and is nearly opposed to all others. So a single input loses no margin, and the loss for n
inputs is linear in eta and bounded in n. If all w and all ||A|| are equal and n >= 2, margins after
the first step are at least -(eta/4)(1 - 2/n) w ||A||^2. With three tokens a single input may lose
margin, as the tokens 4, 0, 3 of an instance show.
"""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.hypotheses import EITHER_PART
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import expanded, suppose
from properties.sim import token_separation as statement
from symbolic.alternatives import SOLUTION, TWO_SCORES
from symbolic.gains import (
    ensure_gain,
    ensure_gain_of_equal_rivals,
    ensure_gain_of_support,
    ensure_positive_gain,
)
from symbolic.textbook import CAUCHY_SCHWARZ


def ensure_change() -> None:
    """Prove the formula for the change of <X, X^mm> at a step of descent.

    It holds for a falling and for a rising loss, with the sign of -l'.
    """
    ensure_positive(SYMBOLS.logistic_slope(sp.Symbol("u", real=True)), "|l'| = g'(u) is positive")
    ensure_gain()
    ensure_gain_of_support()
    ensure_gain_of_equal_rivals()


def prove_gain() -> str:
    """Prove that a step eta raises <X, X^mm> by at least eta D(X).

    D(X) is (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t).
    """
    suppose(SOLUTION, EITHER_PART)
    ensure_change()
    return "at least, and exactly so in part 1, for any n, T, d and any step"


def prove_raised() -> str:
    """Prove that a step raises <X, X^mm> if some input has two different scores."""
    prove_gain()
    ensure_positive_gain(TWO_SCORES)
    return "for any n, T, d and any step"


def prove_lowered() -> str:
    """Prove that a step eta lowers no margin by more than eta (1 - 1/n)/4 max w max ||A||^2.

    Inputs have two tokens each. With w_i = |l'| (gamma_o - gamma_t) and r_i = s_o s_t the margin of
    input j gains (eta/n) sum_i w_i r_i <A_i, A_j>. Its own part is not negative; each of the n - 1
    others is at least -max w max ||A||^2/4.

    At X = 0, let A_i = -A_j and w_i = w for the other inputs. Then the margin gains
    (eta/4n)(w_j - (n - 1) w) ||A||^2, which approaches the bound as w_j tends to 0. For w_j = w it
    has the factor 1 - 2/n in place of 1 - 1/n.
    """
    ensure_change()
    suppose(statement.PAIRS)
    s, lead, w, size, more, less, n = sp.symbols("s lead w size more less n", positive=True)
    gamma = sp.Symbol("gamma", real=True)
    attended = (1 - s) * (gamma + lead) + s * gamma
    ensure_equal(
        s * (attended - gamma),
        s * (1 - s) * lead,
        "s_t (u - gamma_t) is s_o s_t (gamma_o - gamma_t) for two tokens",
    )
    half = sp.Rational(1, 2)
    ensure_zero(sp.expand(half**2 - s * (1 - s) - (s - half) ** 2), "s_o s_t is 1/4 less a square")
    ensure_nonnegative(
        w * s * size**2,
        "what input j adds to its own margin, w_j s_o s_t ||A_j||^2, is not negative",
    )
    cite(CAUCHY_SCHWARZ)
    ensure_nonnegative(
        (w + more) * (size + less) ** 2 / 4 - w * size**2 / 4,
        "w r <A_i, A_j> is at least -w ||A_i|| ||A_j||/4, and that -max w max ||A||^2/4",
        normal=expanded,
    )
    ensure_equal(
        (n - 1) / n * w / 4,
        (1 - 1 / n) * w / 4,
        "n - 1 such terms, over n, add up to (1 - 1/n) w/4 times ||A||^2 at most",
    )
    opposed = (less - (n - 1) * w) / (4 * n)
    ensure_zero(
        sp.limit(opposed, less, 0) + (1 - 1 / n) * w / 4,
        "(w_j - (n - 1) w)/(4 n), what margin j gains at X = 0 where the other inputs have "
        "A_i = -A_j and w_i = w, tends to -(1 - 1/n) w/4 as w_j tends to 0",
    )
    ensure_zero(
        opposed.subs(less, w) + (1 - 2 / n) * w / 4,
        "(w_j - (n - 1) w)/(4 n) is -(1 - 2/n) w/4 where w_j is w as well",
    )
    return "for any number of inputs, any step and any X; approached from X = 0"
