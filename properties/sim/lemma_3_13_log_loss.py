"""Lemma 3.13 for the log-loss: the gradient of log(1 + exp(-b <softmax(A x), h>)) is Lipschitz.

The introduction trains with "a logistic loss function" logistic(Att(X) H, B), or cross entropy;
lemma 3.13 is stated for the logistic function g itself, which is no loss (definition 3.6). The
paper prints no such lemma for l(u) = log(1 + exp(-u)) at u = b <f, h>, so there is no literal
reading.

A has n rows (tokens) and D columns, h their values, b the label; f = softmax(A x), and
D = |b| (max h - min h) in the constant K.

K(D) is D/(3 sqrt 3) up to D = 2 sqrt 3, then (D/4 + 1/D)^2/2. Up to D = 2 sqrt 3 it is the constant
of the loss -u, approached where u is very negative. Proof: `symbolic.sim.lemma_3_13_log_loss`.
"""

from fractions import Fraction

from attsvm.theory import Reading, Statement, changed
from attsvm.theory.types import Comparison, Namespace, Values
from properties.sim import SOURCE
from properties.sim._support.entry import PAIR, on_line
from properties.sim._support.entry_loss import log_loss, log_loss_constant, slope_change

CLOSE = on_line([1, -1], x=Fraction(21, 32), y=Fraction(85, 128))
STEEP = {**CLOSE, "h": [1, -1], "b": -8}
BELOW = {**CLOSE, "h": [Fraction(1, 64) - 16, -16], "b": 1}
BEYOND = {
    **on_line([1, -1], x=Fraction(1, 8), y=Fraction(129, 1024)),
    "h": [Fraction(111, 16), Fraction(-145, 16)],
    "b": 1,
}
"""Two tokens at which the loss bends most: D far beyond 2 sqrt 3, below it, and beyond with b =
1."""


def gradient_change(m: Namespace, v: Values, power: int = 2, straight: bool = False) -> Comparison:
    """Return that grad L changes by at most ||A||^power K(D) ||x - y||.

    With `straight`, D/(3 sqrt 3) takes the place of K(D) for every D.
    """
    change = slope_change(m, v, log_loss)
    D = m.abs(v.b) * m.oscillation(v.h)
    constant = D / (3 * m.sqrt(m.exact(3))) if straight else log_loss_constant(m, D)
    right = m.power(m.spectral(v.A), power) * constant * m.norm(v.x - v.y)
    return m.at_most(m.norm(change), right)


LEMMA = Statement(
    "sim/lemma-3.13-log-loss",
    rests_on=("sim/definition-3.3",),
    source=SOURCE,
    place="Section 1, logistic loss; as lemma 3.13",
    printed="a logistic loss function as the following: min_X L(X) = min_X logistic(Att(X) H, B)",
    variables=PAIR,
    conclusion=gradient_change,
    readings={
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.lemma_3_13_log_loss:prove",
            tight=True,
            examples=(STEEP, BELOW, BEYOND),
            siblings={
                "D/(3 sqrt 3) for every D": changed(straight=True),
                "||A|| in place of its square": changed(power=1),
            },
        )
    },
)
