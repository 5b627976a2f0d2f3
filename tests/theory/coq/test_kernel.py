"""What the command makes of Coq's answers: a program in its place gives each of them."""

import json
from pathlib import Path

import pytest

from attsvm.cli import main
from attsvm.errors import UsageError
from attsvm.theory import load_packs
from attsvm.theory.coq.kernel import Proofs, check, statements
from attsvm.theory.record.curated import known

(PACK,) = load_packs()
PROOFS = Proofs.of(Path(__file__).parents[3] / "symbolic/coq")
CLAIMS = {claim.id: claim for claim in PACK.claims}
AXIOMS = "echo Axioms:; echo ClassicalDedekindReals.sig_not_dec : x"
ANSWERS = {
    "accepts": (AXIOMS, "accepted", ""),
    "needs nothing": ("echo Closed under the global context", "accepted", ""),
    "refuses": ("echo 'Error: Unable to unify'; exit 1", "rejected", "Unable to unify"),
    "dies": ("exit 137", "failed", "ran out of time or memory"),
    "admits": ("echo Axioms:; echo Statements.cheat : x", "rejected", "uses Statements.cheat"),
    "adds an axiom": (f"{AXIOMS}; echo Pair.trick : x", "rejected", "uses Pair.trick"),
    "is silent": ("true", "rejected", "did not list its axioms"),
}


@pytest.fixture
def coq(tmp_path):
    """A function that makes a program in the place of Coq; it answers so to each conclusion."""

    def make(answer, prelude="true"):
        program = tmp_path / "coqc"
        program.write_text(
            "#!/bin/sh\n"
            'case "$*" in\n'
            '*--version*) echo "Coq of a test" ;;\n'
            f"*Check_*) {answer} ;;\n"
            f"*Prelude*) {prelude} ;;\n"
            "*) true ;;\n"
            "esac\n"
        )
        program.chmod(0o755)
        return str(program)

    return make


def smallest(claim):
    return known(claim)[:1]


def checked(id, program):
    return list(check([CLAIMS[id]], known, PROOFS, program, lambda line: None))


