"""Lemma 3.13 for the Hessian: its bound on gradients, seen as an operator norm.

The domain ||A x|| <= R of the lemma is convex with 0 inside and L is smooth. So the best Lipschitz
constant of the gradient there is the supremum of ||Hess L||. Read: ||Hess L(x)|| is at most 3 n^3
R^7 exp(13 R^2) if R >= 4, ||A x|| <= R and ||A|| <= R.

L(x) = g(b <softmax(A x), h>) as in lemma 3.13; A is a block of A_1 kron A_2: row j0 of A_1, kron
A_2, so d^2 columns.

It falls as the lemma does: with n = 2, A = (4, 0), h = (1, -1), R = 4 the bound fails at x = 2^-161
for b = 2^161. Two tokens attain the K of lemma 3.13. Proof, step by step:
`symbolic.sim.lemma_3_13`.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction

from attsvm.theory import Fitted, Reading, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE
from properties.sim._support import entry_instances as pairs
from properties.sim._support.entry import (
    HEAD,
    LABEL,
    LISTED_RADIUS,
    LOGITS_OF_X,
    MATRIX,
    POINT,
    on_line,
)
from properties.sim._support.entry_loss import K, hessian, published


def at_x(case: Mapping[str, object], x: object) -> dict[str, object]:
    """Return an instance of lemma 3.13 without its second point; x is the first one."""
    names = ("X", "Y") if "X" in case else ("x", "y")
    return {**{name: case[name] for name in case if name != names[1]}, names[0]: x}


LISTED = (LISTED_RADIUS, LOGITS_OF_X, MATRIX)
BARE = on_line([1, 0, 0, 0], x=0, h=[3, -1, -1, -1], b=1, R=4)
"""Four tokens with <f, h> = 0, at which the curvature of L grows like b nevertheless."""

ONE_MISSED = {
    LISTED_RADIUS: at_x(pairs.ONE_MISSED[LISTED_RADIUS], [1]),
    MATRIX: at_x(pairs.ONE_MISSED[MATRIX], [1 / Fraction(pairs.HUGE)]),
    LABEL: {**BARE, "b": pairs.HUGE},
    HEAD: {**BARE, "h": [3 * pairs.HUGE, -pairs.HUGE, -pairs.HUGE, -pairs.HUGE]},
}
"""Instances that miss one condition of the amended reading and break its bound."""


@stated("", where="Hess L is the Hessian of L(x) = g(b <softmax(A x), h>)")
def curvature(m: Namespace, v: Values, constant: str, power: int = 2) -> Comparison:
    """||Hess L(x)|| is at most the named constant."""
    constants: dict[str, Callable[[], Number]] = {
        "printed": lambda: published(m, v.n, v.R),
        "norm": lambda: m.power(m.spectral(v.A), power) * K(m, m.abs(v.b) * m.oscillation(v.h)),
        "one": lambda: m.exact(1),
    }
    return m.at_most(m.spectral(hessian(m, v.A, v.x, v.h, v.b)), constants[constant]())


LEMMA = Statement(
    "sim/lemma-3.13-hessian",
    rests_on=("sim/lemma-3.13",),
    source=SOURCE,
    place="The Hessian behind lemma 3.13",
    read_off="lemma 3.13",
    printed="|grad L(x,:) - grad L(x^,:)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^||_2",
    variables={**POINT, "R": Fitted()},
    conclusion=curvature,
    readings={
        "literal": Reading(
            "refuted",
            read={
                "grad L(x,:) - grad L(x^,:)": "the change of the gradient that the Hessian bounds"
            },
            constants={"constant": "printed"},
            under=LISTED,
            variables={name: pairs.BLOCK[name] for name in pairs.BLOCK if name not in ("Y", "y")},
            examples=(at_x(pairs.ONE_BLOCK, [[0]]), at_x(pairs.LARGE_BLOCK, [[pairs.SMALL]])),
            siblings=pairs.CONSTANT,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13:prove_published_hessian",
            depends_on=("sim/lemma-3.13-hessian:sharp",),
            constants={"constant": "printed"},
            under=(LISTED_RADIUS, MATRIX, LABEL, HEAD),
            siblings={
                **pairs.CONSTANT,
                **pairs.missing(at_x(pairs.LARGE_LABEL, [pairs.SMALL]), ONE_MISSED),
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13:prove_hessian",
            constants={"constant": "norm"},
            under=(),
            variables={"R": None},
            tight=True,
            examples=(at_x(pairs.CLOSE, pairs.CLOSE["x"]),),
            siblings={"||A|| in place of its square": changed(power=1)},
        ),
    },
)
