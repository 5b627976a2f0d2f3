"""The decomposition W = W_fin + V of Gen-SVM, and the correlation of V with W_svm.

In input i some tokens are kept: O_i is their set. E is the span of the (x_t - x_u) z_i^T for kept
tokens t and u. The A_j are such differences of a kept token and one that is not kept. W_fin is the
least matrix with the inner products of W on E, that is the projection of W on E. So V = W - W_fin
is orthogonal to E and meets the equalities of Gen-SVM, whose solution is W_svm. mu is the least
margin <A_j, V>.

On `tf/generalised-svm`, with instances of `properties/tf/generalised_svm`:

<V, W_svm> >= mu ||W_svm||^2, with equality if V is a multiple of W_svm (`sharp`). So the claim is
about V: its correlation with W_svm tends to 1 if mu ||W_svm||/||V|| does. The choice of the sets
O_i matters: at finite times tokens outside of them keep weight, and mu is small or negative.
`attsvm reproduce tf/generalised-svm` measures this by size, step, threshold of the set and the
weight outside.

"||W_fin||_F -> bounded" is false for V - c_k W_svm, for every c_k, if a tight constraint has
multiplier 0 (`sharp-2`). For example, let the tokens be 0, (-1, 0), (-1, -1), of which the first
has the best score and the others have one score. Then the second margin exceeds the first one by
about ln ln k. For inputs of two tokens whose constraints are orthogonal, each has a positive
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
  W_svm is 0 (`sharp-5`).
"""

from __future__ import annotations

import sympy as sp

