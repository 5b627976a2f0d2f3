"""The growth of W under descent, beside multiples of W_svm; W_fin is in `symbolic.tf.kept_tokens`.

On `tf/generalised-svm`, with instances of `properties/tf/generalised_svm`:

"||W_fin||_F -> bounded" is false for V - c_k W_svm, for every c_k, if a tight constraint has
multiplier 0 (`sharp-2`). For example, let the tokens be 0, (-1, 0), (-1, -1), of which the first
has the best score and the others have the same score. Then the second margin exceeds the first one
by about ln ln k. For inputs of two tokens whose constraints are orthogonal, each has a positive
multiplier, and W - ln k W_svm is bounded (`amended-3`). Both are about a linear head, for which
each O_i is one token and W_fin is 0.

Other heads change the rate.

- A ReLU head may be flat at the mean of the tokens; descent from 0 then stays there though one
  token is best (`literal-4`).
- If h rises from the mean of two tokens to one of them, this token alone is kept, at the rate ln k
  of linear heads (`sharp-3`).
- If h' vanishes at the kept token, as for h(x) = -<a, x - x_1>^2, the rate is half of that:
  W - ln k W_svm is unbounded, and W - (ln k/2) W_svm is bounded (`sharp-4`).
- If a smooth h rises from each of two tokens towards the other, both are kept, and W is bounded:
  W_svm is 0 (`sharp-5`, in `symbolic.tf.kept_pair`).
"""

import sympy as sp

from attsvm.primitives.heads import ACTIVATIONS
from attsvm.primitives.hypotheses import ZERO_START
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS
from attsvm.theory import cite, ensure_equal, ensure_nonnegative, ensure_positive, ensure_zero
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.symbols import SYMBOLS
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    simplified,
    suppose,
    supposed_number,
)
from properties._support.suppositions import FALLING
from properties.tf import generalised_svm as statement
from properties.tf._support.descent_steps import logarithmic
from properties.tf.generalised_svm import FORWARD, QUERY, SQUARE
from properties.tf.generalised_svm.head_descent import (
    BELOW,
    CRITICAL,
    RISES,
)
from symbolic.continuity import ensure_smooth
from symbolic.inner_products import inner, vector
from symbolic.least_points import MORE
from symbolic.sums import ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CONVEX_FUNCTION,
    DIFFERENTIABLE,
    EXPONENTIAL,
    RISING,
    SIGN,
    SLOPES_OF_CONVEX,
)
from symbolic.tf.nonlinear_head_several import (
    CONVEX_UNITS,
    ensure_convex,
    ensure_relu,
)

STATEMENT = statement.STATEMENT
_FORWARD, _QUERY, _ORIGIN = (
    FORWARD,
    QUERY,
    ZERO_START,
)
"""The step is positive, the query is not 0, so that ||A||^2 is not, and the start is 0."""
T = sp.Symbol("t", real=True)
LESS = sp.Symbol("less", nonnegative=True)
SMOOTH_UNITS = "identity", "square", "softplus"
"""Convex activations that are smooth."""
V = vector("V")


def ensure_step() -> None:
    """Prove that a step adds e ||A||^2 (-l') <h'(o), x_1 - x_2> s_1 s_2 to the margin m.

    There is one input of two tokens, and o is its output.
    """
    m, first, second = sp.symbols("m first second", real=True)
    share, h = 1 / (1 + sp.exp(-m)), sp.Function("h")
    output = share * first + (1 - share) * second
    slope = sp.Derivative(h(T), T).subs(T, output).doit() * (first - second)
    ensure_zero(
        simplified(sp.diff(h(output), m) - slope * share * (1 - share)),
        "h(o) rises with m by its slope along x_1 - x_2 times s_1 s_2, of one unit and of their "
        "sum",
    )
    A, e = vector("A"), sp.Symbol("e", positive=True)
    ensure_equal(
        (V + e * A - V) @ A,
        e * inner("A", "A"),
        "a step e A moves the margin m = <A, W> by e ||A||^2",
    )


