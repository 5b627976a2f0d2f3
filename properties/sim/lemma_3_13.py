"""Lemma 3.13: the gradient of one entry of the loss is Lipschitz.

The lemma lists only R >= 4 and ||A x||, ||A y||, ||A|| <= R (spectral norm). A is a block of A_1
kron A_2: row j0 of A_1, kron A_2, so d^2 columns. L is that of definition 3.6 (the lemma says 3.5,
which has g alone). The second point is printed as y in the conditions and as x hat in the
conclusion, both as vectors of R^d. Read: two points of R^(d^2), of which both are bounded.

Nothing listed bounds b or h. If b <f, h> is of order one the curvature grows like b^2: with n = 2,
A = (4, 0), h = (1, -1), R = 4 the bound fails between x = 0 and y = 2^-161 for b = 2^161. At n = 2,
R = 4 it can fail only if |b| (max h - min h) exceeds 2.09e48. With |b| and ||h|| at most R as well,
the printed constant is 93 + 3 log10 n orders of magnitude above the best one at R = 4. Proof, step
by step: `symbolic.sim.lemma_3_13`.
"""

from collections.abc import Callable

from attsvm.theory import Fitted, Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Number, Values
from properties.sim import SOURCE
from properties.sim._support.entry import DOMAIN, HEAD, LABEL, LISTED_RADIUS, MATRIX, PAIR
from properties.sim._support.entry_instances import (
    BLOCK,
    CLOSE,
    CONSTANT,
    LARGE_BLOCK,
    LARGE_LABEL,
    ONE_BLOCK,
    ONE_MISSED,
    missing,
)
from properties.sim._support.entry_loss import K, gradient_change, published


def bounded(m: Namespace, v: Values, constant: str, power: int = 2) -> Comparison:
    """Return that ||grad L(x) - grad L(y)|| is at most the named constant times ||x - y||."""
    D = m.abs(v.b) * m.oscillation(v.h)
    constants: dict[str, Callable[[], Number]] = {
        "printed": lambda: published(m, v.n, v.R),
        "norm": lambda: m.power(m.spectral(v.A), power) * K(m, D),
        "diameter": lambda: m.power(m.spread(v.A), power) * K(m, D),
        "one": lambda: m.exact(1),
    }
    return m.at_most(gradient_change(m, v), constants[constant]() * m.norm(v.x - v.y))


LEMMA = Statement(
    "sim/lemma-3.13",
    rests_on=(
        "sim/lemma-3.11",
        "sim/lemma-3.12",
        "sim/logistic-lipschitz",
        "sim/basic-1",
        "sim/basic-2",
        "sim/basic-3",
        "sim/basic-4",
        "sim/basic-5",
        "sim/basic-6",
        "sim/basic-7",
    ),
    source=SOURCE,
    place="Lemma 3.13",
    printed="|grad L(x,:) - grad L(x^,:)| <= 3 n^3 R^7 exp(13 R^2) ||x - x^||_2",
    variables={**PAIR, "R": Fitted()},
    conclusion=bounded,
    readings={
        "literal": Reading(
            "refuted",
            read={"x^": "y"},
            constants={"constant": "printed"},
            under=DOMAIN,
            variables=BLOCK,
            examples=(ONE_BLOCK, LARGE_BLOCK),
            siblings={"1 as the constant": changed(constant="one")},
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13:prove_published",
            depends_on=("sim/lemma-3.13:sharp",),
            constants={"constant": "printed"},
            under=(LISTED_RADIUS, MATRIX, LABEL, HEAD),
            siblings={**CONSTANT, **missing(LARGE_LABEL, ONE_MISSED)},
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13:prove",
            constants={"constant": "norm"},
            under=(),
            variables={"R": None},
            tight=True,
            examples=(CLOSE,),
            siblings={"||A|| in place of its square": changed(power=1)},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13:prove",
            constants={"constant": "diameter"},
            under=(),
            variables={"R": None},
            tight=True,
            examples=(CLOSE,),
            siblings={"without the square": changed(power=1)},
        ),
    },
)
