"""Certified evaluation in rationals and balls; no result of the float code is trusted.

- `numbers`, `spectra`: exact values, vectors and matrices of rationals; norms by eigenvalues.
- `losses`, `attention`: losses, softmax, risk and gradient as balls of the working precision.
- `lipschitz`: enclosures of Lipschitz constants.
- `programme`, `svm`, `active_set`: the Frobenius programme decided in rationals, within a
  `deadline` if there is one.
- `optimality`: bounds of either norm and of the soft margin, from any matrix and multipliers.
- `descent`: gradient descent with an enclosure of every iterate, and proofs from it.
- `traps`, `cones`: sets that descent never leaves, and its limit in them.
- `minima`: minima at a finite norm, and points from which descent converges to one.

Balls are `flint.arb` at the precision of `flint.ctx.prec`; the claim engine raises it until a sign
is decided. Floats only propose (`attsvm._witness`): the support that `svm` tries first, and the
points and bounds that `minima` proves. Proofs assume nothing about a proposal.
"""

from attsvm.exact.attention import risk_gap, softmax
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import LimitCertificate, descend, limit_certificate
from attsvm.exact.numbers import (
    ExactData,
    dot,
    norm,
    nuclear_norm,
    rational,
    rationals,
    spectral_norm,
)
from attsvm.exact.optimality import norm_bracket, soft_bracket
from attsvm.exact.svm import ExactAnswer, decide, separate
from attsvm.exact.traps import trap_at

__all__ = [
    "ExactAnswer",
    "ExactData",
    "LimitCertificate",
    "cone_at",
    "decide",
    "descend",
    "dot",
    "limit_certificate",
    "norm",
    "norm_bracket",
    "nuclear_norm",
    "rational",
    "rationals",
    "risk_gap",
    "separate",
    "soft_bracket",
    "softmax",
    "spectral_norm",
    "trap_at",
]
