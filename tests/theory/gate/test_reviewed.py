"""What changed since a review is told once, under its most telling name."""

from dataclasses import replace
from itertools import islice
from types import SimpleNamespace

from attsvm.theory.gate.reviewed import Reviewed
from attsvm.theory.packs.checkout import checked_packs, files_within, python_files

OLD = Reviewed("It holds.", "0 <= x", "1", counterexample="2")


def test_packs_that_were_checked_have_a_claim_that_was():
    packs = tuple(
        SimpleNamespace(claims=[SimpleNamespace(id=f"{name}/{k}") for k in range(2)])
        for name in ("a", "b", "c")
    )
    assert checked_packs(packs, {"b/0"}) == packs[1:2]
    assert checked_packs(packs, {"a/0", "a/1", "c/1"}) == (packs[0], packs[2])
    assert checked_packs(packs, ()) == ()


def test_half_of_the_instances_of_the_reviewed_run_are_owed_and_one_at_least():
    found = {n: replace(OLD, examples=n).required for n in (0, 1, 2, 5, 400)}
    assert found == {0: 1, 1: 1, 2: 1, 5: 3, 400: 200}


def test_folders_that_link_to_each_other_and_upwards_are_gone_through_once(tmp_path):
    names = "abc"
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        (tmp_path / name / "upwards").symlink_to("../..")
        for other in set(names) - {name}:
            (tmp_path / name / f"to_{other}").symlink_to(f"../{other}")
    found = [file[len(f"{tmp_path}/") :] for file in islice(files_within(tmp_path), 99)]
    assert found == ["a/file", "a/to_b/file", "a/to_b/to_c/file"]


def test_what_an_editor_hides_beside_a_module_does_not_count(tmp_path):
    (tmp_path / "module.py").touch()
    (tmp_path / ".#module.py").symlink_to("somebody@a.machine.17:1")  # no file
    (tmp_path / ".module.py").touch()
    assert python_files(tmp_path) == [str(tmp_path / "module.py")]
