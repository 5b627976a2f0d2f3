"""Section 1: softmax attention against linear attention, l2 loss.

The printed sentence is that of `stability_logistic`. Nothing is computed for the l2 loss in the
text. Read: one entry L(x) = (<softmax(A x), h> - b)^2 of the loss against M(x) = (<A x, h> - b)^2.
If A^T h is not 0, M has no Lipschitz constant on the whole space, so the loss is compared on the
domain of lemma 3.13: ||A||, ||A x||, ||A y|| <= R, R >= 4. There M has a constant of at most 2
||A^T h|| (R ||h|| + |b|). Its gradient has 2 ||A^T h||^2 on the whole space. Over all A and h of
given norms the largest ones are 2 ||A|| ||h|| (R ||h|| + |b|) and 2 ||A||^2 ||h||^2, and attained.

osc(h) is max h - min h, and diam(A) is the largest distance of two rows of A.

On the same data the comparison fails for all |b|, ||h|| and R: A = (1, 0), h = (0, 1) has A^T h =
0, and M is constant. For fixed norms the constant of M's gradient does not depend on b, and that of
L grows with |b|. They are equal at |b| = t ||h|| with t between 3.5322 and 3.5323, on the whole
space and on every domain with R >= 0.8. Softmax has the smaller constant below this and the larger
one above (docs/proofs/stability.md). So softmax attention is more stable by its loss, and by its
gradient for labels of moderate size; large labels ask for a small step.

More is in `symbolic/sim/stability_of_loss.py`.
"""

from fractions import Fraction

from attsvm.theory import Choice, Defined, Fitted, Hypothesis, Reading, Real, Statement, changed
from properties.sim import SOURCE
from properties.sim._support import stability as logistic
from properties.sim._support.entry import DOMAIN, LISTED_RADIUS, PAIR
from properties.sim.stability_l2.conclusion import (
    AT_THE_EDGE,
    BARELY_STEEP,
    BARELY_WIDE,
    BENT_AT,
    CONSTANT_LINEAR,
    FAR_LABEL,
    LONE_LABEL,
    NO_REACH,
    SIGNS,
    bent,
    compared,
    steep,
)
from properties.sim.stability_l2.conclusion import linear_loss as linear_loss  # proofs name it

LOWER, UPPER = Fraction("3.532"), Fraction("3.533")
"""Bounds of |b|/||h||: up to the lower one the gradient of softmax has the smaller constant, from
the upper one on the larger constant."""


def label_at_most(share: Fraction, text: str) -> Hypothesis:
    """Return the hypothesis |b| <= share ||h||."""
    return Hypothesis(
        f"|b| <= {text} ||h||",
        lambda m, v: m.at_most(m.abs(v.b), m.exact(share) * m.norm(v.h)),
    )


def label_above(share: Fraction, text: str) -> Hypothesis:
    """Return the hypothesis |b| > share ||h||."""
    return Hypothesis(
        f"|b| > {text} ||h||",
        lambda m, v: m.above(m.abs(v.b), m.exact(share) * m.norm(v.h)),
    )


SMALL_LABEL, LARGE_LABEL = label_at_most(LOWER, "3.532"), label_above(UPPER, "3.533")
STEEP = Hypothesis(
    "4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w)",
    steep,
    says="4 ||A^T h||^2 >= diam(A)^2 (w^2/4 + 0.1925 (2 r - w) w), where w = osc(h) and r is the "
    "largest |h_t - b|",
)
UNIT_RADIUS = Defined(lambda m, v: m.exact(1))

LINEAR = logistic.than_linear("(<A x, h> - b)^2")

