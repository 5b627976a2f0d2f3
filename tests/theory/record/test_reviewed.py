"""What changed since a review is told once, under its most telling name."""

import sys
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

import pytest

from attsvm.theory.record.checkout import _python, _within, checked_packs
from attsvm.theory.record.reviewed import Reviewed, _simple, differences

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


@pytest.mark.parametrize("power", [700, 1000, 5000])
def test_a_long_integer_is_spelt_in_one_way_however_many_digits_python_writes(power):
    value, before, spelt = 10**power, sys.get_int_max_str_digits(), set()
    try:
        for digits in (0, 640, 4300):
            sys.set_int_max_str_digits(digits)
            spelt.add(_simple(value))
    finally:
        sys.set_int_max_str_digits(before)
    assert spelt == {hex(value)}


def test_folders_that_link_to_each_other_are_gone_through_once_on_each_way(tmp_path):
    names = "abc"
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        for other in set(names) - {name}:
            (tmp_path / name / f"to_{other}").symlink_to(f"../{other}")
    found = [file[len(f"{tmp_path}/") :] for file in islice(_within(tmp_path), 99)]
    assert [name for name in found if name.startswith("a")] == [
        "a/file",
        "a/to_b/file",
        "a/to_b/to_c/file",
        "a/to_c/file",
        "a/to_c/to_b/file",
    ]
    assert len(found) == 15


def test_what_an_editor_hides_beside_a_module_does_not_count(tmp_path):
    (tmp_path / "module.py").touch()
    (tmp_path / ".#module.py").symlink_to("somebody@a.machine.17:1")  # no file
    (tmp_path / ".module.py").touch()
    assert _python(tmp_path) == [str(tmp_path / "module.py")]
