"""Linked proofs as files for Coq: their statements, and the rejection of changed facts."""

import re
import shutil
from dataclasses import replace

import pytest
from flint import fmpq

from attsvm.errors import NotExpressible
from attsvm.theory import load_packs
from attsvm.theory.coq.fact_text import FactText
from attsvm.theory.coq.kernel import LinkedJob, check_linked
from attsvm.theory.coq.linked import exported, exported_in_part, linked_jobs
from attsvm.theory.declaration.proof import executed, recorded
from attsvm.theory.proof.facts import K, Sequent, eq, ev, ge, gt, proof
from attsvm.theory.proof.lemmas import SPECTRAL, falls
from attsvm.theory.proof.rules import cite, decide, fact_of_reading, one_of_sum
from attsvm.theory.proof.terms import (
    EXP,
    INNER,
    REAL,
    STEP,
    VECTOR,
    Function,
    Letter,
    Over,
    Sort,
    extreme,
    total,
)
from attsvm.theory.verification.check import found_proof

CLAIMS = {claim.id: claim for pack in load_packs() for claim in pack.claims}
SAMPLE = ("tf/unlike-svm:amended-2", "tf/unique-solution:literal", "tf/tokens-interact:literal")
"""Readings whose linked proofs use sums, extremes, inner products and certificates."""
x, j = Letter("x"), Letter("j", Sort("n", index=True))
f = Function("f", (j.sort,))
sequence = Function("S", (STEP,))


def text_of(id):
    """The file of the linked proof of a reading."""
    claim = CLAIMS[id]
    with recorded() as steps:
        executed(found_proof(claim))
    (whole,) = steps.linked
    return exported(claim.formula, whole)


def broken(text, find, insert):
    """The text with one change, which must be possible."""
    changed, count = re.subn(find, insert, text, count=1, flags=re.DOTALL)
    assert count == 1
    return changed


CERTIFIED = (r"(Lemma a0 [^\n]*\) : (?:0 <=? )?\()", r"\g<1>(- 1) + ")
BREAKS = {
    "the sign of the conclusion": (r"0 <= ([^\n]*\.\n\nSet Default)", r"0 < - \1"),
    "another hypothesis": (r"(\nLemma)", r"\nHypothesis more : 0 = 1.\1"),
    "a stronger fact": (r"(Lemma f4 [^\n]*: )0 <= ", r"\g<1>0 < "),
    "a constant of a certified fact": CERTIFIED,
    "a weaker premise": (r"(Lemma a0 [^\n]*\(H0 : 0 <= \()", r"\g<1>1 + "),
    "a premise is left out": (r"(Lemma a0 [^\n]*?) \(H0 : .*?\)\) \(H1", r"\1 (H1"),
    "a fact without a proof": (r"(Lemma f4 [^\n]*\n)Proof[^\n]*", r"\1Admitted."),
}
"""Changes of the first proof, each of which Coq must reject."""


@pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is an optional program")
def test_coq_accepts_linked_proofs_and_rejects_each_broken_one(tmp_path):
    jobs = [*linked_jobs(CLAIMS[id] for id in SAMPLE)]
    texts = [job.text for job in jobs]
    changes = [(texts[0], *change) for change in BREAKS.values()]
    changes += [(text, *CERTIFIED) for text in texts[1:]]
    jobs += [LinkedJob(f"broken {n}", broken(*change), 1, 1) for n, change in enumerate(changes)]
    results = [*check_linked(jobs, "coqc", lambda line: None, 2, tmp_path)]
    whole, others = results[: len(SAMPLE)], results[len(SAMPLE) :]
    assert [one.result for one in whole] == ["accepted"] * len(SAMPLE)
    assert [one.result for one in others] == ["rejected"] * len(changes)
    assert all(one.facts > 1 and one.axioms for one in whole)


@pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is an optional program")
def test_coq_accepts_steps_that_disappear_and_terms_in_another_order(tmp_path):
    """Names of bound letters decide the order of factors and summands."""
    u, other, y = Function("u", (j.sort,), VECTOR), Letter("other", j.sort), Letter("y")
    with proof() as whole:
        given = [ge(sequence(K), x), ge(y, sequence(K)), ge(INNER(u(j), u(other)), 0)]
        given += [ge(EXP(f(j) - f(other)), 0)]
        low, high, *pairs = (fact_of_reading(Sequent(p), "given", "") for p in given)
        assert decide(ge(y, x), low, high).letters == {x, y}
        for each in pairs:
            one_of_sum(each, j)
            one_of_sum(each, other)
        cite(SPECTRAL, (), f(j) * f(other), j, other, f(other))
    text, checked = exported_in_part(whole)
    assert checked == 7
    job = LinkedJob("small", text, 9, checked, "given facts")
    admitted = broken(text, r"(Lemma f5 [^\n]*\n)Proof[^\n]*", r"\1Admitted.")
    jobs = [job, replace(job, claim="admitted", text=admitted)]
    result, other = check_linked(jobs, "coqc", lambda line: None, 1, tmp_path)
    assert (result.result, result.reason) == ("in part", "given facts")
    assert result.axioms
    assert (other.result, other.reason) == ("rejected", "uses f5")


@pytest.mark.parametrize("id", SAMPLE)
def test_the_last_theorem_is_the_statement_of_the_reading(id):
    text = text_of(id)
    assert text.endswith("Theorem checked : statement.\nProof. exact holds. Qed.\n")
    assert not re.search(r"\b(Axiom|Admitted|admit|Parameter|Conjecture)\b", text)
    # the statement comes before all facts, and each hypothesis of the section is part of it
    statement = text[text.index("Definition statement") : text.index("Set Default")]
    supposed = re.findall(r"^Hypothesis given_\d+ : (.*)\.$", text, re.MULTILINE)
    assert all(f"({one}) ->" in statement for one in supposed)


def test_a_proof_that_ends_elsewhere_is_not_exported():
    claim = CLAIMS[SAMPLE[0]]
    with recorded() as steps:
        executed(found_proof(claim))
    (whole,) = steps.linked
    with pytest.raises(NotExpressible, match="conclusion"):
        exported(claim.formula, replace(whole, concluded=whole.concluded[:0]))


def test_propositions_are_printed_with_least_integers_and_their_binders():
    names, k = FactText(), K.term
    assert names.proposition(ge(x.term / 2, fmpq(1, 3))) == "0 <= (- 2) + 3 * l_x"
    assert names.proposition(gt(0, x.term)) == "0 < (- 1) * l_x"
    assert names.proposition(eq(1 - x.term, 0)) == names.proposition(eq(x.term, 1))
    late = ev(ge(sequence(k + 1), sequence(k)))
    assert names.proposition(late) == (
        "Ev (fun l_k : nat => 0 <= (v_S (S l_k)) + (- 1) * (v_S l_k))"
    )
    assert names.sequent(Sequent(ge(total(f(j), j), 0), frozenset({gt(f(j), 1)}))) == (
        "forall (l_j : I_n), 0 < (- 1) + (v_f l_j) -> "
        "0 <= (sum (all I_n) (fun i001 : I_n => (v_f i001)))"
    )


def test_the_error_names_what_coq_cannot_express():
    names = FactText()
    with pytest.raises(NotExpressible, match="'row'"):
        names.proposition(ge(extreme("row", f(j), j), 0))
    with pytest.raises(NotExpressible, match="derivatives"):
        names.proposition(falls(Function("g", (REAL,)), Function("h", (REAL,))))


def test_only_the_norm_of_a_whole_matrix_has_a_text():
    i = Letter("i", Sort("m", index=True))
    A, owner = Function("A", (i.sort, j.sort)), Function("owner", (j.sort,), i.sort)
    row = extreme("row", A(i, j), j)
    text = FactText().polynomial(extreme("spectral", row, i))
    assert text == "(spectral (fun i002 : I_m => (fun i001 : I_n => (v_A i002 i001))))"
    some, least = extreme("row", A(i, j), j, Over(owner, i.term)), extreme("least", A(i, j), j)
    for other in (2 * row, row**2, some, least):
        with pytest.raises(NotExpressible):
            FactText().polynomial(extreme("spectral", other, i))
