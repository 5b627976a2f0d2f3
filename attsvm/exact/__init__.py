"""Certified evaluation in rationals and balls; nothing here calls the float code.

- `numbers`: exact values of floats, vectors and matrices of rationals.
- `attention`: softmax, losses, risks and gradients as balls of the working precision.
- `svm`: the Frobenius programme decided in rationals, with its optimality conditions.
- `descent`: gradient descent with an enclosure of every iterate, and what it proves.
- `traps`: sets that descent never leaves.
- `lipschitz`: enclosures of Lipschitz constants.

Balls are `flint.arb` at the precision of `flint.ctx.prec`; the claim engine raises it until a
sign is decided.
"""

from attsvm.exact.attention import entry_gradient, entry_loss, risk_gap, softmax
from attsvm.exact.descent import Fate, certified_fate, descend
from attsvm.exact.numbers import ExactData, dot, norm, rational, rationals
from attsvm.exact.svm import ExactAnswer, decide, separate

__all__ = [
    "ExactAnswer",
    "ExactData",
    "Fate",
    "certified_fate",
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
]
