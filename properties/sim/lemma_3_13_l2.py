"""Lemma 3.13 for the squared loss: the gradient of (<softmax(A x), h> - b)^2 is Lipschitz.

The paper prints no such lemma, so there is no literal reading. Section 1 speaks of Lipschitz
constants of the l2 loss ||D(X)^-1 exp(A1 X A2^T) A3 Y - B||_2^2 as well, of which this is one
entry, and names none.

A has n rows (tokens) and D columns, h their values, b the label; w = max h - min h and r = max |h -
b|. sharp: the best constant is ||A||^2 k(w, r), where k(w, r) is w^2 times the maximum over a in
[0, 1] of (1-a^2)((r/w - 1/2) a + (1-3a^2)/4). It is w^2/4 if b is in the middle of the values (r =
w/2), and nearly 2 r w/(3 sqrt 3) for large r. For a sum of squares of many entries the sum of the
constants is a bound.

sharp-2: in terms of ||A||, ||h|| and |b|, the sizes that lemma 3.13 knows, the best constant is
||A||^2 ||h||^2 c(|b|/||h||), with c(0) = 1/2. If ||A||, ||h||, |b| <= R it is c(1) R^4, c(1) =
0.7554567... The risk of any number of inputs, each of these sizes, has the same best constant. A
mean of losses has at most the mean of their constants, and equal inputs attain it.

The closed form of c and the proof are in docs/proofs/squared_loss.md, the steps in
`symbolic.sim.lemma_3_13_l2`.
"""

from fractions import Fraction

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE
from properties.sim._support.entry import PAIR, on_line
from properties.sim._support.entry_loss import (
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
"""Two tokens at which the loss has its largest curvature for |b| = ||h||."""


def gradient_change(m: Namespace, v: Values, power: int = 2, by: str = "sizes") -> Comparison:
    """Return that grad L changes by at most ||A||^power times a constant times ||x - y||."""
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
