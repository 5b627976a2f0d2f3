"""Section 3.3, sixth bound: the diagonal matrix of the attention weights is Lipschitz.

The domain is that of lemma 3.13, beta a lower bound of alpha(x) and alpha(y). The norm on the left
is not named. The spectral norm of a diagonal matrix is the largest absolute value of its entries;
its Frobenius norm is the Euclidean norm of the diagonal.

spread(A) = max ||A_i - A_j|| / sqrt 2 <= ||A||. The printed bound follows from the fourth one, for
every R. Both sharp bounds are approached by two tokens of equal weight, x, y -> 0, with the other
tokens as in the fourth bound. sharp-2 is the fourth bound itself. For sharp-1, the slope of f_t is
f_t (s_t - mean of s), at most f_t (1 - f_t)(max s - min s) (`symbolic.sim.sharp`).
"""

from collections.abc import Callable

from attsvm.theory import Reading, Statement, changed, definition
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE
from properties.sim._support import bounds


@definition(r"\left\|\mathrm{{diag}}\,{p} - \mathrm{{diag}}\,{q}\right\|_{{\mathrm{{op}}}}")
def spectral(m: Namespace, p: Number, q: Number) -> Number:
    """Return the largest change of an entry."""
    return m.largest(p - q)


@definition(r"\left\|\mathrm{{diag}}\,{p} - \mathrm{{diag}}\,{q}\right\|_F")
def frobenius(m: Namespace, p: Number, q: Number) -> Number:
    """Return the length of the change of all entries."""
    return m.norm(p - q)


def change(m: Namespace, v: Values, norm: str) -> Number:
    """Return ||diag f(x) - diag f(y)|| in the named norm, from the entries."""
    size = {"spectral": spectral, "frobenius": frobenius}[norm]
    return size(m, bounds.f(m, v.A, v.x), bounds.f(m, v.A, v.y))


def printed(m: Namespace, v: Values, norm: str, exponential: bool = True) -> Comparison:
    """Return that ||diag f(x) - diag f(y)|| <= beta^-2 n exp(3 R^2) ||x - y||."""
    constant = bounds.published(m, v, exponential=exponential)
    return bounds.within(m, v, change(m, v, norm), constant)


def sharp(
    m: Namespace, v: Values, norm: str, constant: Callable[[Namespace], Number]
) -> Comparison:
    """Return that ||diag f(x) - diag f(y)|| is at most a constant times spread(A) ||x - y||."""
    return bounds.within(m, v, change(m, v, norm), constant(m) * m.spread(v.A))


BOUND = Statement(
    "sim/basic-6",
    rests_on=("sim/basic-4",),
    source=SOURCE,
    place="Section 3.3, sixth bound",
    printed="||diag f(x) - diag f(y)|| <= beta^-2 n exp(3 R^2) ||x - y||_2",
    variables={**bounds.POINTS, **bounds.BOUNDS},
    hypotheses=bounds.LISTED,
    conclusion=printed,
    readings={
        **bounds.published_in_both_norms("symbolic.sim.published:prove_sixth"),
        "sharp-1": Reading(
            proof="symbolic.sim.sharp:prove_entries",
            constants={"norm": "spectral", "constant": bounds.entry_constant},
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED),
            siblings={"in the Frobenius norm": changed(norm="frobenius")},
        ),
        "sharp-2": Reading(
            proof="symbolic.sim.sharp:prove_fourth",
            depends_on=("sim/basic-4:sharp",),
            constants={"norm": "frobenius", "constant": bounds.softmax_constant},
            conclusion=sharp,
            **bounds.WHOLE_SPACE,
            examples=(bounds.ONE_TOKEN, bounds.BALANCED),
            siblings={"the spectral constant sqrt(2)/4": changed(constant=bounds.entry_constant)},
        ),
    },
)
