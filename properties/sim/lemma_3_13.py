"""Lemma 3.13: the gradient of one entry of the loss is Lipschitz.

All that is listed are R >= 4 and ||A x||, ||A y||, ||A|| <= R (spectral norm). A is a block of A_1
kron A_2: row j0 of A_1, kron A_2, so d^2 columns. L is that of definition 3.6 (the lemma says 3.5,
which has g alone). The second point is printed as y in the conditions and as x hat in the
conclusion, both as vectors of R^d; read: two points of R^(d^2), of which both are bounded.

Nothing listed bounds b or h. Where b <f, h> is of order one the curvature grows like b^2: with n =
2, A = (4, 0), h = (1, -1), R = 4 the bound fails between x = 0 and y = 2^-161 for b = 2^161. It
can fail there only where |b| (max h - min h) exceeds 2.09e48. With |b| and ||h|| at most R as
well the printed constant is 93 + 3 log10 n orders of magnitude above the best one at R = 4. Proof,
step by step: `symbolic.sim.lemma_3_13`.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from attsvm.theory import Fitted, Hypothesis, Matrix, Reading, Real, Statement, changed
from attsvm.theory.declaration.siblings import Changed
from properties.sim import SOURCE
from properties.sim._support import bounds
from properties.sim._support.attention import on_line
from properties.sim._support.domains import DOMAIN, HEAD, LABEL, LISTED_RADIUS, MATRIX, SIZES
from properties.sim._support.entry_loss import PAIR, K, gradient_change, published

BLOCK = {**bounds.BLOCK, "tokens": Matrix("n", "d"), "b": Real((0, 64, 160, 512))}
"""A is a block of A_1 kron A_2; labels may be large."""

SMALL = Fraction(1, 2**161)
LARGE_LABEL = on_line([4, 0], x=0, y=SMALL, h=[1, -1], b=2**161, R=4)
CLOSE = on_line(
    [1, -1], x=Fraction(21, 32), y=Fraction(85, 128), h=[Fraction(1, 64), Fraction(-1, 64)], b=1
)
"""Two tokens where L bends most."""

HUGE, TINY = 2**332, Fraction(1, 2**6)
HALF = TINY / 2
ONE_MISSED = {
    LISTED_RADIUS: on_line([HALF, -HALF], x=0, y=1, h=[HALF, -HALF], b=TINY, R=TINY),
    MATRIX: on_line([HUGE, 0], x=0, y=Fraction(1, HUGE), h=[1, -1], b=1, R=4),
    LABEL: on_line([1, 0], x=0, y=1, h=[1, -1], b=HUGE, R=4),
    HEAD: on_line([1, 0], x=0, y=1, h=[HUGE, -HUGE], b=1, R=4),
}
"""Instances that miss one condition of the amended reading and break its bound."""

LARGE_BLOCK = {
    **{name: LARGE_LABEL[name] for name in ("h", "b", "R")},
    "a": [1],
    "tokens": [[4], [0]],
    "X": [[0]],
    "Y": [[SMALL]],
}
ONE_BLOCK = {"a": [1], "tokens": [[1]], "X": [[0]], "Y": [[1]], "h": [1], "b": 1, "R": 4}
CONSTANT = {
    "1e-100 of the constant": changed(tightened="1e-100"),
    "1 as the constant": changed(constant="one"),
}


def missing(
    large_label: Mapping[str, Any], one_missed: Mapping[Hypothesis, Any]
) -> dict[str, Changed]:
    """Siblings of the amended readings that leave conditions out."""
    found = {"b and h of any size": changed(drop=SIZES, examples=[large_label])}
    for hypothesis, case in one_missed.items():
        found[f"without {hypothesis.name}"] = changed(drop=[hypothesis], examples=[case])
    return found


def bounded(m: Any, v: Any, constant: str, power: int = 2) -> Any:
    """||grad L(x) - grad L(y)|| against a constant times ||x - y||."""
    D = m.abs(v.b) * m.oscillation(v.h)
    constants = {
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
            "x^ read as y, R^d as R^(d^2), |.| as the norm and L as in definition 3.6: for R >= 4, "
            "||A x||, ||A y||, ||A|| at most R, A a block of A_1 kron A_2: "
            "||grad L(x) - grad L(y)|| <= 3 n^3 R^7 exp(13 R^2) ||x - y||",
            expected="refuted",
            constants={"constant": "printed"},
            under=DOMAIN,
            variables=BLOCK,
            examples=(ONE_BLOCK, LARGE_BLOCK),
            siblings={"1 as the constant": changed(constant="one")},
        ),
        "amended": Reading(
            "the printed bound holds for all x and y where R >= 4 and ||A||, |b|, ||h|| <= R",
            expected="proved",
            proof="symbolic.sim.lemma_3_13:prove_published",
            depends_on=("sim/lemma-3.13:sharp",),
            constants={"constant": "printed"},
            under=(LISTED_RADIUS, MATRIX, LABEL, HEAD),
            siblings={**CONSTANT, **missing(LARGE_LABEL, ONE_MISSED)},
        ),
        "sharp": Reading(
            "||grad L(x) - grad L(y)|| <= ||A||^2 K(|b| (max h - min h)) ||x - y|| on the whole "
            "space, without n and without an exponential, K(D) = D/8 max over a, c in [0, 1] of "
            "(1-c^2)(1-a^2)(a + D c (1-a^2)/4); no smaller K will do",
            expected="proved",
            proof="symbolic.sim.lemma_3_13:prove",
            constants={"constant": "norm"},
            under=(),
            variables={"R": None},
            tight=True,
            examples=(CLOSE,),
            siblings={"||A|| in place of its square": changed(power=1)},
        ),
        "sharp-2": Reading(
            "||grad L(x) - grad L(y)|| <= max ||A_j - A_k||^2/2 K(|b| (max h - min h)) ||x - y|| "
            "on the whole space, K(D) = D/8 max over a, c in [0, 1] of "
            "(1-c^2)(1-a^2)(a + D c (1-a^2)/4), the A_j being the rows of A; no smaller K will do",
            expected="proved",
            proof="symbolic.sim.lemma_3_13:prove",
            constants={"constant": "diameter"},
            under=(),
            variables={"R": None},
            tight=True,
            siblings={"without the square": changed(power=1)},
        ),
    },
)
