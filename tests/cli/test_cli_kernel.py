"""`attsvm show --coq`, and the table of proofs in the documents."""

import re
from pathlib import Path

import pytest
from commands import TOYS

from attsvm.cli import main
from attsvm.theory import load_packs
from attsvm.theory.coq.kernel import Proofs

ROOT = Path(__file__).parents[2]


def test_propositions_are_printed(capsys):
    assert main(["show", "--coq", "sim/lemma-3.12:sharp"]) == 0
    shown = capsys.readouterr().out
    assert "Definition sim_lemma_3_12_sharp : Prop :=" in shown
    assert "sim_lemma_3_12_literal" not in shown


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("sim/basic-4:sharp", "\nDefinition sim_basic_4_sharp_tight : Prop :=\n  forall share : R"),
        (
            "tf/softmax-range:literal-1",
            "\nDefinition tf_softmax_range_literal_1_refuted : Prop := ~ ",
        ),
    ],
)
def test_tightness_and_refutations_for_all_sizes_are_printed(capsys, id, said):
    assert main(["show", "--coq", id]) == 0
    assert said in capsys.readouterr().out


NOT_IN_COQ = "no theorem: it has no proof in Coq for all sizes, and no stored counterexample"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["toy/prose"], NOT_IN_COQ),
        (["--proofs", "toy/prose"], "its proof is in prose, so that it has no facts to check"),
        (["--proofs", "toy/true"], "no proof"),
    ],
)
def test_a_named_reading_without_a_theorem_says_why(tmp_path, capsys, words, said):
    coqc = tmp_path / "coqc"
    coqc.write_text("#!/bin/sh\necho Coq of a test\n")
    coqc.chmod(0o755)
    assert main(["kernel", *TOYS, *words, "--coqc", str(coqc)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == [f"{words[-1]}:literal: {said}", "Coq of a test"]


def test_a_counterexample_is_printed_with_its_proof(capsys):
    assert main(["show", "--coq", "sim/basic-1:literal-2"]) == 0
    shown = capsys.readouterr().out
    assert "Theorem holds :" in shown
    assert "decide_numbers]." in shown


def test_a_reading_without_a_proposition_says_why(capsys):
    assert main(["show", "--coq", "tf/theorem-2:literal"]) == 0
    assert (
        "for all sizes: not expressible: a claim about a record or a run *)"
        in capsys.readouterr().out
    )


def test_the_table_lists_all_proofs():
    """Each cell of docs/kernel.md has the theorems of symbolic/coq, and no others."""
    proofs = Proofs.of(ROOT / "symbolic/coq")
    (pack,) = load_packs()
    expected = {}
    for claim in pack.claims:
        for _, name in proofs.theorems(claim):
            column = 1 if name.endswith("_tight") else 2 if name.endswith("_refuted") else 0
            row = expected.setdefault(claim.statement_id, [set(), set(), set()])
            row[column].add(claim.reading)
    rows = re.findall(
        r"^\| `(\S+)` \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$",
        (ROOT / "docs/kernel.md").read_text(),
        re.MULTILINE,
    )
    shown = {id: [set(filter(None, cell.split(", "))) for cell in cells] for id, *cells in rows}
    assert shown == expected
    assert sum(len(row[0]) for row in expected.values()) == 20, "docs/proofs.md says twenty"
