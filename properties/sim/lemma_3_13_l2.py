"""Lemma 3.13 for the squared loss: the gradient of (<softmax(A x), h> - b)^2 is Lipschitz.

The paper prints no such lemma, so there is no literal reading. Section 1 speaks of Lipschitz
constants of the l2 loss ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2 as well, of which this is one
entry, and names none.

A has n rows (tokens) and D columns, h their values, b the label; w = max h - min h and
r = max |h - b|.

k(w, r) is w^2 times the maximum over a in [0, 1] of (1-a^2)((r/w - 1/2) a + (1-3a^2)/4). For
r = w/2, b in the middle of the values, it is w^2/4; for large r nearly 2 r w/(3 sqrt 3). Proof:
`symbolic.sim.lemma_3_13_l2`. A sum of squares of many entries has at most the sum of the constants.

sharp-2 knows the sizes that lemma 3.13 knows: ||A||, ||h|| and |b|. Its constant is ||A||^2 ||h||^2
c(|b|/||h||), and c has a closed form in a parameter u in [0, 1/3) that grows with t = |b|/||h||:

    t^2 = u (3-8u+15u^2-18u^3)^2 / (2 (1-3u)^2 Q),  Q = (1-2u+3u^2)^2 + u (1-3u)^2,
    c = (1-u)^2 (1+3u) (1-2u+3u^2)^2 / (2 (1-3u) Q).

c(0) = 1/2, c(1) = 0.7554567..., c(t) is nearly 2 sqrt 2 t/(3 sqrt 3) for large t; where ||A||,
||h||, |b| <= R the constant is c(1) R^4. At t = 3.5322... c is 2, the constant of linear attention
(sim/stability-l2). The risk of any number of inputs, each of these sizes, has the same best
constant. A mean of losses has at most the mean of their constants, and a mean over equal inputs is
the loss of one input.
"""

from fractions import Fraction

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE
from properties.sim._support.attention import on_line
from properties.sim._support.entry_loss import (
    PAIR,
    normed_constant,
    slope_change,
    squared_constant,
    squared_loss,
)

CENTRED = on_line([1, -1], x=0, y=Fraction(1, 128), h=[1, -1], b=0)
ASIDE = [Fraction(271, 256), Fraction(15, 256)]
BESIDE = on_line([1, -1], x=Fraction(-131, 512), y=Fraction(-65, 256), h=ASIDE, b=0)
"""Two tokens at which the loss bends most, b in the middle of h and beside it."""
FIRST, SECOND = Fraction(-183, 512), Fraction(-91, 256)
EQUAL_SIZES = on_line([1, -1], x=FIRST, y=SECOND, h=[890, -506], b=-1024)
"""The same for |b| = ||h||."""


def gradient_change(m: Namespace, v: Values, power: int = 2, by: str = "sizes") -> Comparison:
    """Compare the change of the gradient with ||A||^2 times the constant of the given sizes."""
    change, w = slope_change(m, v, squared_loss), m.oscillation(v.h)
    constants = {
        "sizes": lambda: squared_constant(m, w, m.largest(v.h - v.b)),
        "width": lambda: squared_constant(m, w, w / 2),  # as if b were in the middle
        "norms": lambda: normed_constant(m, m.dot(v.h, v.h), m.abs(v.b)),
        "length": lambda: normed_constant(m, m.dot(v.h, v.h), m.exact(0)),
    }
    right = m.power(m.spectral(v.A), power) * constants[by]() * m.norm(v.x - v.y)
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
            "proved",
            proof="symbolic.sim.lemma_3_13_l2:prove",
            tight=True,
            examples=(CENTRED, BESIDE),
            siblings={
                "as if b were in the middle of h": changed(by="width"),
                "||A|| in place of its square": changed(power=1),
            },
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13_l2:prove_normed",
            constants={"by": "norms"},
            depends_on=("sim/lemma-3.13-l2:sharp",),
            tight=True,
            examples=(EQUAL_SIZES, CENTRED),
            siblings={
                "as if b were 0": changed(by="length"),
                "||A|| in place of its square": changed(power=1),
            },
        ),
    },
)
