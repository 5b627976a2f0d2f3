"""Hypotheses, as formulas of (m, v), that several statements share."""

from attsvm.theory import Hypothesis
from properties._support.risk_formulas import flag

SEVERAL = Hypothesis("T >= 2", lambda m, v: m.at_least(m.exact(v.T), m.exact(2)))
CONVEX_PHI = Hypothesis("phi is convex", lambda m, v: flag(m, v.phi.convex))
SMOOTH_PHI = Hypothesis(
    "phi' is Lipschitz",
    lambda m, v: flag(m, v.phi.smooth),
    says="phi has a derivative, which is Lipschitz",
)
