r"""Sections 1 and 3.4: softmax attention against linear attention that is normalised too.

The printed sentence is that of `stability_logistic`, which compares softmax attention with <A x, h>
alone. Here are the two other senses of "linear attention". A has a row for each of n tokens, h has
their values, b is the label, and g(t) = 1/(1 + exp(-t)). All losses are g(b q) of a score q:

- L, softmax attention: q = <softmax(A x), h>;
- M, the paper's Att with exp left out, in D(X) too: q = <A x, h>/<A x, 1>;
- P, positive features phi(s) = elu(s) + 1: q = <phi(A) phi(x), h>/<phi(A) phi(x), 1>. A are the
  keys, and x = X^T a for a query a of norm 1.

M is homogeneous: M(c x) = M(x) for c > 0. So it has no Lipschitz constant, unless it is constant
(`amended`), even if all logits are positive; and at X = 0, the usual start, it is not defined. It
is constant if A^T h is a multiple of A^T 1, which is not 0, as for D = 1, or if b is 0; otherwise
not. So softmax attention is more stable than M, except possibly in these cases (`literal-1`).

The loss P has half the constant of softmax attention over all A and h of given norms (`sharp-2`),
and half of the largest one for a given diameter of the tokens (`sharp-1`). So here the sentence is
false, and its reverse is true.
`symbolic.sim.positive_features` has the proof.
"""

from fractions import Fraction

from attsvm.theory import Defined, Reading, Real, Statement, changed
from properties.sim import SOURCE
from properties.sim._support.entry import PAIR
from properties.sim._support.stability import SENTENCE
from properties.sim.normalised_linear.conclusion import (
    APART,
    BALANCED,
    BESIDE_POLE,
    CROSSED,
    DEFINED,
    MIDDLE,
    MOVES,
    ON_A_LINE,
    SUMS,
    compared,
    constant_together,
    near_zero,
    unbounded,
)
from properties.sim.normalised_linear.conclusion import feature as feature  # proofs name it

POSITIVE = "the one with the features elu + 1, with the loss P of sharp-1"
FEATURES = "symbolic.sim.positive_features:prove"


def as_stable(data: str, sizes: str) -> Reading:
    """Return the reading that softmax attention has at most the constant of P."""
    return Reading(
        "refuted",
        read={
            "linear attention": POSITIVE,
            "more stable": "that the loss has at most the Lipschitz constant of linear attention "
            f"over all A and h of {sizes}",
        },
        constants={"data": data},
        examples=(APART,),
        siblings={"half the constant": changed(tightened="0.5")},
    )


def bounded(data: str) -> Reading:
    """Return the reading that P has at most this constant."""
    return Reading(
        "proved",
        proof=FEATURES,
        constants={"data": data, "attention": "features"},
        tight=True,
        examples=(BALANCED,),
        siblings={"softmax attention as well": changed(attention="softmax")},
    )


LINEAR = Statement(
    "sim/normalised-linear",
    rests_on=("sim/stability-logistic",),
    source=SOURCE,
    place="Section 1 (contributions) and section 3.4",
    printed=SENTENCE,
    variables=PAIR,
    conclusion=compared,
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={
                "linear attention": "the paper's formula with exp left out, with the loss M "
                "of amended",
                "more stable": "that L is constant if M is; if M is not constant, it has no "
                "Lipschitz constant",
            },
            constants={"most": 0},
            conclusion=constant_together,
            under=(DEFINED,),
            examples=(MIDDLE, ON_A_LINE),
            siblings={"at most 1/64 ||x - y||": changed(most=Fraction(1, 64))},
        ),
        "literal-2": as_stable(
            "diameter",
            "this diameter and oscillation; by sharp-1 that is at most |b| osc(h) diam(A)/32",
        ),
        "literal-3": as_stable(
            "norms", "these norms; by sharp-2 that is at most |b| ||A|| ||h||/16"
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.normalised_linear:prove_unbounded",
            conclusion=unbounded,
            under=(SUMS, MOVES),
            variables={"C": Real((0, 5)), "c": Defined(near_zero)},
            examples=(CROSSED, BESIDE_POLE),
            siblings={"half the change": changed(share="0.5")},
        ),
        "sharp-1": bounded("diameter"),
        "sharp-2": bounded("norms"),
    },
)
