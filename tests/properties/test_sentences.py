"""Sentences of readings are composed; the statements that still write some are listed here."""

import sys

from attsvm.theory import Statement, load_packs

BY_HAND: frozenset[str] = frozenset(
    {
        "mm/general-data",
        "mm/loss-choice",
        "mm/normalised-descent",
        "sim/figure-1",
        "sim/figure-2",
        "sim/kq-bias",
        "sim/loss-assumptions",
        "sim/low-score-tokens",
        "sim/orientation",
        "sim/printed-loss",
        "sim/self-attention",
        "sim/theorem-3.14-part-1",
        "sim/theorem-3.14-part-2",
        "sim/theorem-3.15",
        "sim/token-separation",
        "sim/token-sparsity",
        "tf/all-support-divergence",
        "tf/few-tokens",
        "tf/global-conjecture",
        "tf/global-equal-scores",
        "tf/global-initial-gradient",
        "tf/linear-head-one-token",
        "tf/local-convergence",
        "tf/parameterisation-bias",
    }
)
"""Statements of which a reading gives its whole sentence; the list only ever gets shorter."""


def test_no_other_statement_writes_the_sentence_of_a_reading():
    load_packs()
    modules = [module for name, module in sys.modules.items() if name.startswith("properties.")]
    statements = [
        one for each in modules for one in vars(each).values() if isinstance(one, Statement)
    ]
    assert {s.id for s in statements if any(r.says for r in s.readings.values())} == BY_HAND
