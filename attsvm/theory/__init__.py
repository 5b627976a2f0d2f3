"""The claim engine: it knows claims, slacks and verdicts, and no paper.

Strategy -> instance -> hypotheses -> slack -> exact re-evaluation -> verdict -> ledger -> gate.
"""

from attsvm.theory.claim import Claim, Hypothesis, Sibling, claim, sibling
from attsvm.theory.confirm import OPEN
from attsvm.theory.packs import Pack, load_packs
from attsvm.theory.profiles import PROFILES, Profile
from attsvm.theory.proof import (
    ensure_equal,
    ensure_nonzero,
    ensure_positive,
    ensure_true,
    ensure_zero,
)
from attsvm.theory.slack import Slack
from attsvm.theory.verdict import Evidence, Expected, Truth, Validity, Verdict

__all__ = [
    "OPEN",
    "PROFILES",
    "Claim",
    "Evidence",
    "Expected",
    "Hypothesis",
    "Pack",
    "Profile",
    "Sibling",
    "Slack",
    "Truth",
    "Validity",
    "Verdict",
    "claim",
    "ensure_equal",
    "ensure_nonzero",
    "ensure_positive",
    "ensure_true",
    "ensure_zero",
    "load_packs",
    "sibling",
]