@pytest.mark.parametrize(("answer", "result", "reason"), ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("id", ["sim/lemma-3.12:literal", "sim/basic-1:literal-2"])
def test_an_answer_of_coq_is_told(coq, id, answer, result, reason):
    (found,) = checked(id, coq(answer))
    assert (found.claim, found.result) == (id, result)
    assert reason in found.reason


LEMMA = [CLAIMS["sim/lemma-3.12:literal"], CLAIMS["sim/lemma-3.12:sharp"]]


@pytest.mark.parametrize(
    "fault", ["echo Error: no; exit 1", "echo Axioms:; echo Pair.trick : x; exit", "exit 0"]
)
def test_in_a_batch_only_the_refused_theorem_is_rejected(coq, fault):
    batched = f'if grep -q sharp_tight "$2"; then {fault}; fi; {AXIOMS}'
    found = list(check(LEMMA, known, PROOFS, coq(batched), lambda line: None, 2))
    assert [(f.kind, f.result) for f in found] == [
        ("proof", "accepted"),
        ("proof", "accepted"),
        ("tightness", "rejected"),
    ]


def test_axioms_are_listed_of_every_theorem_in_a_file_and_proofs_and_instances_have_their_own(
    coq, tmp_path
):
    claims = [*LEMMA, CLAIMS["sim/basic-1:literal-2"], CLAIMS["sim/lemma-3.13:literal"]]
    program = coq(f'cp "$2" {tmp_path}; {AXIOMS}')
    found = [f.kind for f in check(claims, smallest, PROOFS, program, lambda line: None)]
    assert found == ["proof", "proof", "tightness", *["refutation by an instance"] * 2]
    literal, sharp, tight = (
        f"sim_lemma_3_12_{name}" for name in ("literal_literal", "sharp_sharp", "sharp_sharp_tight")
    )
    one, other = "sim_basic_1_literal_2_refuted_1", "sim_lemma_3_13_literal_refuted_1"
    first, second = sorted(file.read_text() for file in tmp_path.glob("Check_*.v"))
    for text, every in (
        (first, f"(conj {one}.holds {other}.holds)"),
        (second, f"(conj (conj {literal} {sharp}) {tight})"),
    ):
        assert f"every_theorem := {every}.\nPrint Assumptions every_theorem.\n" in text


def test_each_stored_counterexample_has_a_theorem_of_its_own(coq):
    claim = CLAIMS["sim/lemma-3.13:literal"]
    found = list(check([claim], known, PROOFS, coq(AXIOMS), lambda line: None))
    assert len(found) == len(known(claim)) > 1


def test_a_file_of_proofs_that_coq_refuses_is_rejected(coq, tmp_path):
    program = Path(coq(AXIOMS))
    text = program.read_text().replace(
        "*Prelude*", "*sim_lemma_3_12.v*) echo Error: No such lemma; exit 1 ;;\n*Prelude*"
    )
    program.write_text(text)
    found = checked("sim/lemma-3.12:sharp", str(program))
    assert [(f.kind, f.result, f.reason) for f in found] == [
        ("proof", "rejected", "No such lemma"),
        ("tightness", "rejected", "No such lemma"),
    ]


def test_what_has_no_theorem_is_not_told_as_accepted(coq):
    (found,) = checked("tf/generalised-svm:literal-3", coq(AXIOMS))
    reason = "a probability over Gaussian data, of which only samples of runs speak"
    assert (found.result, found.reason) == ("not expressible", reason)


@pytest.mark.parametrize("name", ["no-such-program", "/bin/false"])
def test_without_coq_the_remedy_names_the_packages(name):
    with pytest.raises(UsageError, match="apt-get install coq"):
        checked("sim/lemma-3.12:literal", name)


def test_a_prelude_that_coq_refuses_is_an_error(coq):
    with pytest.raises(UsageError, match="does not compile Prelude"):
        checked("sim/lemma-3.12:literal", coq(AXIOMS, prelude="echo Error: old; exit 1"))


def test_a_theorem_is_taken_for_the_generated_proposition(coq, tmp_path):
    program = coq(f'cp "$2" {tmp_path}/seen.v; cp Statements.v {tmp_path}; {AXIOMS}')
    checked("sim/lemma-3.12:literal", program)
    said = ": Statements.sim_lemma_3_12_literal := sim_lemma_3_12.literal."
    assert said in (tmp_path / "seen.v").read_text()
    assert "Rabs (logistic_slope x - logistic_slope y) <= 1 * Rabs (x - y)" in (
        (tmp_path / "Statements.v").read_text()
    )


@pytest.mark.parametrize("name", ["Prelude", "Words", "Statements"])
def test_a_proof_file_cannot_replace_the_definitions(tmp_path, name):
    (tmp_path / f"{name}.v").write_text("Definition norm := 0.\n")
    with pytest.raises(UsageError, match="the name of a file that attsvm writes"):
        Proofs.of(tmp_path)


def test_files_come_after_those_that_they_require():
    order = PROOFS.needed("sim_basic_6")
    assert order[-1] == "sim_basic_6"
    assert order.index("Softmax") < order.index("Pair") < order.index("sim_basic_4")


def test_statements_are_written_once():
    text = statements([CLAIMS["sim/lemma-3.12:sharp"]] * 2, PROOFS)
    assert text.count("Definition sim_lemma_3_12_sharp :") == 1
    assert text.count("Definition sim_lemma_3_12_sharp_tight :") == 1


@pytest.mark.parametrize(("answer", "code"), [(AXIOMS, 0), ("echo Error: no; exit 1", 1)])
def test_the_exit_code_is_the_answer(coq, tmp_path, capsys, answer, code):
    out = tmp_path / "kernel.json"
    args = ["kernel", "sim/lemma-3.12", "--coqc", coq(answer), "--json", str(out)]
    assert main(args) == code
    document = json.loads(out.read_text())
    assert document["accepted"] == (code == 0)
    assert len(document["theorems"]) == 3
    assert "Coq of a test" in capsys.readouterr().out


def test_without_coq_the_exit_code_is_2(capsys):
    assert main(["kernel", "sim/lemma-3.12", "--coqc", "no-such-program"]) == 2
    assert "apt-get install" in capsys.readouterr().err


STATED = f"""grep -q 'sim_lemma_3_12_literal :' "$(dirname "$2")/Statements.v" || exit 1
{AXIOMS}"""


def test_a_reading_alone_is_checked_beside_the_other_readings_that_its_proof_uses(coq, capsys):
    assert main(["kernel", "--coqc", coq(STATED), "sim/lemma-3.12:sharp"]) == 0
    assert "2 accepted, 0 rejected" in capsys.readouterr().out
