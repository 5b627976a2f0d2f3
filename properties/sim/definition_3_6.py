"""Definition 3.6: the loss, and where descending it moves attention.

"L(x, y)_{l0,j0,i0} := g(<f(x)_{l0,j0}, h(y)_{l0,i0}> b_{l0,j0,i0})" with the logistic function g of
definition 3.5; the definition breaks off at "Then,". "Given a prediction head v_i ..., the score of
a token ... is gamma_{l0 t} = B_{l0} v_i^T A_it. The optimal token ... opt in argmax_{t in [T]}
gamma" (definition 3.9). There T is not introduced (the number n of tokens), nor what a label B_{l0}
in R^{n x V} is as a factor (b), nor v_i (column i0 of the values y); so gamma_t = b h_t, and b <f,
h> is the expected score u.

g increases in u, and descent lowers it: along -grad L, du = -g'(u) ||grad u||^2. Tokens 1 and 0
with scores 1 and 0, x = 0: the expected score (`literal-1`) and the weight of the optimal token
(`literal-2`) fall. With a decreasing loss, g(-u), or log(1 + exp(-u)), or ascent on g, the expected
score rises wherever it can (`amended-2`, proved). The weight of the optimal token need not even
then (`amended-1`, refuted): tokens 1, 3, 0 with scores 2, 1, 0 at x = 0 make x grow, away from the
worst token and towards the second best. It does where all rivals score the same, as in part 2 of
assumption 3.10 (`amended-3`, proved): then u is an affine function of that weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import rational, rationals
from attsvm.theory import Slack, claim, sibling
from properties.sim import SOURCE
from properties.sim.drift import best_tokens, exact_gain, gain, levelled
from properties.sim.entries import Entry, entries

LOSS: dict[str, Any] = {"source": SOURCE, "place": "Definition 3.6 with definitions 3.5 and 3.9"}
TWO_TOKENS = Entry(np.array([[1.0], [0.0]]), np.zeros(1), np.array([1.0, 0.0]), 1.0)
ONE_TOKEN = Entry(np.ones((1, 1)), np.zeros(1), np.ones(1), 1.0)
PASSED = Entry(np.array([[1.0], [3.0], [0.0]]), np.zeros(1), np.array([2.0, 1.0, 0.0]), 1.0)
PUBLISHED: dict[str, Any] = {"data": entries(), "examples": [TWO_TOKENS]}


def certify_score(case: Entry, sign: float = -1.0, of: str = "score") -> arb | fmpq:
    """The change of the expected score under the printed loss."""
    return exact_gain(case, of, sign)


def certify_weight(case: Entry, sign: float = -1.0, of: str = "weight") -> arb | fmpq:
    """The change of the optimal tokens' weight under the printed loss."""
    return exact_gain(case, of, sign)


def certify_repaired_score(case: Entry, sign: float = 1.0, of: str = "score") -> arb | fmpq:
    """The change of the expected score under a decreasing loss."""
    return exact_gain(case, of, sign)


def certify_repaired_weight(case: Entry, sign: float = 1.0, of: str = "weight") -> arb | fmpq:
    """The change of the optimal tokens' weight under a decreasing loss."""
    return exact_gain(case, of, sign)


@claim(
    "sim/definition-3.6:literal-1",
    **LOSS,
    **PUBLISHED,
    statement="along -grad L of L = g(b <f, h>) the expected score b <f, h> does not fall",
    certify=certify_score,
    expected="refuted",
    siblings={
        "nor does the weight of the optimal tokens": sibling(of="weight"),
        "nor that weight on a decreasing loss": sibling(of="weight", sign=1.0, examples=[PASSED]),
    },
)
def literal_1(case: Entry, sign: float = -1.0, of: str = "score") -> Slack:
    """As printed, by the expected score."""
    return gain(case, of, sign)


@claim(
    "sim/definition-3.6:literal-2",
    **LOSS,
    **PUBLISHED,
    statement="along -grad L of L = g(b <f, h>) the weight of the optimal tokens does not fall",
    certify=certify_weight,
    expected="refuted",
    siblings={
        "nor does the expected score": sibling(of="score"),
        "nor that weight on a decreasing loss": sibling(sign=1.0, examples=[PASSED]),
    },
)
def literal_2(case: Entry, sign: float = -1.0, of: str = "weight") -> Slack:
    """As printed, by the attention on the optimal tokens."""
    return gain(case, of, sign)


@claim(
    "sim/definition-3.6:amended-1",
    **LOSS,
    statement="along -grad of the decreasing loss g(-b <f, h>) the weight of the optimal tokens "
    "does not fall",
    data=entries(),
    examples=[TWO_TOKENS, PASSED],
    certify=certify_repaired_weight,
    expected="refuted",
    siblings={
        "with the increasing loss": sibling(sign=-1.0),
        "nor the expected score, with it": sibling(sign=-1.0, of="score"),
    },
)
def amended_1(case: Entry, sign: float = 1.0, of: str = "weight") -> Slack:
    """With a decreasing loss, by the attention on the optimal tokens."""
    return gain(case, of, sign)


@claim(
    "sim/definition-3.6:amended-2",
    **LOSS,
    statement="along -grad of g(-b <f, h>) the expected score b <f, h> does not fall",
    data=entries(),
    examples=[TWO_TOKENS, ONE_TOKEN, PASSED],
    certify=certify_repaired_score,
    expected="proved",
    proof="symbolic.sim.definition_3_6:prove",
    siblings={
        "with the increasing loss": sibling(sign=-1.0),
        "the weight of the optimal tokens": sibling(of="weight", examples=[PASSED]),
    },
)
def amended_2(case: Entry, sign: float = 1.0, of: str = "score") -> Slack:
    """With a decreasing loss, by the expected score."""
    return gain(case, of, sign)


def two_scores(case: Entry) -> bool:
    """All tokens that are not optimal have one score."""
    scores = [rational(case.b) * h for h in rationals(case.h)]
    best = best_tokens(case)
    return len({(int(s.p), int(s.q)) for t, s in enumerate(scores) if t not in best}) <= 1


@claim(
    "sim/definition-3.6:amended-3",
    **LOSS,
    statement="where all rivals score the same, the weight of the optimal tokens does not fall "
    "along -grad of g(-b <f, h>)",
    data=entries().map(levelled),
    hypotheses={"all rivals of the optimal tokens score the same": two_scores},
    examples=[TWO_TOKENS, ONE_TOKEN],
    certify=certify_repaired_weight,
    expected="proved",
    proof="symbolic.sim.definition_3_6:prove_equal_rivals",
    siblings={
        "with the increasing loss": sibling(sign=-1.0),
        "rivals of any scores": sibling(
            drop=["all rivals of the optimal tokens score the same"],
            data=entries(),
            examples=[PASSED],
        ),
    },
)
def amended_3(case: Entry, sign: float = 1.0, of: str = "weight") -> Slack:
    """With a decreasing loss and equal rivals."""
    return gain(case, of, sign)
