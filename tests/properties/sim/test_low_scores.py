"""Tokens of least score left out: which they are, what attention collects, where runs end."""

from dataclasses import replace

import numpy as np
from flint import arb, ctx
from hypothesis import given

from attsvm import AttentionData
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import without
from attsvm.primitives.descent_runs import runs
from attsvm.strategies.data import attention_data
from attsvm.theory.arithmetic import BALLS
from attsvm.training import descend_w
from properties._support.small_runs import TWO_TOKENS
from properties.sim import PRINTED, REPAIRED
from properties.sim.low_score_tokens import left_out
from properties.sim.low_score_tokens.left_out import ENDS_THERE, PUSHED, SUPPORT, Scaled


def test_the_least_scores_are_left_out_and_no_token_of_an_input_of_one_score():
    data = AttentionData.of(
        [[[1], [2], [3]]] * 3,
        [[1]] * 3,
        scores=[[0, 2, 0], [1, 1, 1], [3, 2, 1]],
        mask=[[True, True, True], [True, True, True], [True, True, False]],
    )
    assert left_out.low(data).tolist() == [[True, False, True], [False] * 3, [False, True, False]]
    assert left_out.low(data, "best").tolist()[2] == [True, False, False]
    assert not left_out.low(data, "second").any()


@given(runs(attention_data(), 0))
def test_what_attention_collects_rises_by_the_share_of_the_rest_of_it(run):
    """Floats, without the formula's own code."""
    out = left_out.low(run.data)
    with ctx.workprec(128):
        said = left_out.scores_no_lower(BALLS, run)
        gains = [float(arb(c.right - c.left)) for c in getattr(said, "parts", [])]
    expected = []
    for i in np.flatnonzero(out.any(axis=1)):
        logits = run.data.X[i] @ run.start @ run.data.Z[i]
        shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        of_rest = (shares * run.data.gamma[i])[~out[i]].sum() / max(shares[~out[i]].sum(), 1e-300)
        expected.append(shares[out[i]].sum() * (of_rest - run.data.gamma[i].min()))
    assert len(gains) == len(expected)
    np.testing.assert_allclose(gains, expected, rtol=1e-6, atol=1e-6)


def test_the_run_ends_where_it_is_proved_to_with_the_low_token_and_without():
    for data, sign in ((PUSHED.data, -1.0), (left_out.without_low(PUSHED, "low"), 1.0)):
        path = descend_w(
            [data], np.zeros((1, 1)), LOSSES[REPAIRED], step=1.0, steps=4000, record="all"
        )
        assert sign * path.W[0, -1, 0, 0] > 1.0
    with ctx.workprec(128):
        assert left_out.certified_no_worse(PUSHED) == -1
        assert left_out.certified_no_worse(TWO_TOKENS) == 0
        assert left_out.certified_alike(replace(ENDS_THERE, loss=PRINTED)) < 0
        assert left_out.certified_alike(replace(PUSHED, inputs=SUPPORT)) > 0
        # without the token of score 0 the gradient is 0, and X = 0 has no direction
        assert left_out.certified_alike(TWO_TOKENS) == -1
        assert left_out.certified_alike(replace(TWO_TOKENS, start=np.ones((1, 1)))) == 1
    assert left_out.ends_no_worse(PUSHED).violated
    assert left_out.ends_alike(replace(ENDS_THERE, loss=PRINTED)).violated


def test_how_low_a_score_is_changes_nothing_and_the_support_vector_does():
    deep = left_out.lowered(Scaled(SUPPORT, 1024.0))
    assert deep.gamma.tolist() == [[2.0, 1.0, -1024.0]]
    for data in (SUPPORT, deep):
        assert left_out.exact_att_svm(data).W == [[1]]
        assert left_out.exact_att_svm(without(data, left_out.low(data))).W[0][0] * 2 == 1