from attsvm.primitives.heads import ACTIVATIONS
from attsvm.primitives.hypotheses import ZERO_START
from attsvm.primitives.loss_hypotheses import CONVEX_LOSS
from attsvm.theory import (
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_positive,
    ensure_zero,
)
from attsvm.theory.arithmetic.namespace import comparisons
from attsvm.theory.arithmetic.symbols import SYMBOLS, Symbols
from attsvm.theory.declaration.proof import (
    Supposition,
    cancelled,
    expanded,
    factored,
    simplified,
    suppose,
    supposed_number,
)
from attsvm.theory.types import Number
from properties.tf import generalised_svm as statement
from properties.tf._support.descent_steps import logarithmic
from properties.tf.generalised_svm import FORWARD, QUERY, SQUARE
from properties.tf.generalised_svm.head_descent import (
    BELOW,
    BOTH,
    CRITICAL,
    GENTLE,
    RISES,
    farthest,
    raised,
)
from properties.tf.generalised_svm.kept_tokens import ALL, POSITIVE, SEEN, longer, split
from properties.tf.generalised_svm.log_growth import BETTER, ORTHOGONAL
from symbolic.alternatives import FALLING, SMOOTH_SLOPE
from symbolic.continuity import ensure_smooth
from symbolic.inner_products import inner, vector
from symbolic.least_points import (
    MORE,
    A,
    Constraint,
    ensure_existence,
    ensure_multipliers_suffice,
    ensure_sum_of_multipliers,
)
from symbolic.sums import ensure_mean, ensure_nonnegative_sum, entry, total
from symbolic.textbook import (
    CAUCHY_SCHWARZ,
    COMPOSED,
    CONTINUOUS,
    CONVEX_FUNCTION,
    DIFFERENTIABLE,
    EXPONENTIAL,
    MONOTONE,
    MONOTONE_SEQUENCE,
    RISING,
    SECOND_DERIVATIVE,
    SIGN,
    SLOPES_OF_CONVEX,
    TANGENT,
)
from symbolic.tf.nonlinear_head_several import (
    CONVEX_UNITS,
    ensure_convex,
    ensure_relu,
    prove_smooth,
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
W, F, E, X, V = (vector(name) for name in ("W", "F", "E", "X", "V"))


def equalities(value: sp.Expr) -> tuple[Constraint, Constraint]:
    """Return the constraint that the inner product with E is this value, as two inequalities."""
    return (E.__matmul__, value), ((-E).__matmul__, -value)


def ensure_projection() -> None:
    """Prove that W_fin is the projection of W on E, and that V is orthogonal to W_fin and to E."""
    seen, constraints = "W has its own inner products with E", equalities(inner("E", "W"))
    ensure_zero([margin(W) - bound for margin, bound in constraints], seen)
    ensure_existence(seen, constraints, "W_fin")
    step = sp.Symbol("step", real=True)
    moved = F + step * E
    ensure_equal(
        sp.diff(moved @ moved, step).subs(step, 0),
        2 * inner("F", "E"),
        "W_fin + E is admitted wherever E is orthogonal to the span, so W_fin is orthogonal to E: "
        "it lies in the span",
    )
    facts = {inner("F", "W"): inner("F", "F")}
    ensure_zero((F @ (W - F)).subs(facts), "<W_fin, V> = 0, as W_fin in the span sees W as itself")
    ensure_zero(
        ((W - F) @ (W - F) - (W @ W - F @ F)).subs(facts).expand(),
        "||W||^2 = ||W_fin||^2 + ||V||^2",
    )


def prove_finite() -> str:
    """Prove that W = W_fin and W_svm = 0 if all tokens are kept and W lies in the span E."""
    ensure_projection()
    suppose(ALL)
    ensure_zero(
        [E @ (0 * V), (0 * V) @ (0 * V)],
        "0 meets the equalities, which are all constraints of Gen-SVM, so that W_svm is 0",
    )
    suppose(SEEN)
    seen = ((W - F) @ (W - F)).subs(inner("W", "W"), inner("F", "W"))
    ensure_zero(
        seen.subs(inner("F", "W"), inner("F", "F")).expand(),
        "||V||^2 = 0, as <W, V> = 0 for W in the span and <W_fin, V> = 0",
    )
    return "for any n, T and d"


def prove_solvable() -> str:
    """Prove that W_svm exists and mu ||W_svm|| <= ||V|| if mu > 0: V/mu meets the constraints."""
    ensure_projection()
    suppose(POSITIVE)
    mu = sp.Symbol("mu", positive=True)
    meets = "V/mu has margins of 1 at least, as those of V are at least mu, and <E, V/mu> = 0"
    facts = {inner("A", "V"): mu + MORE, inner("E", "V"): 0}
    constraints = (A.__matmul__, sp.Integer(1)), *equalities(sp.Integer(0))
    ensure_nonnegative(
        [(margin(V / mu)).subs(facts) - bound for margin, bound in constraints],
        meets,
        normal=expanded,
    )
    ensure_existence(meets, constraints, "Gen-SVM")
    size = sp.Symbol("size", positive=True)  # ||W_svm||^2
    comparison = longer(SYMBOLS, mu**2 * (size + MORE), size, mu)
    ensure_nonnegative(
        comparison.right**2 - comparison.left**2,
        "where ||V/mu||^2 is at least ||W_svm||^2 the comparison holds",
        normal=expanded,
    )
    return "for any n, T, d and kept tokens"


def prove_correlation() -> str:
    """Prove that <V, W_svm> >= mu ||W_svm||^2, and W_svm is orthogonal to W_fin."""
    prove_solvable()
    ensure_sum_of_multipliers()
    mu, size = sp.symbols("mu size", positive=True)
    ensure_mean(
        sp.Symbol("w", nonnegative=True),
        mu + MORE,
        "<V, W_svm> - mu sum_j w_j is a sum over tokens left out of w_j (<A_j, V> - mu); "
        "equalities add 0 as V is orthogonal to E",
        least=mu,
    )
    c = sp.Symbol("c", real=True)
    ensure_zero(
        ((c * E) @ X).subs(inner("E", "X"), 0),
        "<W_fin, W_svm> = 0, term by term of W_fin in the span: W_svm meets the equalities",
    )
    along, fin = mu * size + MORE, sp.Symbol("fin", nonnegative=True)
    target = F + c * X
    facts = {inner("F", "X"): 0, inner("F", "W"): fin, inner("F", "F"): fin}
    facts |= {inner("X", "X"): size, inner("W", "X"): along}  # which is <V, W_svm>
    aligned = ((W @ target) ** 2 / (target @ target)).subs(facts)
    best = fin + along**2 / size
    ensure_equal(
        [aligned.subs(c, along / size), best - aligned],
        [best, fin * (along - c * size) ** 2 / (size * (fin + c**2 * size))],
        "<W, U>^2/||U||^2 for U = W_fin + c W_svm is that at the best c, which no other c exceeds",
        normal=cancelled,
    )
    cite(CAUCHY_SCHWARZ)
    positive, low, high = comparisons(split(SYMBOLS, best + LESS, fin, size, along, mu))
    ensure_positive(positive.right - positive.left, "||W||^2, at least mu^2 ||W_svm||^2, is not 0")
    ensure_nonnegative(
        [low.right - low.left, high.right - high.left],
        "both comparisons hold where <V, W_svm> >= mu ||W_svm||^2 and <V, "
        "W_svm>^2/||W_svm||^2 <= ||V||^2 = ||W||^2 - ||W_fin||^2",
        normal=expanded,
    )
    return "for any n, T, d and kept tokens"


def prove_bounded() -> str:
    """Prove that each margin is within a constant of ln k, for inputs of two tokens.

    The A_i of the inputs are orthogonal.
    """
    suppose(ORTHOGONAL)
    A, B = vector("A"), vector("B")
    m, e = sp.symbols("m e", positive=True)
    apart = {inner("A", "B"): 0}
    moved = (V + e * A + MORE * B - V) @ A
    ensure_equal(
        moved.subs(apart), e * inner("A", "A"), "a step moves the margin <A_i, W> by its own A_i"
    )
    best, low = sp.Symbol("best", real=True), sp.Symbol("gap", positive=True)
    share = 1 / (1 + sp.exp(-m))
    slope = sp.diff(share * best + (1 - share) * (best - low), m)
    ensure_equal(
        slope,
        low * share * (1 - share),
        "the score of an input rises with its margin by s_1 s_2 times the gap of the scores: the "
        "margin moves by -e l'(u) ||A_i||^2 gap/n s_1 s_2, which lies between c s_1 s_2 and C s_1 "
        "s_2, as l' rises from gamma_2 to gamma_1",
        normal=simplified,
    )
    cite(SLOPES_OF_CONVEX, met={CONVEX_FUNCTION: CONVEX_LOSS})
    ensure_logarithmic(FALLING, _FORWARD, BETTER)
    svm = A / inner("A", "A") + B / inner("B", "B")
    ensure_equal(
        [(svm @ A).subs(apart), (svm @ B).subs(apart)],
        [1, 1],
        "W_svm is the sum of the A_i/||A_i||^2, with multipliers 1/||A_i||^2, and W(k), in the "
        "span, that of the m_i A_i/||A_i||^2: W(k) - ln k W_svm has coefficients m_i - ln k",
        normal=cancelled,
    )
    return "for any n and d, and every convex loss with l' < 0"


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


def prove_kept_pair() -> str:
    """Prove that |m| is bounded, for any steps, if h rises from each of two tokens to the other."""
    suppose(FORWARD, BOTH)
    ensure_step()
    prove_smooth()
    beta, g, size, square = sp.symbols("beta g size square", positive=True)
    other = sp.Symbol("g_2", positive=True)
    ensure_positive(
        (g + other + MORE) - g,
        "at s_2 = 1 the slope of h towards x_2, g_1 at x_1, is -g_2 and at least g_1 - beta: so "
        "beta is at least g_1 + g_2, above g_1, and the bound is a number",
    )
    share = g / (beta * (1 + MORE))  # s_2 of at most g_1/beta
    ensure_nonnegative(
        -(beta * share - g),
        "where s_2 <= g_1/beta the slope of h along x_1 - x_2, at most beta s_2 - g_1, is not "
        "above 0: then m does not grow, and is at most what it was",
        normal=factored,
    )
    share = g * (1 + MORE) / beta  # s_2 of at least g_1/beta
    ensure_equal(1 / (1 / (1 + sp.exp(T))) - 1, sp.exp(T), "exp(m) is 1/s_2 - 1", normal=simplified)
    ensure_nonnegative(
        (beta / g - 1) - (1 / share - 1),
        "where s_2 is at least g_1/beta, exp(m) = 1/s_2 - 1 is at most beta/g_1 - 1",
        normal=factored,
    )
    s = sp.Symbol("s", positive=True)
    ensure_nonnegative(
        sp.Rational(4, 27)
        - (1 - s) * s**2
        - (s - sp.Rational(2, 3)) ** 2 * (s + sp.Rational(1, 3)),
        "s_2^2 s_1 is at most 4/27",
        normal=expanded,
    )
    suppose(GENTLE)
    steep, product = 1 / (1 + LESS), sp.Rational(4, 27) / (1 + MORE)  # -l' and s_2^2 s_1
    room = farthest(size, square, beta)
    ensure_nonnegative(
        room - size * square * steep * beta * product,
        "there m grows by e ||A||^2 (-l') (beta s_2 - g_1) s_1 s_2, which is at most e "
        "||A||^2 beta s_2^2 s_1, and so by no more than the formula allows",
        normal=factored,
    )
    bound, before = sp.log(beta / g - 1) + room, sp.Symbol("m", real=True)
    for after, larger, what in (
        (before - MORE, before, "where it does not grow"),
        (bound - MORE, bound, "where it grows"),
    ):
        comparison = raised(_Larger(larger), before, after, beta, g, room)
        ensure_nonnegative(
            comparison.right - comparison.left,
            f"m is at most the larger one of what it was and the bound {what}, and so is -m",
            normal=expanded,
        )
    return "for every phi with |phi''| <= c, as those that run, any d and number of units"


class _Larger(Symbols):
    """The arithmetic of symbols in which `maximum` returns a chosen one of its two arguments.

    The larger of two numbers is no less than either. So an upper bound by one of them proves the
    bound by the larger one.
    """

    def __init__(self, either: sp.Expr) -> None:
        self.either = either

    def maximum(self, x: Number, y: Number) -> sp.Expr:
        """Return the chosen number, which must be x or y."""
        ensure_zero(
            (self.either - x) * (self.either - y),
            "the larger one of two numbers, with which m is compared, is one of these",
        )
        return self.either


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


def prove_unbounded() -> str:
    """Prove that ||W(k) - c W_svm|| is unbounded for every c, on the example of sharp-2.

    One tight constraint has multiplier 0, and its margin exceeds the other one by any bound.
    """
    w1, w2, to = sp.symbols("w_1 w_2 to", real=True)
    # -l' times the step
    q = supposed_number(FALLING, "|l'|", positive=True)
    q *= supposed_number(_FORWARD, "e", positive=True)
    logits = [sp.Integer(0), -w1, -w1 - w2]
    weights = [sp.exp(a) for a in logits]
    total = sum(weights)
    s = [w / total for w in weights]
    score = 2 * s[0] - s[1] - s[2]
    slopes = [sp.diff(score, w) for w in (w1, w2)]
    ensure_equal(
        slopes,
        [3 * s[0] * (s[1] + s[2]), 3 * s[0] * s[2]],
        "the slope of the score is 3 s_1 (s_2 + s_3) in w_1, and 3 s_1 s_3 in w_2",
        normal=simplified,
    )
    ensure_positive(
        [q * slopes[0], q * slopes[1]],
        "w_1 and w_2 both grow, as -l', the step and these slopes are positive",
        normal=factored,
    )
    ensure_zero(
        simplified(slopes[0] - (1 + sp.exp(w2)) * slopes[1]),
        "w_1 grows by 1 + exp(w_2) times as much as w_2",
    )
    convex = "f(x) = x + exp(x) is convex, with f'(x) = 1 + exp(x)"
    f = to + sp.exp(to)
    ensure_positive(sp.diff(f, to, 2), convex)
    ensure_equal(
        sp.diff(f, to), 1 + sp.exp(to), "the derivative of f(x) = x + exp(x) is 1 + exp(x)"
    )
    cite(TANGENT, met={SECOND_DERIVATIVE: convex})
    first, top = sp.symbols("first f(bound)", real=True)
    bounded = (
        "f(w_2) - w_1 never falls below its first value, so that w_1 is at most f(bound) - first "
        "where w_2 is at most a bound: both grow and are bounded"
    )
    ensure_nonnegative((top - first) - ((top - LESS) - (first + MORE)), bounded, normal=expanded)
    cite(MONOTONE_SEQUENCE, met={MONOTONE: bounded})
    cite(
        COMPOSED, met={CONTINUOUS: SMOOTH_SLOPE}
    )  # for l', and so for the length of a step, which would tend to 0
    ensure_positive(
        slopes[0],
        "at a limit the step of w_1 would be positive, so that w_2 is unbounded, and so is "
        "||W(k) - c W_svm||, which is at least |w_2|",
        normal=factored,
    )
    differences, w, multipliers = sp.Matrix([[1, 0], [1, 1]]), sp.Matrix([1, 0]), sp.Matrix([1, 0])
    ensure_equal(
        [*(differences * w), *(differences.T * multipliers - w)],
        [1, 1, 0, 0],
        "w = (1, 0) has both margins 1, and is 1 times the first difference and 0 times the second",
    )
    ensure_multipliers_suffice()
    return "for every loss with continuous l' < 0, every start and constant step"