def prove_rising_head() -> str:
    """Prove that m - ln k is bounded if the head rises from the mean of two tokens to one of them.

    So this token alone is kept.
    """
    suppose(_ORIGIN)
    ensure_step()
    ensure_convex()
    ensure_relu()
    slopes = "phi' of identity, square and softplus is smooth"
    named = [ACTIVATIONS[name].slope(SYMBOLS, T) for name in SMOOTH_UNITS]
    ensure_smooth(named, slopes)
    cite(RISING, met={DIFFERENTIABLE: slopes, SIGN: CONVEX_UNITS})
    relu, right = ACTIVATIONS["relu"], sp.Symbol("right", positive=True)
    left = sp.Symbol("left", nonpositive=True)
    ensure_nonnegative(
        relu.slope(SYMBOLS, right) - relu.slope(SYMBOLS, left), "the slope of ReLU rises as well"
    )
    ensure_equal(
        (1 / (1 + sp.exp(-T))).subs(T, 0),
        sp.Rational(1, 2),
        "from m = 0 on o is between the mean and x_1: phi' of each unit is between its values at "
        "both, and the slope of h between p and P",
    )
    lesser, over = sp.symbols("lesser over", real=True), MORE
    slope = entry("slope")
    rises = "so the slope of h is at least p, the sum over units of the lesser one"
    ensure_nonnegative_sum(
        total(slope) - total(entry("least")),
        slope - entry("least"),
        rises,
        slope=lesser[0] + over,
        least=lesser[0],
    )
    _ensure_falling(rises)
    rising = (RISES,)
    ensure_logarithmic(FALLING, _FORWARD, _QUERY, *rising)
    _ensure_alone()
    return "for any d and number of units, every convex loss with l' < 0, convex phi as those here"


def _ensure_falling(rises: str) -> None:
    """Prove that h rises from the mean of the tokens to the first one, so that |l'| falls.

    Args:
        rises: the step that has shown that the slope of h is not negative.
    """
    pieces = "h is smooth on the line, or, of ReLU, piece by piece"
    ensure_smooth([ACTIVATIONS[name].value(SYMBOLS, T) for name in SMOOTH_UNITS], pieces)
    cite(RISING, met={DIFFERENTIABLE: pieces, SIGN: rises})
    cite(SLOPES_OF_CONVEX, met={CONVEX_FUNCTION: CONVEX_LOSS})  # l' rises


def prove_critical_head() -> str:
    """Prove that m - ln k/2 is bounded if h' vanishes at the kept token."""
    suppose(_ORIGIN, SQUARE, CRITICAL)
    ensure_step()
    b, t, s = sp.symbols("b t s", real=True)  # t = <a_k, x_2>; <a_k, o> = (1 - s) t
    phi = ACTIVATIONS["square"]
    slope = sp.diff(b * phi.value(SYMBOLS, (1 - s) * t), s)
    ensure_equal(
        slope,
        2 * (-b * t**2) * (1 - s),
        "the slope along x_1 - x_2 is 2 beta s_2, unit by unit",
        normal=expanded,
    )
    (below,) = (BELOW,)
    rises = "2 beta s_2 is not negative, as beta > 0 and s_2 >= 0"
    beta = supposed_number(below, "beta", positive=True)
    second = sp.Symbol("s_2", nonnegative=True)
    ensure_nonnegative(slope.subs({b: -beta / t**2, s: 1 - second}), rises, normal=cancelled)
    _ensure_falling(rises)
    ensure_logarithmic(FALLING, _FORWARD, _QUERY, below, half=True)
    _ensure_alone()
    k, c = sp.symbols("k c", positive=True)
    ensure_equal(
        sp.limit(sp.log(1 + c * k) / 2 / sp.log(k), k, sp.oo),
        sp.Rational(1, 2),
        "m over ln k tends to 1/2, not to 1: m - ln k/2 is bounded, and m - ln k is not",
    )
    return "for any d and number of units, and every convex loss with l' < 0"


