"""Decision hyperplanes of sub-sequences, from numbers that are worked out by hand."""

import numpy as np
import pytest
from flint import fmpq

from attsvm.theory.declaration.judge import judge
from attsvm.theory.run.confirm import confirm
from properties.sim import hyperplanes
from properties.sim._support.telling_sentences import sentence_run
from properties.sim.hyperplanes.conclusion import decisions
from properties.sim.hyperplanes.instances import EXCHANGED, ONE_QUERY

CLAIMS = {c.reading: c for c in hyperplanes.HYPERPLANES.claims}
THREE_QUERIES = sentence_run(np.eye(3), [[0, 1, 2]])


def test_two_tokens_with_opposite_queries_share_their_hyperplane():
    first, second = decisions(EXCHANGED)
    assert (first.w, first.c, first.optimal) == ([fmpq(-1, 2)], 0, [-1])
    assert (second.w, second.c, second.optimal) == ([fmpq(1, 2)], 0, [1])


def test_two_sub_sequences_share_their_query_and_their_half_space():
    first, second = decisions(ONE_QUERY)
    assert first.w == second.w == [0, 1]
    assert first.c == second.c == fmpq(1, 2)
    assert first.optimal != second.optimal
    assert len(decisions(THREE_QUERIES)) == 2


@pytest.mark.parametrize(
    ("reading", "case", "holds"),
    [
        ("literal-2", EXCHANGED, False),
        ("literal-2", THREE_QUERIES, True),
        ("literal-3", EXCHANGED, True),
        ("literal-3", ONE_QUERY, False),
        ("sharp-2", ONE_QUERY, False),
        ("sharp-2", THREE_QUERIES, True),
    ],
)
def test_the_formulas_tell_hyperplanes_half_spaces_and_queries_apart(reading, case, holds):
    claim = CLAIMS[reading]
    assert judge(claim.formula, {}, case).as_slack.holds == holds
    assert confirm(claim, {}, case, "strict").refuted == (not holds)
