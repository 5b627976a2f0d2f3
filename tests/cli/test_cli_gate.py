"""`attsvm gate` passes a run as reviewed and stops every other."""

import re

from commands import TOYS, expect


def test_the_gate_passes_a_run_as_reviewed_and_stops_every_other(attsvm, document, tmp_path):
    attsvm("verify", *TOYS, "toy/true")
    code, out, _ = attsvm("gate", *TOYS, "--expect", expect(tmp_path))
    assert (code, out) == (0, "gate: 1 verdict as reviewed\n")
    code, found = document("gate", *TOYS, "--expect", expect(tmp_path, truth="refuted"))
    assert (code, found["passed"]) == (1, False)
    assert found["reasons"][0].startswith("toy/true:literal: truth is holds, expected refuted")
    code, found = document("gate", *TOYS, "--expect", expect(tmp_path, until="2020-01-01"))
    assert (code, len(found["reasons"])) == (1, 1)
    assert "lapsed on 2020-01-01" in found["reasons"][0]


def test_the_gate_holds_a_run_against_the_shipped_expectations_by_default(attsvm):
    attsvm("verify", "sim/lemma-3.12")
    code, out, _ = attsvm("gate")
    assert code == 1
    assert re.search(r"^tf: (\d+) of \1 reviewed claims are not part of the run", out, re.MULTILINE)
    assert not re.search(r"^sim/lemma-3\.12:", out, re.MULTILINE)


def test_the_gate_of_a_named_pack_leaves_out_what_the_run_did_not_check(attsvm, tmp_path):
    pack = tmp_path / "mine.py"
    pack.write_text("from toy_pack import true\n")
    attsvm("verify", "--pack", pack, "toy/true")
    assert attsvm("gate", "--pack", pack)[0] == 2
    assert attsvm("gate", "--pack", pack, "--update", "--yes")[0] == 0
    assert attsvm("gate", "--pack", pack)[0] == 1
    written = tmp_path / "expectations.json"
    written.write_text(written.read_text().replace("not reviewed yet", "a square"))
    code, out, _ = attsvm("gate", "--pack", pack)
    assert code == 0
    assert out.startswith("gate: 1 verdict as reviewed\nthe run checked nothing of the installed")
    assert attsvm("gate")[0] == 1
    attsvm("verify", "--pack", pack, "toy/true", "sim/lemma-3.12")
    code, out, _ = attsvm("gate", "--pack", pack)
    assert code == 1
    assert re.search(r"^tf: (\d+) of \1 reviewed claims are not part of the run", out, re.MULTILINE)


def test_expectations_or_a_ledger_of_another_kind_are_bad_input(attsvm, tmp_path):
    attsvm("verify", *TOYS, "toy/true")
    (tmp_path / "odd").write_text("{")
    code, out, error = attsvm("gate", *TOYS, "--expect", expect(tmp_path, until="soon"))
    assert (code, out, "toy/true:literal" in error) == (2, "", True)
    for words in (["--expect", "odd"], ["--expect", "none"], ["--ledger", "odd"]):
        assert attsvm("gate", *TOYS, *words)[0] == 2
