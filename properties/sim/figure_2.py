"""Figure 2: margins on a causal language grow from about 0 and end positive.

"The initial margin is near 0 as shown by the blue bins, and as training proceeds, the margin
generally becomes larger and eventually converges to violet bins as sufficiently large positive
values." `sim/token-separation` is the same for any tokens and scores; here they are problems of a
language, where token t scores <e_next, e_t>. "Generally becomes larger" is read as: every step
raises the mean margin (`literal-2`), "eventually positive" as: all margins are, in the end
(`literal-1`), and "near 0" as X(0) = 0, where all margins are 0. The first is more than "generally"
says; the two languages below refute the least that it can mean as well, a mean margin that is above
that of the start at some time.

With the loss of definition 3.6, which increases in the score, both are false for tokens 1 and 0 and
the sentence "1 1": the one margin falls for ever. With the decreasing loss g(-<f, h>) two
orthonormal tokens a, b and the sentences "a a", "a b" have the margins m and -m: never are both
positive (`amended-1`), and their mean is 0 for ever.

What is so (`amended-2`): where each token has one successor in the sentences, tokens are
orthonormal and the vocabulary is chosen among, every step from any start raises every margin, and
they end above every bound: this is `outvoted` of `token_sequences` without votes for others,
kappa_t = n_a g'(s_a) s_a > 0. And from any start that cannot lose its optimal tokens they end so
for any sentences (`amended-3`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import feasible
from properties.sim import SOURCE
from properties.sim._support import margins
from properties.sim._support import telling_sentences as sentences
from properties.sim._support.theorem_3_14 import PRINTED, REPAIRED
from properties.sim._support.token_sequences import Spoken, followed, spoken, started
from properties.sim.figure_1 import SHORTEST

FIGURE: dict[str, Any] = {"source": SOURCE, "place": "Section 4, figure 2"}
END = {**FIGURE, "cost": 10, "same_slack": False}
FEASIBLE = {"Att-SVM is feasible": lambda case: feasible(case.run)}
TORN = sentences.said(np.eye(2), [[0, 0], [0, 1]])
"""The margins are m and -m."""


@claim(
    "sim/figure-2:literal-1",
    **END,
    statement="descent on g(b <f, h>) on sentences of a language from X(0) = 0 ends with positive "
    "margins",
    data=spoken(from_zero=True),
    hypotheses=sentences.ZERO,
    examples=[SHORTEST],
    certify=lambda case, of="least", whose="optimal": margins.certified_end(
        case.run, PRINTED, of, whose
    ),
    expected="refuted, certified",
    siblings={
        "the largest margin ends positive": sibling(of="largest", examples=[SHORTEST]),
        "the mean margin ends positive": sibling(of="mean", examples=[SHORTEST]),
    },
)
def literal_1(case: Spoken, of: str = "least", whose: str = "optimal") -> Slack:
    """With the loss as printed, in the end."""
    return margins.ends(case.run, PRINTED, of, whose)


@claim(
    "sim/figure-2:literal-2",
    **FIGURE,
    statement="every step of descent on g(b <f, h>) raises the mean margin",
    data=spoken(),
    examples=[SHORTEST],
    certify=lambda case, of="mean", sign=1.0: margins.exact_growth(case.run, PRINTED, of, sign),
    expected="refuted, certified",
    siblings={
        "every step lowers it": sibling(sign=-1.0, examples=[TORN]),
        "every step lowers every margin": sibling(of="least", sign=-1.0, examples=[TORN]),
    },
)
def literal_2(case: Spoken, of: str = "mean", sign: float = 1.0) -> Slack:
    """With the loss as printed, step by step."""
    return margins.grows(case.run, PRINTED, of, sign)


def certify_end(case: Spoken, of: str = "least", whose: str = "optimal") -> arb | None:
    """The sign in which the margin ends, where it is proved."""
    return margins.certified_end(case.run, REPAIRED, of, whose)


@claim(
    "sim/figure-2:amended-1",
    **END,
    statement="descent on the decreasing loss g(-b <f, h>) from X(0) = 0 ends with positive "
    "margins",
    data=spoken(from_zero=True),
    hypotheses=sentences.ZERO,
    examples=[TORN],
    certify=certify_end,
    expected="refuted, certified",
    siblings={
        "margins of the tokens of least score end positive": sibling(
            whose="worst", examples=[SHORTEST]
        ),
        "their largest margin ends positive": sibling(
            of="largest", whose="worst", examples=[SHORTEST]
        ),
    },
)
def amended_1(case: Spoken, of: str = "least", whose: str = "optimal") -> Slack:
    """With a decreasing loss."""
    return margins.ends(case.run, REPAIRED, of, whose)


@claim(
    "sim/figure-2:amended-2",
    **FIGURE,
    statement="orthonormal tokens, the whole vocabulary, one successor for each token: every "
    "step of descent on the decreasing loss raises every margin",
    data=followed(),
    hypotheses={**sentences.ORTHONORMAL, **sentences.SUCCESSOR},
    examples=[sentences.said(np.eye(3), [[0, 1, 2]])],
    certify=lambda case, of="least", loss=REPAIRED: margins.exact_growth(case.run, loss, of, 1.0),
    expected="holds",
    siblings={
        "any successors": sibling(drop=list(sentences.SUCCESSOR), examples=[TORN]),
        "any tokens": sibling(drop=list(sentences.ORTHONORMAL), examples=[sentences.SHARED]),
        "the printed loss": sibling(loss=PRINTED),
    },
)
def amended_2(case: Spoken, of: str = "least", loss: str = REPAIRED) -> Slack:
    """Where no problem pulls against another."""
    return margins.grows(case.run, loss, of, 1.0)


@claim(
    "sim/figure-2:amended-3",
    **END,
    statement="optimal tokens unique, Att-SVM feasible: descent on the decreasing loss with step "
    "at most 1/L_X from a start whose risk gap is below min_i [l(second) - l(best)]/n ends with "
    "every margin above every bound",
    data=started(),
    hypotheses={**sentences.UNIQUE, **FEASIBLE, **sentences.BASIN},
    examples=[SHORTEST],
    certify=certify_end,
    expected="holds",
    siblings={
        "any start": sibling(drop=list(sentences.BASIN), examples=[sentences.ELSEWHERE]),
        "tied optimal tokens": sibling(drop=list(sentences.UNIQUE), examples=[sentences.TIED]),
        "Att-SVM need not be feasible": sibling(drop=list(FEASIBLE), examples=[sentences.IDLE]),
        "margins of the tokens of least score": sibling(whose="worst"),
    },
    depends_on=["sim/token-separation:amended-4"],
)
def amended_3(case: Spoken, of: str = "least", whose: str = "optimal") -> Slack:
    """From a start that cannot lose its optimal tokens."""
    return margins.ends(case.run, REPAIRED, of, whose)
