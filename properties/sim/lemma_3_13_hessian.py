"""Lemma 3.13 for the Hessian: its bound on gradients, seen as an operator norm.

    |grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||_2,  R >= 4.

The domain ||A x|| <= R of the lemma is convex with 0 inside and L is smooth, so the gradient is
Lipschitz there with the supremum of ||Hess L|| over it and with no less. Read: ||Hess L(x)|| is at
most 3 n^3 R^7 exp(13 R^2) where R >= 4, ||A x|| <= R and ||A|| <= R.

L(x) = g(b <softmax(A x), h>) as in lemma 3.13; A is a block of A_1 kron A_2: row j0 of A_1, kron
A_2, so d^2 columns.

| reading | constant | on | verdict |
| --- | --- | --- | --- |
| literal | as printed | the listed conditions | falls: nothing bounds b or h |
| amended | as printed | also abs(b), norm h <= R | proved, 93 + 3 log10 n orders too large |
| sharp | norm A squared K(abs(b) osc h) | the whole space | proved, no smaller K will do |

It falls as the lemma does: with n = 2, A = (4, 0), h = (1, -1), R = 4 the bound fails at x = 2^-161
for b = 2^161. Two tokens attain K. Proof, step by step: `symbolic.sim.lemma_3_13`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attsvm.theory import Fitted, Reading, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.entry_loss import POINT, K, hessian, published
from properties.sim.lemma_3_13 import BLOCK

LARGE_LABEL = {"A": [[4], [0]], "x": [Fraction(1, 2**161)], "h": [1, -1], "b": 2**161, "R": 4}
LARGE_LABEL_BLOCK = {
    "a": [1],
    "tokens": [[4], [0]],
    "X": [[Fraction(1, 2**161)]],
    "h": [1, -1],
    "b": 2**161,
    "R": 4,
}
CLOSE = {
    "A": [[1], [-1]],
    "x": [Fraction(21, 32)],
    "h": [Fraction(1, 64), Fraction(-1, 64)],
    "b": 1,
}
"""Two tokens where L bends most."""

HUGE, TINY = 2**332, Fraction(1, 2**6)
ONE_MISSED = {
    "R >= 4": {"A": [[TINY / 2], [-TINY / 2]], "x": [1], "h": [TINY / 2, -TINY / 2], "b": TINY},
    "||A|| <= R": {"A": [[HUGE], [0]], "x": [Fraction(1, HUGE)], "h": [1, -1], "b": 1},
    "|b| <= R": {"A": [[1], [0], [0], [0]], "x": [0], "h": [3, -1, -1, -1], "b": HUGE},
    "||h|| <= R": {
        "A": [[1], [0], [0], [0]],
        "x": [0],
        "h": [3 * HUGE, -HUGE, -HUGE, -HUGE],
        "b": 1,
    },
}
"""Instances that miss one condition of the amended reading and break its bound; R is 4, or tiny.

With four tokens <f, h> = 0 at x = 0, where L bends like b nevertheless.
"""

LISTED = ("R >= 4", "||A x|| <= R", "||A|| <= R")
ADDED = ("|b| <= R", "||h|| <= R")


def curvature(m: Any, v: Any, constant: str, power: int = 2) -> Any:
    """||Hess L(x)|| against a constant."""
    constants = {
        "printed": lambda: published(m, v.n, v.R),
        "norm": lambda: m.power(m.spectral(v.A), power) * K(m, m.abs(v.b) * m.oscillation(v.h)),
        "one": lambda: m.exact(1),
    }
    return m.at_most(m.spectral(hessian(m, v.A, v.x, v.h, v.b)), constants[constant]())


LEMMA = Statement(
    "sim/lemma-3.13-hessian",
    source=SOURCE,
    place="The Hessian behind lemma 3.13",
    printed="|grad L(x) - grad L(y)| <= 3 n^3 R^7 exp(13 R^2) ||x - y||_2",
    variables={**POINT, "R": Fitted()},
    hypotheses={
        "R >= 4": lambda m, v: m.at_least(v.R, m.exact(4)),
        "||A x|| <= R": lambda m, v: m.at_most(m.norm(v.A @ v.x), v.R),
        "||A|| <= R": lambda m, v: m.at_most(m.spectral(v.A), v.R),
        "|b| <= R": lambda m, v: m.at_most(m.abs(v.b), v.R),
        "||h|| <= R": lambda m, v: m.at_most(m.norm(v.h), v.R),
    },
    conclusion=curvature,
    readings={
        "literal": Reading(
            "for R >= 4, ||A x||, ||A|| at most R, A a block of A_1 kron A_2: "
            "||Hess L(x)|| <= 3 n^3 R^7 exp(13 R^2)",
            expected="refuted",
            constants={"constant": "printed"},
            under=LISTED,
            variables={name: BLOCK[name] for name in BLOCK if name not in ("Y", "y")},
            examples=(
                {"a": [1], "tokens": [[1]], "X": [[0]], "h": [1], "b": 1, "R": 4},
                LARGE_LABEL_BLOCK,
            ),
            siblings={
                "1e-100 of the constant": changed(tightened="1e-100"),
                "1 as the constant": changed(constant="one"),
            },
        ),
        "amended": Reading(
            "the printed constant bounds ||Hess L(x)|| where also |b| <= R and ||h|| <= R",
            expected="proved",
            proof="symbolic.sim.lemma_3_13:prove_published",
            depends_on=("sim/lemma-3.13-hessian:sharp",),
            constants={"constant": "printed"},
            siblings={
                "1e-100 of the constant": changed(tightened="1e-100"),
                "1 as the constant": changed(constant="one"),
                "b and h of any size": changed(drop=ADDED, examples=[LARGE_LABEL]),
                **{
                    f"without {name}": changed(
                        drop=[name], examples=[{**case, "R": TINY if name == "R >= 4" else 4}]
                    )
                    for name, case in ONE_MISSED.items()
                },
            },
        ),
        "sharp": Reading(
            "||Hess L(x)|| <= ||A||^2 K(|b| (max h - min h)) for every x, without n and without "
            "an exponential; no smaller K will do",
            expected="proved",
            proof="symbolic.sim.lemma_3_13:prove",
            constants={"constant": "norm"},
            under=(),
            variables={"R": None},
            tight=True,
            examples=(CLOSE,),
            siblings={"||A|| in place of its square": changed(power=1)},
        ),
    },
)
