"""Hypotheses, as formulas of (m, v), that several statements share."""

from attsvm.theory import Hypothesis

SEVERAL = Hypothesis("T >= 2", lambda m, v: m.at_least(m.exact(v.T), m.exact(2)))
CONVEX_PHI = Hypothesis(
    "phi is convex", lambda m, v: m.equal(m.exact(int(v.phi.convex)), m.exact(1))
)
