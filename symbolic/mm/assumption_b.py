"""Assumption B: a bound of the label margin by means, and its consequence for the joint p-SVM.

v(alpha) is the solution of the v-SVM for the tokens alpha, and w its multipliers, scaled to sum 1.
A choice beta names one token of each input, Z_beta = sum_i w_i Y_i x_i,beta_i, and Gamma =
||Z_alpha||. An input is tight if its label margin under v(alpha) is 1, and idle if its multiplier
is 0 in every dual solution. The proof uses a vector u orthogonal to v(alpha) that keeps the margins
of tight inputs and increases those of tight idle ones. So Y_i <u, x_i,alpha_i> is at least 0 for
tight inputs, and at least 1 for tight idle inputs. The sum of the vectors that
`properties.mm._support.label_margins.tilts` finds is such a u. Where a statement is about a sum
over inputs or tokens, this module checks one term of the sum.

On `mm/assumption-b`, with instances of `properties/mm/assumption_b`:

`amended` bounds the label margin m by the norms of means of the labelled inputs, and is linked in
`symbolic.mm.mean_choices`. It decides that B holds if its nu is positive.

`sharp-1` is exact. Let gamma be the largest label margin of a choice other than alpha. Whatever the
keys, B holds if gamma < Gamma and no input is idle. If attention can reach every choice, B holds
for no other data. It can if the differences of keys are linearly independent, so for almost all
data with d >= n (T - 1). For these data the best nu has a closed form, for any number of inputs.
The label margin that is lost per attention is least in one of two cases. If one input attends a
little to one other token, the loss is the multiplier W_i times the difference of scores. If all
attention is on another choice, the loss is Gamma - gamma. The check does not use this closed form.
For a nu below the best one, `best_nu.py` finds weights that prove B for all attention; other code
judges these weights in rationals. For a nu above the best one, `best_nu.py` finds a prompt and a
head that violate B. If attention cannot reach every choice, B may hold with gamma >= Gamma; the
instance `HIDDEN` is an example.

By `sharp-2`, which is linked in `symbolic.mm.programmes`, the joint p-SVM has the solution with
margins of 1 everywhere if no idle input can be the slowest to saturate. `ensure_slow_is_cheap`
proves that B fails if one can.
"""

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import cancelled, expanded, factored
from symbolic.inner_products import inner, vector
from symbolic.least_points import MORE
from symbolic.textbook import EXPONENTIAL

GAMMA, NU = sp.symbols("Gamma nu", nonnegative=True)
W = sp.Symbol("w", nonnegative=True)


RIVAL = sp.Symbol("gamma", real=True)
LEAD = sp.Symbol("margin - gamma", positive=True)


def ensure_odds() -> None:
    """Prove that alpha_i scores at least margin + (margin - gamma) q_i/(1 - q_i).

    The margin is the label margin of a head of norm 1, and exceeds gamma. gamma bounds the label
    margins of choices other than alpha, and q_i is 1 - s_i,alpha_i.
    """
    best, q = sp.symbols("best q", real=True)
    ensure_nonnegative(
        W * best - W * (best - MORE),
        "what is attended scores no more than the best token of an input, so that some choice of "
        "tokens has scores of at least the margin; where that is above gamma it is alpha, and any "
        "other token in place of alpha_i scores gamma at most, or that choice had more than gamma",
        normal=factored,
    )
    ensure_equal(
        (RIVAL + LEAD - q * RIVAL) / (1 - q),
        RIVAL + LEAD + LEAD * q / (1 - q),
        "so margin <= (1 - q_i) <score of alpha_i> + q_i gamma: alpha_i scores at least margin + "
        "(margin - gamma) q_i/(1 - q_i)",
        normal=cancelled,
    )


def ensure_rival_in_reach() -> None:
    """Prove that B fails for nu > Gamma - gamma if attention can reach a choice of margin gamma.

    The prompts are multiples R p(beta) for a choice beta of label margin gamma.
    """
    R, far, rest, gap = sp.symbols("R D T-1 Gamma-gamma", positive=True)
    cite(EXPONENTIAL)
    ensure_equal(
        sp.limit((gap + far * rest * sp.exp(-R)) / (1 - rest * sp.exp(-R)), R, sp.oo),
        gap,
        "along R p(beta) the head v(beta) has label margins of at least gamma - D (T - 1) exp(-R), "
        "and 1 - s_i,alpha_i is at least 1 - (T - 1) exp(-R) where beta_i is not alpha_i: (Gamma - "
        "margin) over it tends to Gamma - gamma at most",
    )


