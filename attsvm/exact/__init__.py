"""Certified evaluation in rationals and balls; nothing here believes the float code.

- `numbers`, `spectra`: exact values, vectors and matrices of rationals; norms by eigenvalues.
- `losses`, `attention`: losses, softmax and risks as balls of the working precision.
- `gradients`, `hessians`: derivatives in W, (K, Q), p and (v, p); second ones with their norms.
- `quotients`, `lipschitz`: Lipschitz quotients between exact points, and constants above them.
- `programme`, `svm`, `active_set`: the Frobenius programme decided in rationals, by a `deadline`
  where there is one.
- `optimality`: what any matrix and multipliers prove: conditions, brackets of either norm, and of
  the soft margin.
- `descent`: gradient descent with an enclosure of every iterate, and what it proves.
- `traps`, `cones`: sets that descent never leaves, and where it goes in them.

Balls are `flint.arb` at the precision of `flint.ctx.prec`; the claim engine raises it until a
sign is decided. Floats only propose: the support that is tried first in `svm`, and nothing else.
"""

from attsvm.exact.attention import entry_gradient, entry_loss, risk, risk_gap, softmax
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import Fate, as_prompt, certified_fate, descend
from attsvm.exact.gradients import gradient_kq, gradient_p, gradient_vp, gradient_w
from attsvm.exact.hessians import hessian_w
from attsvm.exact.numbers import ExactData, dot, norm, rational, rationals, spectral_norm
from attsvm.exact.optimality import Conditions, conditions, norm_bracket, soft_bracket
from attsvm.exact.quotients import entry_quotients, risk_quotients
from attsvm.exact.spectra import nuclear_norm, operator_norm
from attsvm.exact.svm import ExactAnswer, decide, separate
from attsvm.exact.traps import trap_at

__all__ = [
    "Conditions",
    "ExactAnswer",
    "ExactData",
    "Fate",
    "as_prompt",
    "certified_fate",
    "conditions",
    "cone_at",
    "decide",
    "descend",
    "dot",
    "entry_gradient",
    "entry_loss",
    "entry_quotients",
    "gradient_kq",
    "gradient_p",
    "gradient_vp",
    "gradient_w",
    "hessian_w",
    "norm",
    "norm_bracket",
    "nuclear_norm",
    "operator_norm",
    "rational",
    "rationals",
    "risk",
    "risk_gap",
    "risk_quotients",
    "separate",
    "soft_bracket",
    "softmax",
    "spectral_norm",
    "trap_at",
]
