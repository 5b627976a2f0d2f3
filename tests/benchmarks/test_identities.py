"""The judge decides nearly all of a hundred identities, and none of them wrongly."""

from benchmarks.identities import IDENTITIES, decisions

OPEN = {
    "e^(e^x) e^(e^x)",
    "eigenvalues sum to the trace",
    "eigenvalues of 2A",
    "product of singular values",
}
"""Identities that stay open: iterated exponentials, and algebraic numbers of degree 3."""


def test_equal_sides_are_decided_and_never_wrongly():
    assert len(IDENTITIES) == 100
    answers = decisions()
    assert all(equal is not False and below is not True for equal, below in answers.values())
    assert {name for name, answer in answers.items() if answer != (True, False)} == OPEN
