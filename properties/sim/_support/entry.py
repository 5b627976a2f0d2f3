"""One entry of a loss: its letters, hypotheses on their sizes, and instances on a line.

A has n rows, the tokens that one query attends to, and D columns; h are their values, b the label.
"""

from collections.abc import Sequence
from fractions import Fraction

from attsvm.theory import Hypothesis, Integer, Matrix, Near, Real, Vector

POINT = {
    "n": Integer(1, 4),
    "D": Integer(1, 4),
    "A": Matrix("n", "D"),
    "x": Vector("D"),
    "h": Vector("n"),
    "b": Real((0, 1, -1)),
}
"""One point x of one entry of the loss."""

PAIR = {
    "n": Integer(1, 4),
    "D": Integer(1, 3),
    "A": Matrix("n", "D"),
    "x": Vector("D"),
    "y": Near("x", ("D",)),
    "h": Vector("n"),
    "b": Real((0, 1)),
}
"""Two points x and y of one entry of the loss."""


def on_line(tokens: Sequence[Fraction | int], **known: object) -> dict[str, object]:
    """Return values of variables: tokens in R^1 as A, numbers x and y as points, and others."""
    points: dict[str, object] = {name: [known.pop(name)] for name in ("x", "y") if name in known}
    return {"A": [[token] for token in tokens], **points, **known}


LARGE = Hypothesis("R >= 1", lambda m, v: m.at_least(v.R, m.exact(1)))
LISTED_RADIUS = Hypothesis("R >= 4", lambda m, v: m.at_least(v.R, m.exact(4)), implies=(LARGE,))
LOGITS = Hypothesis(
    "||A x||, ||A y|| <= R",
    lambda m, v: m.all_of(m.at_most(m.norm(v.A @ v.x), v.R), m.at_most(m.norm(v.A @ v.y), v.R)),
)
LOGITS_OF_X = Hypothesis("||A x|| <= R", lambda m, v: m.at_most(m.norm(v.A @ v.x), v.R))
LOGITS_OF_Y = Hypothesis("||A y|| <= R", lambda m, v: m.at_most(m.norm(v.A @ v.y), v.R))
MATRIX = Hypothesis(
    "||A|| <= R", lambda m, v: m.at_most(m.spectral(v.A), v.R), says="||A||_op <= R"
)
LABEL = Hypothesis("|b| <= R", lambda m, v: m.at_most(m.abs(v.b), v.R))
HEAD = Hypothesis("||h|| <= R", lambda m, v: m.at_most(m.norm(v.h), v.R))

DOMAIN = (LISTED_RADIUS, LOGITS_OF_X, LOGITS_OF_Y, MATRIX)
"""The hypotheses that lemma 3.13 lists."""

SIZES = (LABEL, HEAD)
"""The sizes that the proof of lemma 3.13 uses in addition."""