def _ensure_alone() -> None:
    A, m = vector("A"), sp.Symbol("m", real=True)
    svm = A / inner("A", "A")
    ensure_equal(
        [svm @ A, (m * svm) @ A],
        [1, m],
        "W_svm for x_1 is A/||A||^2, and W(k), a multiple of A, is m W_svm",
        normal=cancelled,
    )


def ensure_logarithmic(*positive: Supposition, half: bool = False) -> None:
    """Prove that exp(m) - 1 is between two multiples of k after k steps: m - ln k is bounded.

    m starts at 0, and a step adds between c s_1 s_2 and C s_1 s_2 to it. With `half` the same is
    proved for exp(2 m) - 1, if a step adds between c s_1 s_2^2 and C s_1 s_2^2.

    Args:
        positive: the hypotheses that the factors of c are positive: |l'|, the step, ||A||^2 and the
            slope of the head.
        half: whether the second form is proved.
    """
    m, c, k = sp.symbols("m c k", positive=True)
    share = 1 / (1 + sp.exp(-m))
    other = (1 - share) ** (2 if half else 1)
    grown, bound = sp.exp(2 * m if half else m), sp.Rational(1, 8 if half else 4)
    powers = "s_1 s_2^2" if half else "s_1 s_2"
    ensure_positive(
        [share * other], f"{powers} is positive, and so is each step", normal=_in_exponential
    )
    ensure_nonnegative(
        [grown * share * other - bound, 1 - grown * share * other, bound - share * other],
        f"with f = {powers}, {bound} <= {grown} f <= 1 and f <= {bound}, from m = 0 on",
        normal=_in_exponential,
    )
    cite(EXPONENTIAL)  # exp(x) - 1 is between x and x exp(x)
    times = 2 if half else 1
    factors = [supposed_number(one, f"c_{i}", positive=True) for i, one in enumerate(positive)]
    low = sp.prod(factors)  # c of the formula
    high = sp.Symbol("high", positive=True)  # C
    more, before, excess = sp.symbols("above before excess", nonnegative=True)
    at_least = k * low / 4 + before + (times * low + more) * (bound + excess)
    after = comparisons(logarithmic(SYMBOLS, at_least, k + 1, low, high, times=times))[1]
    ensure_nonnegative(
        after.right - after.left,
        f"{grown} grows by at least itself times the growth of its exponent, so that its lower "
        "bound holds after one more step",
        normal=expanded,
    )
    most = comparisons(logarithmic(SYMBOLS, low, k, low, high, times=times))[2].right
    at_most = most / (1 + before) + times * high / (1 + excess) * sp.exp(high / 4) / (1 + more)
    after = comparisons(logarithmic(SYMBOLS, at_most, k + 1, low, high, times=times))[2]
    ensure_equal(times * bound, sp.Rational(1, 4), "f times the factor 1 or 2 is at most 1/4")
    ensure_nonnegative(
        after.right - after.left,
        f"{grown} grows by at most itself times that growth times its exponential, of at most "
        "C/4, so that its upper bound holds after one more step",
        normal=factored,
    )
    ensure_equal(
        sp.limit(sp.log(1 + c * k) - sp.log(k), k, sp.oo),
        sp.log(c),
        "ln(1 + c k) - ln k tends to ln c: both bounds of the exponent, and what it is beyond "
        "ln k, are bounded from k = 1 on",
        normal=simplified,
    )


def _in_exponential(x: sp.Expr) -> sp.Expr:
    """Rewrite an expression in m by y = exp(m) - 1 > 0, and factor it."""
    m, y = sp.Symbol("m", positive=True), sp.Symbol("y", positive=True)
    return factored(x.rewrite(sp.exp).subs(m, sp.log(1 + y)))
