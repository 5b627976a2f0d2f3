"""Hypotheses that linked proofs do not need in full: a page lists them, and no others."""

import pytest

from tests.searching import tenth
from tests.theory.proof.proof_mutants import HEAD, PAGE, PROOFS, rows, weakenings
from tests.theory.proof.readings import chain


@pytest.mark.parametrize("name", tenth(sorted(PROOFS), "weaker hypotheses"))
def test_a_proof_needs_a_hypothesis_in_full_unless_it_is_listed(name):
    """One proof in ten, and of its hypotheses one in ten; every night all of them."""
    listed = {*PAGE.read_text(encoding="utf-8").splitlines(keepends=True)}
    for row, enough in rows(name, tenth([*weakenings(chain(name))], name)):
        assert enough == (row in listed), row


def test_the_page_has_rows_of_linked_proofs_alone():
    lines = PAGE.read_text(encoding="utf-8").removeprefix(HEAD).splitlines()
    assert lines
    assert {line.split("`")[1] for line in lines} <= {*PROOFS}
