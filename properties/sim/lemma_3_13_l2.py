"""Lemma 3.13 for the squared loss: the gradient of (<softmax(A x), h> - b)^2 is Lipschitz.

The paper prints no such lemma, so there is no literal reading. Section 1 speaks of Lipschitz
constants of the l2 loss ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2 as well, of which this is one
entry, and names none.

A has n rows (tokens) and D columns, h their values, b the label; w = max h - min h and
r = max |h - b|.

k(w, r) is w^2 times the maximum over a in [0, 1] of (1-a^2)((r/w - 1/2) a + (1-3a^2)/4). For
r = w/2, b in the middle of the values, it is w^2/4; for large r nearly 2 r w/(3 sqrt 3). Proof:
`symbolic.sim.lemma_3_13_l2`. A sum of squares of many entries has the sum of the constants.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from attsvm.theory import Reading, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.attention import on_line
from properties.sim._support.entry_loss import PAIR, slope_change, squared_constant, squared_loss

CENTRED = on_line([1, -1], x=0, y=Fraction(1, 128), h=[1, -1], b=0)
ASIDE = [Fraction(271, 256), Fraction(15, 256)]
BESIDE = on_line([1, -1], x=Fraction(-131, 512), y=Fraction(-65, 256), h=ASIDE, b=0)
"""Two tokens where the loss bends most, b in the middle of h and beside it."""


def gradient_change(m: Any, v: Any, power: int = 2, centred: bool = False) -> Any:
    """The change of the gradient against ||A||^2 k(w, r) ||x - y||, or r = w/2 whatever b is."""
    change, w = slope_change(m, v, squared_loss), m.oscillation(v.h)
    constant = squared_constant(m, w, w / 2 if centred else m.largest(v.h - v.b))
    right = m.power(m.spectral(v.A), power) * constant * m.norm(v.x - v.y)
    return m.at_most(m.norm(change), right)


LEMMA = Statement(
    "sim/lemma-3.13-l2",
    rests_on=("sim/l2-objective",),
    source=SOURCE,
    place="Section 1, l2 loss; as lemma 3.13",
    printed="||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2",
    variables=PAIR,
    conclusion=gradient_change,
    readings={
        "sharp": Reading(
            "the gradient of (<f, h> - b)^2 is ||A||^2 w^2 k(r/w - 1/2)-Lipschitz on the whole "
            "space, w = max h - min h, r = max |h - b|, k(x) = max over a in [0, 1] of "
            "(1-a^2)(x a + (1-3a^2)/4); no smaller function of w and r will do",
            expected="proved",
            proof="symbolic.sim.lemma_3_13_l2:prove",
            tight=True,
            examples=(CENTRED, BESIDE),
            siblings={
                "as if b were in the middle of h": changed(centred=True),
                "||A|| in place of its square": changed(power=1),
            },
        ),
    },
)
