"""Data without stationary points, without minima, and with a solution for every choice.

On `tf/benign-landscape`, with instances of `properties/tf/benign_landscape`. The arguments, a table
of separable data and what is open are in docs/proofs/benign_landscape.md.

At a stationary point the c_t = s_t (gamma_t - u) are the coefficients of an affine dependency of
the tokens of an input whose query is no combination of the others'. Here s_t is the attention and u
the attended score. If no other dependency exists, up to a factor, and there is an Att-SVM, the
risk falls along some direction from each stationary point: none is a minimum (`sharp-1`). This
holds for every strictly decreasing loss.

Linked proofs of `amended-1` and `amended-2` are in `symbolic.tf.independent_inputs`. `sharp-2` and
`sharp-3` are about inputs of independent queries. The linked proof of `sharp-2` is in
`symbolic.tf.where_stationary`, the proof in prose of `sharp-3` in `symbolic.tf.parts_at_rest`.
"""

from collections.abc import Callable

import sympy as sp

from attsvm.theory import cite, ensure_equal, ensure_positive, ensure_zero
from attsvm.theory.declaration.proof import Supposition, expanded, suppose
from properties._support.suppositions import FALLING, SMOOTH_SLOPE
from properties.tf.benign_landscape.instances import FEW, OWN, SCORES, SEPARABLE
from symbolic.gains import ensure_gain, ensure_gain_of_support, ensure_positive_gain
from symbolic.inner_products import inner, vector
from symbolic.sim.large_dimension import ensure_margins_of_sum
from symbolic.sums import ensure_at_least_each, ensure_mean, entry, total
from symbolic.textbook import COMPOSED, CONTINUOUS, INDEPENDENT, INVERSE_OF_GRAM

_OWN_QUERY = (OWN,)
_TWO_SCORES = (SCORES,)
MORE, POSITIVE = sp.Symbol("more", nonnegative=True), sp.Symbol("c", positive=True)


def ensure_any_margins(of: Supposition) -> None:
    """Prove that differences of tokens can have any margins if they are linearly independent.

    Args:
        of: the hypothesis or step that they are independent.
    """
    ensure_margins_of_sum()
    cite(INVERSE_OF_GRAM, met={INDEPENDENT: of})


def ensure_own_query() -> None:
    """Prove that some q has <q, z> = 1 for one query z, and <q, z_k> = 0 for the other queries."""
    q, p = vector("q"), vector("p")
    ensure_equal(
        (q @ (q + p)).subs(inner("p", "q"), 0),
        q @ q,
        "q = z - p, p the projection of z on the span of the others, has <q, z> = |q|^2, above 0 "
        "as z is not in it, and <q, z_k> = 0: it is divided by |q|^2",
    )


def ensure_second_derivative() -> Callable[[sp.Expr, sp.Expr], sp.Expr]:
    """Prove that u'' along logits a_t is sum_t c_t a_t^2, c_t = s_t (gamma_t - u), at gradient 0.

    Returns:
        The summand of a token, by its c_t and its a_t.
    """
    s, gamma, a = (entry(name) for name in ("s", "gamma", "a"))
    u, mean, slope = sp.symbols("u mean slope", real=True)
    c = s * (gamma - u)
    # u' is the sum of c_t a_t; s_t moves by s_t (a_t - mean), and u by its slope
    second = total(s * (a - mean) * (gamma - u) * a - s * slope * a)
    first = total(c * a)
    ensure_equal(
        second.subs({mean: total(s * a), slope: first}),
        total(c * a**2) - 2 * total(s * a) * first,
        "u'' is sum_t c_t a_t^2 less 2 sum_t s_t a_t times u' = sum_t c_t a_t, which is 0, as the "
        "gradient is 0 along all of w q^T",
        normal=expanded,
    )

    def bent(weight: sp.Expr, at: sp.Expr) -> sp.Expr:
        return (c * a**2).subs({a: at, gamma: u + weight / s}).expand()

    return bent


def prove_no_minimum() -> str:
    """Prove that no stationary point is a minimum: along some w q^T the risk falls.

    The output u has positive curvature along the logits of w q^T.

    Raises:
        ProofError: a step fails.
    """
    suppose(*_OWN_QUERY)
    ensure_own_query()
    suppose(FALLING)
    ensure_gain()
    bent = ensure_second_derivative()
    ensure_gain_of_support()
    ensure_positive_gain(*_TWO_SCORES)  # gamma_o > u, so c_o > 0
    ensure_any_margins(FEW)  # for all tokens except one of those with c_t != 0
    lowered = -sp.Symbol("|c_t|", nonnegative=True)
    ensure_zero(bent(lowered, 0), "with a_t = 0 where c_t < 0 such tokens add nothing to u''")
    ensure_equal(bent(POSITIVE, 1), POSITIVE, "a token with c_t > 0 and a_t = 1 adds c_t to u''")
    ensure_at_least_each(
        bent(POSITIVE, sp.Symbol("a", real=True)),
        "tokens with c_t > 0 add no negative number to u'', which is therefore at least the "
        "c_t > 0 of one of them",
    )
    size, x, best = entry("size"), entry("x"), sp.Symbol("x_o", real=True)
    ensure_zero(
        total(size * (best - x)).subs({total(size * x): POSITIVE * best, total(size): POSITIVE}),
        "if c_o alone is positive it is sum_t |c_t|, and c_o x_o is sum_t |c_t| x_t, so that "
        "sum_t |c_t| (x_o - x_t) = 0",
    )
    suppose(SEPARABLE)
    ensure_mean(
        POSITIVE,
        1 + MORE,
        "margins of at least 1, times |c_t|, add up to at least sum_t |c_t| > 0: the input "
        "has no Att-SVM",
        least=1,
    )
    e, at = sp.symbols("e v", real=True)
    loss, u = sp.Function("l"), sp.Function("u")(e)
    ensure_equal(
        sp.diff(loss(u), e) / e,
        sp.diff(loss(at), at).subs(at, u) * (sp.diff(u, e) / e),
        "the slope of l(u) over e is l'(u) times u'/e, which tends to u'', as u' = 0 at e = 0: the "
        "second derivative of l(u) is l'(u) u'' there",
    )
    cite(COMPOSED, met={CONTINUOUS: SMOOTH_SLOPE})  # so that l'(u) tends to that at e = 0
    steep = sp.Symbol("|l'|", positive=True)
    ensure_positive(
        -(-steep * (POSITIVE + MORE)),
        "l'(u) u'' is below 0, so that the risk falls in both directions",
    )
    return "for every loss with l' < 0 and any n, T and d"
