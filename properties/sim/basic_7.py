"""Section 3.3, seventh bound: the outer product of the attention weights is Lipschitz.

The domain is that of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). As printed there is
no norm around the matrix on the left, and no transpose on its last f(y). The spectral norm bounds
every entry as well, and the matrix itself in the Loewner order.

spread(A) = max ||A_i - A_j|| / sqrt 2 <= ||A||. The printed bound holds for every R. sharp-1 is
approached by two tokens of weights (1 +- q)/2, q^2 = 2/sqrt 3 - 1, x -> y; sharp-2 by two tokens of
equal weight, x, y -> 0. Any further tokens get weights that tend to 0, as for the fourth bound.

The proofs are in docs/proofs/lipschitz_of_softmax.md, their steps in `symbolic.sim.basic_7`.
"""

from collections.abc import Callable
from fractions import Fraction

from attsvm.theory import Reading, Statement, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Values
from properties.sim import SOURCE
from properties.sim._support import bounds

TILTED = {"A": [[1], [-1]], "x": [Fraction(1703, 4096)], "y": [Fraction(1704, 4096)]}
"""Two tokens whose logits differ by 0.8317: weights (1 +- q)/2, q^2 = 2/sqrt 3 - 1."""


@definition(r"\left\|{p} {p}^\top - {q} {q}^\top\right\|_{{\mathrm{{op}}}}")
def spectral(m: Namespace, p: Number, q: Number) -> Numbers:
    """Return ||p p^T - q q^T||: the matrix is (a b^T + b a^T)/2 for a = p - q, b = p + q."""
    a, b = p - q, p + q
    return (m.abs(m.dot(a, b)) + m.norm(a) * m.norm(b)) / 2


@definition(r"\left\|{p} {p}^\top - {q} {q}^\top\right\|_F")
def frobenius(m: Namespace, p: Numbers, q: Numbers) -> Number:
    """Return the length of the matrix, all its entries in a row."""
    return m.norm(m.outer(p, p) - m.outer(q, q))


def change(m: Namespace, v: Values, norm: str) -> Number:
    """Return ||f(x) f(x)^T - f(y) f(y)^T|| in the named norm."""
    size = {"spectral": spectral, "frobenius": frobenius}[norm]
    return size(m, bounds.f(m, v.A, v.x), bounds.f(m, v.A, v.y))


def printed(m: Namespace, v: Values, norm: str, exponential: bool = True) -> Comparison:
    """Return that ||f(x) f(x)^T - f(y) f(y)^T|| <= 2 beta^-3 n^2 exp(5 R^2) ||x - y||."""
    constant = bounds.published(m, v, 3, exponential=exponential)
    return bounds.within(m, v, change(m, v, norm), constant)


def sharp(
    m: Namespace, v: Values, norm: str, constant: Callable[[Namespace], Number]
) -> Comparison:
    """Return that ||f(x) f(x)^T - f(y) f(y)^T|| is at most a constant times spread(A) ||x - y||."""
    return bounds.within(m, v, change(m, v, norm), constant(m) * m.spread(v.A))


BOUND = Statement(
    "sim/basic-7",
    rests_on=("sim/basic-4",),
    source=SOURCE,
    place="Section 3.3, seventh bound",
    printed="f(x) f(x)^T - f(y) f(y) <= 2 beta^-3 n^2 exp(5 R^2) ||x - y||_2",
    variables={**bounds.POINTS, **bounds.BOUNDS},
    hypotheses=bounds.LISTED,
    conclusion=printed,
    readings={
        **bounds.published_in_both_norms("symbolic.sim.published:prove_seventh"),
        "sharp-1": Reading(
            proof="symbolic.sim.basic_7:prove",
            constants={"norm": "spectral", "constant": bounds.outer_constant},
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED, TILTED),
            siblings={"in the Frobenius norm": changed(norm="frobenius")},
        ),
        "sharp-2": Reading(
            proof="symbolic.sim.basic_7:prove_frobenius",
            constants={"norm": "frobenius", "constant": bounds.softmax_constant},
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED),
            siblings={"the spectral constant 3^(-3/4)": changed(constant=bounds.outer_constant)},
        ),
    },
)
