"""Certified evaluation in rationals and balls; nothing here calls the float code.

- `numbers`: exact values of floats, vectors and matrices of rationals.
- `attention`: softmax, losses, risks and gradients as balls of the working precision.
- `svm`: the Frobenius programme decided in rationals, with its optimality conditions.
- `descent`: gradient descent with an enclosure of every iterate, and what it proves.
- `traps`, `cones`: sets that descent never leaves, and where it goes in them.
- `lipschitz`: enclosures of Lipschitz constants.

Balls are `flint.arb` at the precision of `flint.ctx.prec`; the claim engine raises it until a
sign is decided.
"""

from attsvm.exact.attention import entry_gradient, entry_loss, risk_gap, softmax
from attsvm.exact.cones import cone_at
from attsvm.exact.descent import Fate, as_prompt, certified_fate, descend
from attsvm.exact.numbers import ExactData, dot, norm, rational, rationals
from attsvm.exact.svm import ExactAnswer, decide, separate
from attsvm.exact.traps import trap_at

__all__ = [
    "ExactAnswer",
    "ExactData",
    "Fate",
    "as_prompt",
    "certified_fate",
    "cone_at",
    "decide",
    "descend",
    "dot",
    "entry_gradient",
    "entry_loss",
    "norm",
    "rational",
    "rationals",
    "risk_gap",
    "separate",
    "softmax",
    "trap_at",
]