STABILITY = Statement(
    "sim/stability-l2",
    rests_on=("sim/l2-objective",),
    source=SOURCE,
    place="Section 1 (contributions; the l2 loss)",
    printed=logistic.SENTENCE,
    variables={**PAIR, "b": Real((0, 3, 6, 10)), "R": Fitted()},
    conclusion=compared,
    violating={LISTED_RADIUS: [NO_REACH]},
    readings={
        "literal-1": Reading(
            "refuted",
            read=LINEAR["loss", "same"],
            constants={"of": "loss", "data": "same"},
            under=DOMAIN,
            examples=({**CONSTANT_LINEAR, "R": 4},),
            siblings={"half the constant": changed(tightened="0.5")},
        ),
        "literal-2": Reading(
            "refuted",
            read=LINEAR["gradient", "same"],
            constants={"of": "gradient", "data": "same"},
            under=(),
            variables={"R": None},
            examples=(CONSTANT_LINEAR,),
            siblings={"half the constant": changed(tightened="0.5")},
        ),
        "literal-3": Reading(
            "proved",
            read=LINEAR["loss", "norms"],
            proof="symbolic.sim.stability_of_loss:prove_squared_at_radius",
            constants={"of": "loss"},
            under=(LISTED_RADIUS,),
            variables={"R": Real((2, 6))},
            depends_on=("sim/stability-l2:sharp-1",),
            examples=(FAR_LABEL, AT_THE_EDGE),
            siblings={
                "the constant of softmax divided by 2.1": changed(tightened=Fraction(10, 21)),
                "95% of the constant of linear attention": changed(
                    attention="linear", tightened="0.95", under=DOMAIN, examples=[AT_THE_EDGE]
                ),
            },
        ),
        "literal-4": Reading(
            "refuted",
            read=LINEAR["gradient", "norms"],
            constants={"of": "gradient"},
            under=(),
            variables={"R": None},
            examples=(LONE_LABEL,),
            siblings={"a tenth of the constant": changed(tightened="0.1")},
        ),
        "amended-1": Reading(
            "proved",
            proof="symbolic.sim.stability_of_loss:prove_squared_on_data",
            constants={"of": "loss", "data": "reached"},
            under=(logistic.SPREAD,),
            variables={"R": None},
            tight=True,
            examples=(BARELY_WIDE,),
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.sim.stability_of_loss:prove_squared_gradient_on_data",
            constants={"of": "gradient", "data": "same"},
            under=(STEEP,),
            variables={"R": None},
            depends_on=("sim/lemma-3.13-l2:sharp",),
            examples=(BARELY_STEEP,),
            siblings={"95% of the constant": changed(tightened="0.95")},
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.sim.stability_of_loss:prove_squared_over_norms",
            constants={"of": "loss", "share": Fraction(1, 2)},
            under=(),
            variables={"R": UNIT_RADIUS},
            tight=True,
            examples=tuple(
                {name: value for name, value in case.items() if name != "R"}
                for case in (FAR_LABEL, AT_THE_EDGE)
            ),
            siblings={"linear attention as well": changed(attention="linear")},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.sim.stability:prove_squared",
            depends_on=("sim/lemma-3.13-l2:sharp",),
            constants={"of": "gradient"},
            under=(SMALL_LABEL,),
            variables={"R": None},
            tight=True,
            examples=(bent(Fraction(43 * 64 + 7, 64)),),
            siblings={
                "|b| up to 1% more": changed(
                    drop=[SMALL_LABEL],
                    under=[label_at_most(LOWER * 101 / 100, "101% of 3.532")],
                    examples=[bent(Fraction(87, 2))],
                )
            },
        ),
        "sharp-3": Reading(
            "holds",
            proof="symbolic.sim.stability:prove_squared_exceeded",
            conclusion=logistic.exceeds(compared),
            under=(LARGE_LABEL,),
            variables={
                **logistic.two_tokens(BENT_AT),
                "R": None,
                "sign": Choice(SIGNS),
                "h": Defined(lambda m, v: m.array([m.exact(-10 * v.sign), m.exact(7 * v.sign)])),
                "size": Real(tuple(range(4, 19)), least=43),
                "b": Defined(lambda m, v: v.sign * m.abs(v.size)),
            },
            tight=True,
            examples=tuple({"sign": sign, "size": Fraction(2761, 64)} for sign in SIGNS),
            siblings={
                "|b| down to 1% less": changed(
                    drop=[LARGE_LABEL],
                    under=[label_above(UPPER * 99 / 100, "99% of 3.533")],
                    variables={"size": Real(tuple(range(4, 19)), least=42)},
                    examples=[{"sign": sign, "size": Fraction(343, 8)} for sign in SIGNS],
                )
            },
        ),
    },
)
