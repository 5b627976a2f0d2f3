"""`attsvm claims` lists what there is, chosen by id, statement or prefix."""

import json
from pathlib import Path

import pytest
from commands import PACK

from attsvm.theory import load_packs
from attsvm.theory.packs import packs


def test_claims_lists_every_claim_with_the_promised_keys(document):
    code, found = document("claims")
    assert code == 0
    (pack,) = load_packs()
    assert [c["id"] for c in found["claims"]] == [c.id for c in pack.claims]
    for entry in found["claims"]:
        assert set(entry) >= {
            *("id", "reading", "source", "place", "statement", "hypotheses"),
            *("expected", "depends_on", "file", "line"),
        }
        line = Path(entry["file"]).read_text().splitlines()[entry["line"] - 1]
        assert line.startswith(("@claim(", "def ")) or " = Statement(" in line


def test_claims_prints_every_id_and_a_named_pack(attsvm):
    code, out, _ = attsvm("claims", "--pack", PACK)
    assert code == 0
    for pack in load_packs([PACK]):
        for claim in pack.claims:
            assert claim.id in out


def test_claims_are_chosen_by_id_statement_or_prefix(document):
    ids = [c["id"] for c in document("claims", "sim/lemma-3.12:sharp", "tf/lemma-2")[1]["claims"]]
    assert "tf/lemma-2:literal" in ids
    assert "sim/lemma-3.12:sharp" in ids
    assert all(i.startswith(("sim/lemma-3.12:sharp", "tf/lemma-2:")) for i in ids)


def test_json_goes_to_a_file_beside_the_table(attsvm, tmp_path):
    code, out, _ = attsvm("claims", "--json", tmp_path / "deep" / "claims.json")
    assert code == 0
    assert "sim/lemma-3.12:sharp" in out
    assert json.loads((tmp_path / "deep" / "claims.json").read_text())["schema"] == 1


@pytest.mark.parametrize(
    ("command", "code"),
    [("claims", 0), ("reproduce", 0), ("verify", 2), ("verify mine/a", 2), ("hunt x/y", 2)],
)
def test_where_no_pack_is_known_every_command_says_so_and_what_to_do(
    attsvm, monkeypatch, command, code
):
    monkeypatch.setattr(packs, "load_packs", lambda *_: ())
    ended, out, error = attsvm(*command.split())
    assert (ended, packs.NO_CLAIMS in (error if code else out)) == (code, True)


def test_where_packs_have_no_figures_the_list_says_so(attsvm, monkeypatch):
    toys = packs.load_packs([], [PACK])
    monkeypatch.setattr(packs, "load_packs", lambda *_: toys)
    assert attsvm("reproduce") == (
        0,
        "There is no figure to redraw. No pack that is loaded declares one.\n",
        "",
    )
