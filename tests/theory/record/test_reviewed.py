"""What changed since a review is told once, under its most telling name."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from attsvm.theory.record.checkout import checked_packs
from attsvm.theory.record.reviewed import Reviewed, differences

OLD = Reviewed(
    "It holds.",
    "A paper, lemma 1",
    hypotheses=("x > 0",),
    siblings={"tighter": "c=0.4"},
    proof="proofs:old",
    code={"hypotheses": "1", "siblings": "1", "proof": "1", "check": "1"},
)


@pytest.mark.parametrize(
    ("topic", "changed", "told"),
    [
        ("proof", {"proof": "proofs:new"}, "proof replaced: proofs:old -> proofs:new"),
        ("hypotheses", {"hypotheses": ()}, "hypothesis removed: x > 0"),
        ("siblings", {"siblings": {}}, "sibling removed: tighter"),
        ("siblings", {"siblings": {"tighter": "c=1"}}, "sibling changed: tighter: c=0.4 -> c=1"),
        ("proof", {}, "the code of its proof changed (1 -> 2)"),
        ("check", {}, "the code of its conclusion or of what it rests on changed (1 -> 2)"),
    ],
)
def test_what_is_told_by_name_is_not_told_of_its_code_as_well(topic, changed, told):
    new = replace(OLD, **changed, code={**OLD.code, topic: "2"})
    assert differences(OLD, new) == (told,)
    assert differences(OLD, OLD) == ()


def test_packs_that_were_checked_have_a_claim_that_was():
    packs = tuple(
        SimpleNamespace(claims=[SimpleNamespace(id=f"{name}/{k}") for k in range(2)])
        for name in ("a", "b", "c")
    )
    assert checked_packs(packs, {"b/0"}) == packs[1:2]
    assert checked_packs(packs, {"a/0", "a/1", "c/1"}) == (packs[0], packs[2])
    assert checked_packs(packs, ()) == ()


def test_half_of_the_instances_of_the_reviewed_run_are_owed_and_one_at_least():
    found = {n: replace(OLD, examples=n).owed for n in (0, 1, 2, 5, 400)}
    assert found == {0: 1, 1: 1, 2: 1, 5: 3, 400: 200}
