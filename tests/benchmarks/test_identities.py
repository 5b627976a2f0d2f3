"""The judge decides all of a hundred identities, and none of them wrongly."""

from benchmarks.identities import IDENTITIES, decisions


def test_equal_sides_are_decided():
    assert len(IDENTITIES) == 100
    answers = decisions()
    assert {name for name, answer in answers.items() if answer != (True, False)} == set()
