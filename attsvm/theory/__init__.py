"""The claim engine: it checks statements on instances, and knows no paper.

The steps of a check: strategy -> instance -> hypotheses -> slack -> exact re-evaluation -> verdict
-> ledger -> gate.
"""

from attsvm._witness import proposed
from attsvm.theory.arithmetic.derivatives import gradient
from attsvm.theory.arithmetic.naming import Primitive, definition
from attsvm.theory.declaration.claim import Claim, Sibling
from attsvm.theory.declaration.conclusions import Measured, stated
from attsvm.theory.declaration.hypotheses import Hypothesis
from attsvm.theory.declaration.proof import (
    Lemma,
    Supposed,
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

__all__ = [
    "OPEN",
    "PROFILES",
    "Choice",
    "Claim",
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
    "Pack",
    "Primitive",
    "Profile",
    "Reading",
    "Real",
    "Records",
    "Sibling",
    "Slack",
    "Statement",
    "Supposed",
    "Tensor",
    "Truth",
    "Validity",
    "Vector",
    "Verdict",
    "changed",
    "cite",
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
