"""The claim engine: it checks statements on instances, and knows no paper.

The steps of a check: strategy -> instance -> hypotheses -> slack -> exact re-evaluation -> verdict
-> ledger -> gate.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from attsvm._witness import proposed
from attsvm.theory.arithmetic.naming import Primitive, definition
from attsvm.theory.declaration.claim import Claim, Sibling
from attsvm.theory.declaration.conclusions import Measured, concludes, stated
from attsvm.theory.declaration.hypotheses import Hypothesis, Supposed
from attsvm.theory.declaration.proof import (
    Lemma,
    cite,
    ensure_equal,
    ensure_nonnegative,
    ensure_nonzero,
    ensure_positive,
    ensure_true,
    ensure_zero,
    suppose,
)
from attsvm.theory.declaration.records import Records
from attsvm.theory.declaration.siblings import changed
from attsvm.theory.declaration.slack import Slack
from attsvm.theory.declaration.statement import Reading, Statement
from attsvm.theory.declaration.variables import (
    Choice,
    Defined,
    Fitted,
    Integer,
    Labels,
    Matrix,
    Meeting,
    Near,
    Real,
    Tensor,
    Vector,
)
from attsvm.theory.declaration.verdict import Evidence, Expected, Truth, Validity, Verdict
from attsvm.theory.packs.packs import Pack, load_packs
from attsvm.theory.run.confirm import OPEN
from attsvm.theory.run.sampling import PROFILES, Profile

if TYPE_CHECKING:  # loaded on first use, see `_LATE`
    from attsvm.theory.arithmetic.derivatives import gradient
    from attsvm.theory.declaration.structured import (
        PSD,
        Convex,
        Orthogonal,
        Permutation,
        Simplex,
        Sorted,
        Symmetric,
        Unit,
    )

__all__ = [
    "OPEN",
    "PROFILES",
    "PSD",
    "Choice",
    "Claim",
    "Convex",
    "Defined",
    "Evidence",
    "Expected",
    "Fitted",
    "Hypothesis",
    "Integer",
    "Labels",
    "Lemma",
    "Matrix",
    "Measured",
    "Meeting",
    "Near",
    "Orthogonal",
    "Pack",
    "Permutation",
    "Primitive",
    "Profile",
    "Reading",
    "Real",
    "Records",
    "Sibling",
    "Simplex",
    "Slack",
    "Sorted",
    "Statement",
    "Supposed",
    "Symmetric",
    "Tensor",
    "Truth",
    "Unit",
    "Validity",
    "Vector",
    "Verdict",
    "changed",
    "cite",
    "concludes",
    "definition",
    "ensure_equal",
    "ensure_nonnegative",
    "ensure_nonzero",
    "ensure_positive",
    "ensure_true",
    "ensure_zero",
    "gradient",
    "load_packs",
    "proposed",
    "stated",
    "suppose",
]

_LATE = {
    "arithmetic.derivatives": "gradient",
    "declaration.structured": "PSD Convex Orthogonal Permutation Simplex Sorted Symmetric Unit",
}
"""Names that few statements need, by module; their modules are imported on first use."""


def __getattr__(name: str) -> object:
    for module, names in _LATE.items():
        if name in names.split():
            return getattr(import_module(f"attsvm.theory.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
