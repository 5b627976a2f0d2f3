"""Literal readings are marked degenerate exactly if only degenerate data refute them."""

import numpy as np
import pytest

from attsvm.data import AttentionData
from attsvm.theory import Truth, load_packs
from attsvm.theory.declaration.verdict import Fairness
from attsvm.theory.instance import codec
from attsvm.theory.record import curated
from attsvm.theory.record.counterexample import read
from attsvm.theory.record.errata import Rank, find_source

PACKS = load_packs()
LITERAL = {
    claim.id: claim
    for pack in PACKS
    for claim in pack.claims
    if claim.fairness is not None and claim.expected.truth is Truth.REFUTED
}
RANKS = {
    id: rank for name in ("sim", "tf", "mm") for id, rank in find_source(PACKS, name).ranks.items()
}


def first_stored(claim):
    """The instance that is stored first, linked and shown."""
    return codec.decode_exactly(read(curated.place(claim))["instance"], claim.instance_type)


def inputs_of(case):
    """Tokens, scores and query of each input, None for what an instance does not have."""
    for name in ("data", "inputs"):
        case = inner if isinstance(inner := getattr(case, name, None), AttentionData) else case
    tokens = getattr(case, "X", None)
    if not isinstance(tokens, np.ndarray) or tokens.ndim != 3:
        return []
    n, T, _ = tokens.shape
    mask = getattr(case, "mask", None)
    present = np.ones((n, T), dtype=bool) if mask is None else mask
    if isinstance(case, AttentionData):
        scores = case.gamma
    elif getattr(case, "v", None) is not None and getattr(case, "Y", None) is not None:
        scores = case.Y[:, None] * (tokens @ case.v)
    else:
        scores = None
    queries = getattr(case, "Z", None)
    return [
        (
            tokens[i][present[i]],
            None if scores is None else scores[i][present[i]],
            None if queries is None else queries[i],
        )
        for i in range(n)
    ]


def degenerate(case):
    """Whether all inputs have one token, equal tokens, equal scores, or a query 0."""
    inputs = inputs_of(case)
    ways = (
        [len(x) == 1 for x, _, _ in inputs],
        [(x == x[0]).all() for x, _, _ in inputs],
        [s is not None and (s == s[0]).all() for _, s, _ in inputs],
        [z is not None and not z.any() for _, _, z in inputs],
    )
    return bool(inputs) and any(map(all, ways))


def test_one_token_a_head_and_a_query_of_zero_and_equal_tokens_are_degenerate():
    def data(X, Z, v):
        return AttentionData.of(X, Z, y=[1] * len(X), v=v)

    two = [[[1, 0], [0, 1]]]
    assert not degenerate(data(two, [[1, 0]], [1, 0]))
    assert degenerate(data(two, [[1, 0]], [0, 0]))
    assert degenerate(data(two, [[1, 0]], [1, 1]))
    assert degenerate(data(two, [[0, 0]], [1, 0]))
    assert degenerate(data([[[1, 0]]], [[1, 0]], [1, 0]))
    assert degenerate(data([[[1, 0], [1, 0]]], [[1, 0]], [1, 0]))
    assert not degenerate(data([*two, [[1, 0], [1, 0]]], [[1, 0]] * 2, [1, 0]))


NO_TOKENS = {
    "tf/softmax-range:literal-1": "a vector of one entry",
    "tf/nonlinear-head-several:literal-1": "a head 0",
    "mm/w-p-equivalence:literal-2": "a prompt 0",
}
"""Degenerate readings whose instances have no inputs of tokens with scores and queries."""


@pytest.mark.parametrize("name", LITERAL)
def test_a_reading_is_degenerate_if_the_instance_stored_first_is(name):
    claim = LITERAL[name]
    if claim.fairness is Fairness.PLAIN:
        assert not degenerate(first_stored(claim))
    elif claim.fairness is Fairness.DEGENERATE and name not in NO_TOKENS:
        assert degenerate(first_stored(claim))
    else:
        assert claim.fairness is Fairness.STRAINED or name in NO_TOKENS


def test_definitions_that_are_read_as_theorems_are_strained():
    of_definitions = {n for n, c in LITERAL.items() if RANKS[c.statement_id] is Rank.DEFINITION}
    assert of_definitions
    for name in of_definitions:
        assert LITERAL[name].fairness is not Fairness.PLAIN, name


def test_every_statement_has_a_rank():
    statements = {claim.statement_id for pack in PACKS for claim in pack.claims}
    assert set(RANKS) == statements
