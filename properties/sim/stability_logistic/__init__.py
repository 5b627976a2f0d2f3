"""Sections 1 and 3.4: softmax attention against linear attention, logistic loss.

The printed sentence is `SENTENCE`. No constant of linear attention is computed in the text, and
linear attention is not defined. Read: one entry L(x) = g(b <softmax(A x), h>) of the loss against
M(x) = g(b <A x, h>), g the logistic function. M leaves softmax out without any other normalisation.
(Dividing tokens by the sum of their logits would be one.) M has the Lipschitz constant |b| ||A^T
h||/4 and its gradient b^2 ||A^T h||^2/(6 sqrt 3). Over all A and h of given norms the largest ones
are |b| ||A|| ||h||/4 and b^2 ||A||^2 ||h||^2/(6 sqrt 3). All four are attained.

osc(h) is max h - min h, and diam(A) is the largest distance of two rows of A.

On the same data the comparison fails if A^T h = 0, because M is constant then. For small |b| ||h||
the constant of M's gradient is of second order in b, that of L's of first order. Both are equal at
one |b| ||h|| between 0.72269 and 0.72271. Softmax has the smaller one above this, and the larger
one below (docs/proofs/stability.md). The same is true on the domain ||A x|| <= R of lemma 3.13, R
>= 4. There M attains its constant if |b| ||h|| R >= ln(2 + sqrt 3), else it has a smaller one, and
the two tokens that attain the constant of L are inside.

Proof of literal-3 and sharp: softmax is 1/2-Lipschitz (sim/basic-4:sharp), g is 1/4-Lipschitz.
Proof of amended-2: the slope of L along a unit vector z is b g' Cov(h, A z). A covariance is at
most a quarter of the product of the oscillations. Two tokens with ||A^T h|| = osc(h) diam(A)/4
attain the bound as b -> 0.
"""

from fractions import Fraction

from attsvm.theory import Hypothesis, Reading, Real, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.entry import PAIR
from properties.sim._support.stability import (
    SENTENCE,
    SPREAD,
    compared,
    exceeds,
    known,
    spread_at_least,
    than_linear,
    two_tokens,
)
from properties.sim._support.stability import linear_loss as linear_loss  # proofs name it
from properties.sim.stability_logistic.instances import (
    BALANCED,
    BENT_AT,
    CONSTANT_LINEAR,
    bent,
    wide,
)

LOWER, UPPER = Fraction("0.7226"), Fraction("0.7228")
"""Bounds of |b| ||h||: up to the lower one the gradient of softmax has the larger constant, from
the upper one on the smaller constant."""


def label_at_least(size: Fraction, text: str) -> Hypothesis:
    """Return the hypothesis |b| ||h|| >= size."""
    return Hypothesis(
        f"|b| ||h|| >= {text}",
        lambda m, v: m.at_least(m.abs(v.b) * m.norm(v.h), m.exact(size)),
    )


def label_below(size: Fraction, text: str) -> Hypothesis:
    """Return the hypothesis 0 < |b| ||h|| < size."""
    return Hypothesis(
        f"0 < |b| ||h|| < {text}",
        lambda m, v: m.all_of(
            m.above(m.abs(v.b), m.exact(0)), m.below(m.abs(v.b) * m.norm(v.h), m.exact(size))
        ),
    )


LARGE_LABEL, SMALL_LABEL = label_at_least(UPPER, "0.7228"), label_below(LOWER, "0.7226")

LINEAR = than_linear("g(b <A x, h>)")

STABILITY = Statement(
    "sim/stability-logistic",
    rests_on=("sim/lemma-3.13",),
    source=SOURCE,
    place="Section 1 (contributions) and section 3.4",
    printed=SENTENCE,
    variables={**PAIR, "b": Real((0, 1, -2, -5))},
    conclusion=compared,
    readings={
        "literal-1": Reading(
            "refuted",
            read=LINEAR["loss", "same"],
            constants={"of": "loss", "data": "same"},
            under=(),
            examples=(CONSTANT_LINEAR,),
            siblings={"half the constant": changed(tightened="0.5")},
        ),
        "literal-2": Reading(
            "refuted",
            read=LINEAR["gradient", "same"],
            constants={"of": "gradient", "data": "same"},
            under=(),
            examples=(CONSTANT_LINEAR,),
            siblings={"half the constant": changed(tightened="0.5")},
        ),
        "literal-3": Reading(
            "proved",
            read=LINEAR["loss", "norms"],
            proof="symbolic.sim.stability_of_loss:prove_logistic_over_norms",
            constants={"of": "loss"},
            under=(),
            examples=(BALANCED,),
            siblings={
                "the constant of softmax divided by 2.2": changed(tightened=Fraction(5, 11)),
                "95% of the constant of linear attention": changed(
                    attention="linear", tightened="0.95"
                ),
            },
        ),
        "literal-4": Reading(
            "refuted",
            read=LINEAR["gradient", "norms"],
            constants={"of": "gradient"},
            under=(),
            examples=(bent(Fraction(1, 64)),),
            siblings={"a tenth of the constant": changed(tightened="0.1")},
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.stability_of_loss:prove_logistic_on_data",
            constants={"of": "loss", "data": "same"},
            under=(SPREAD,),
            tight=True,
            examples=(wide(Fraction(-1)),),
            siblings={
                "down to osc(h) diam(A)/4.2": changed(
                    drop=[SPREAD],
                    under=[spread_at_least(Fraction(5, 21), "4.2")],
                    examples=[wide(Fraction(-67, 64))],
                )
            },
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.stability_of_loss:prove_logistic_over_norms",
            constants={"of": "loss", "share": Fraction(1, 2)},
            under=(),
            tight=True,
            examples=(BALANCED,),
            siblings={"linear attention as well": changed(attention="linear")},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.stability:prove_logistic",
            depends_on=("sim/lemma-3.13:sharp",),
            constants={"of": "gradient"},
            under=(LARGE_LABEL,),
            variables={"b": Real((0, 1))},
            tight=True,
            examples=(bent(Fraction(33_501, 65_536)),),
            siblings={
                "|b| ||h|| down to 1% less": changed(
                    drop=[LARGE_LABEL],
                    under=[label_at_least(UPPER * 99 / 100, "99% of 0.7228")],
                    examples=[bent(Fraction(65, 128))],
                )
            },
        ),
        "sharp-3": Reading(
            "holds",
            proof="symbolic.sim.stability:prove_logistic_exceeded",
            conclusion=exceeds(compared),
            under=(SMALL_LABEL,),
            variables={
                **two_tokens(BENT_AT),
                "h": known(1, -1),
                "b": Real(tuple(range(-3, -31, -1))),
            },
            tight=True,
            examples=({"b": Fraction(33_485, 65_536)},),
            siblings={
                "up to 1% more": changed(
                    drop=[SMALL_LABEL],
                    under=[label_below(LOWER * 101 / 100, "101% of 0.7226")],
                    examples=[{"b": Fraction(33, 64)}],
                )
            },
        ),
    },
)
