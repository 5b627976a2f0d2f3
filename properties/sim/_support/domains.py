"""Hypotheses of section 3.3 on the radius R, and on the matrices and numbers that R bounds."""

from attsvm.theory import Hypothesis

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
"""What lemma 3.13 lists."""

SIZES = (LABEL, HEAD)
"""What the proof of lemma 3.13 uses besides."""
