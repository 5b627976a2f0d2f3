"""Certified evaluation in rationals and balls; nothing here believes the float code.

- `numbers`, `spectra`: exact values, vectors and matrices of rationals; norms by eigenvalues.
- `losses`, `attention`: losses, softmax, risk and gradient as balls of the working precision.
- `lipschitz`: enclosures of Lipschitz constants.
- `programme`, `svm`, `active_set`: the Frobenius programme decided in rationals, by a `deadline`
  where there is one.
- `optimality`: brackets of either norm and of the soft margin, from any matrix and multipliers.
- `descent`: gradient descent with an enclosure of every iterate, and what it proves.
- `traps`, `cones`: sets that descent never leaves, and where it goes in them.
- `minima`: minima at a finite norm, and points from which descent converges to one.

Balls are `flint.arb` at the precision of `flint.ctx.prec`; the claim engine raises it until a
sign is decided. Floats only propose (`attsvm._witness`): the support that is tried first in `svm`,
and points and bounds that `minima` proves; of any proposal nothing is supposed.
"""

from attsvm.exact.attention import risk_gap, softmax
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import LimitCertificate, descend, limit_certificate
from attsvm.exact.numbers import ExactData, dot, norm, rational, rationals, spectral_norm
from attsvm.exact.optimality import norm_bracket, soft_bracket
from attsvm.exact.spectra import nuclear_norm
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