def ensure_slow_if_all_reached() -> None:
    """Prove that if attention can reach every choice, some prompt saturates a given input last.

    Let beta differ from alpha in this input alone, and p_s = (1 - s) p(alpha) + s p(beta).
    """
    s = 1 / (1 + MORE)
    first, second = sp.symbols("first second", nonnegative=True)
    ensure_nonnegative(
        (1 - s) * (1 + first) + s * (1 + second) - 1,
        "margins of the other inputs are at least 1 under p(alpha), p(beta) and so p_s",
        normal=factored,
    )
    half = sp.Rational(1, 2)
    over, under = sp.symbols("over under", positive=True)  # 1/2 + over at s = 0, 1/2 - under at 1
    met = over / (over + under)
    ensure_equal(
        (1 - met) * (half + over) + met * (half - under),
        half,
        "a margin of this input that is above 1/2 under p(alpha) and below 1/2 under p(beta), as "
        "that of beta_i is, which is -1 at most, is 1/2 at an s between 0 and 1",
        normal=cancelled,
    )
    before = met / (1 + MORE)
    ensure_nonnegative(
        factored((1 - before) * (half + over) + before * (half - under) - half),
        "this margin is at least 1/2 for smaller s: at the least of these s all margins of "
        "this input are at least 1/2 and one is 1/2, so that p_s saturates it last",
        normal=factored,
    )


def ensure_tilt() -> None:
    """Prove that tilting v(alpha) towards idle inputs costs a label margin of second order in e.

    e is the largest 1 - s_i,alpha_i of idle inputs.
    """
    c, e, gap, size = sp.symbols("c e gap size", positive=True)
    v, u = vector("v"), vector("u")
    tilted = v + c * e * u
    ensure_equal(
        (tilted @ tilted).subs({inner("u", "v"): 0, inner("v", "v"): 1}),
        1 + c**2 * e**2 * inner("u", "u"),
        "the head v + c e u, v = Gamma v(alpha), has the norm sqrt(1 + c^2 e^2 ||u||^2)",
    )
    ensure_equal(
        GAMMA - c * e + c * e * (1 - gap * e),
        GAMMA - c * gap * e**2,
        "with c the largest loss of score per attention, gap that of <u, x>, its margin in a tight "
        "idle input is at least Gamma - c gap e^2",
    )
    ensure_nonnegative(
        sp.Rational(1, 2) * size - 1 + 1 / (1 + size / 2),
        "the division by the norm of v + c e u costs at most Gamma c^2 e^2 ||u||^2 / 2",
        normal=factored,
    )
    ensure_nonnegative(
        (1 + size / 2) ** 2 - (1 + size), "sqrt(1 + size) is at most 1 + size/2", normal=expanded
    )


def ensure_slow_is_cheap() -> None:
    """Prove that B fails for every nu > 0 if an idle input is the slowest to saturate.

    Under the prompt R q, inputs that are not idle have margins of at least a R. Idle inputs have
    margins of at least b R, which one of them attains, with 0 < b < a. e is the largest 1 - s of
    the idle inputs. If p' has the margin 1 - lack < 1, possibly 0, then q = p' + t p(alpha) is such
    a prompt.
    """
    lack, also = sp.Symbol("lack", positive=True), sp.Symbol("also", nonnegative=True)
    alpha, t = vector("p(alpha)"), lack / (1 + MORE)
    q = vector("p'") + t * alpha
    kept, slow, idle = (vector(name) for name in ("A", "B", "C"))
    facts = {inner(name, "p(alpha)"): 1 + MORE for name in "ABC"}
    facts |= {inner("A", "p'"): 1 + also, inner("B", "p'"): 1 - lack, inner("C", "p'"): also}
    ensure_nonnegative(
        (kept @ q).subs(facts) - (1 + t),
        "with t = lack over the margin of p(alpha) where p' lacks it, margins of q of inputs that "
        "are not idle are at least 1 + t",
        normal=factored,
    )
    ensure_positive(
        [(idle @ q).subs(facts), 1 + t - (slow @ q).subs(facts)],
        "margins of q of idle inputs, at least 0 under p', are above 0, and the one below 1 "
        "under p' is below 1 + t",
        normal=factored,
    )
    ensure_tilt()
    R, b, more, C, gain = sp.symbols("R b more C gain", positive=True)
    cite(EXPONENTIAL)
    lost = C * (sp.exp(-2 * b * R) + sp.exp(-(b + more) * R)) / (gain * sp.exp(-b * R))
    ensure_zero(
        sp.limit(sp.powsimp(sp.expand(lost)), R, sp.oo),
        "Gamma - m is at most a constant times e^2 + exp(-a R), e between two multiples of "
        "exp(-b R): over e that tends to 0",
    )
