"""A claim pack in one file: softmax moves at most half as far as its argument."""

import numpy as np
from flint import arb

from attsvm.attention import softmax
from attsvm.exact import norm, rational, rationals
from attsvm.exact import softmax as exact_softmax
from attsvm.strategies import arrays
from attsvm.theory import Slack, claim, sibling


def certify(s: np.ndarray, constant: float = 0.5) -> arb:
    """The slack as a ball, from the exact values."""
    exact = rationals(s)
    moved = [p - arb(1) / 2 for p in exact_softmax(exact)]
    return arb(rational(constant)) * norm(exact) - norm(moved)


@claim(
    "mine/softmax-lipschitz:literal", source="My paper", place="Lemma 1",
    statement="||softmax(s) - softmax(0)|| <= ||s||/2 for two tokens",
    data=arrays(2), certify=certify, expected="holds",
    siblings={"95% of it": sibling(constant=0.475), "a quarter": sibling(constant=0.25)},
)  # fmt: skip
def literal(s: np.ndarray, constant: float = 0.5) -> Slack:
    """The slack in floats, with a bound on its rounding."""
    left, right = float(np.linalg.norm(softmax(s) - 0.5)), constant * float(np.linalg.norm(s))
    return Slack.at_most(left, right, 1e-15 + 1e-14 * right)  # 1/2 is subtracted: 1e-15
