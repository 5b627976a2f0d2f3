"""Section 3.3, fourth bound: softmax attention is Lipschitz.

R_f is not defined. Bounds five and six have the constants R^2 and 1 times beta^-2 n exp(3 R^2),
which is therefore taken for R_f.

spread(A) = max ||A_i - A_j|| / sqrt 2. literal holds for every R, below 4 as well. sharp is
attained for any n >= 2 by two tokens of equal weight, x, y -> 0, with all other tokens far away.
For example: rows (1, 0), (-1, 0), (0, -1), ..., points (z, M) and (-z, M), z -> 0 and then M ->
infinity.

Proof of literal (`symbolic.sim.basic_4`). Let a = A x, b = A y and g = f(y). Then alpha(x) alpha(y)
(f_t - g_t) = sum_r (e^(a_t + b_r) - e^(a_r + b_t)). The r-th term is c_tr ((a_t - b_t) - (a_r -
b_r)), where c_tr = c_rt <= exp(2 R) is the logarithmic mean of the two exponentials. So the vector
is a Laplacian with weights of at most exp(2 R), applied to a - b, and beta^2 ||f - g|| <= n exp(2
R) R ||x - y||, where R exp(2 R) < exp(3 R^2).

Proof of sharp. Df[s] = (f_t (s_t - mean s)) has a norm that is convex in s and does not change if a
constant is added to s. So over max s - min s <= 1 the norm is largest if s is the indicator of a
set of tokens. Let P be their weight, and a <= P^2 and b <= (1-P)^2 the sums of f_t^2 in and out of
the set. Then ||Df[s]||^2 = (1-P)^2 a + P^2 b <= 2 P^2 (1-P)^2 <= 1/8. Finally, max A v - min A v <=
sqrt 2 spread(A) ||v||.
"""

from attsvm.theory import Reading, Statement
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE
from properties.sim._support import bounds


def change(m: Namespace, v: Values) -> Number:
    """Return ||f(x) - f(y)||."""
    return m.norm(bounds.f(m, v.A, v.x) - bounds.f(m, v.A, v.y))


def printed(m: Namespace, v: Values, exponential: bool = True) -> Comparison:
    """Return that ||f(x) - f(y)|| <= R_f ||x - y||, with the R_f that the next bounds imply."""
    return bounds.within(m, v, change(m, v), bounds.published(m, v, exponential=exponential))


def sharp(m: Namespace, v: Values) -> Comparison:
    """Return that ||f(x) - f(y)|| <= spread(A)/2 ||x - y||."""
    return bounds.within(m, v, change(m, v), bounds.softmax_constant(m) * m.spread(v.A))


BOUND = Statement(
    "sim/basic-4",
    rests_on=("sim/basic-1", "sim/basic-2", "sim/basic-3"),
    source=SOURCE,
    place="Section 3.3, fourth bound",
    printed="||f(x) - f(y)||_2 <= R_f ||x - y||_2",
    variables={**bounds.POINTS, **bounds.BOUNDS},
    hypotheses=bounds.LISTED,
    conclusion=printed,
    readings={
        "literal": Reading(
            "proved",
            read={"R_f": "the beta^-2 n exp(3 R^2) that bounds five and six imply"},
            proof="symbolic.sim.basic_4:prove_published",
            examples=bounds.examples(),
            siblings=bounds.beyond(),
        ),
        "sharp": Reading(
            proof="symbolic.sim.basic_4:prove",
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED),
        ),
    },
)
