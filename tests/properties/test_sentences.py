"""Sentences of readings are composed, and statement files are short."""

import ast
import sys
from pathlib import Path

from attsvm.theory import Statement, load_packs
from attsvm.theory.declaration.instances import domains
from attsvm.theory.declaration.verdict import Strength
from attsvm.theory.packs.code_bases import files_of
from attsvm.theory.packs.code_digests import module_of

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = [claim for pack in load_packs() for claim in pack.claims]
MODULES = [module for name, module in sys.modules.items() if name.startswith("properties.")]
FILES = {claim.statement_id: Path(claim.file) for claim in CLAIMS}
STATEMENTS = [one for each in MODULES for one in vars(each).values() if isinstance(one, Statement)]


def test_a_sentence_says_every_hypothesis():
    for claim in CLAIMS:
        # the words of the conclusion may name a setting
        told = {*domains(claim.formula.variables), *claim.formula.settings}
        says = [h.says for name, h in claim.formula.hypotheses.items() if name not in told]
        assert [words for words in says if words not in claim.statement] == [], claim.id


def test_words_that_are_read_in_a_sense_are_words_of_print():
    for each in STATEMENTS:
        printed = " ".join(each.printed.split()).casefold()
        words = [word for reading in each.readings.values() for word in reading.read]
        assert [word for word in words if word.casefold() not in printed] == [], each.id


def test_no_statement_writes_the_sentence_of_a_reading():
    assert {s.id for s in STATEMENTS if any(r.says for r in s.readings.values())} == set()


STRONGER = {
    "mm/normalised-descent:sharp": "1.001 times as much",
    "mm/theorem-2:sharp-2": "twice the left side",
    "sim/few-support-tokens:sharp": "one less on the right side",
    "sim/theorem-3.15:sharp-2": "rivals may score 17/16 as far below the second-best token",
    "sim/token-sparsity:sharp-2": "1.001 times the left side",
    "tf/convex-combination:sharp-1": "<softmax(X W z), max(X u) - X u> > osc(X u)/1000",
    "tf/definition-1:sharp": "99.9% of both bounds",
    "tf/generalised-svm:sharp": "1.05 times the square",
    "tf/generalised-svm:sharp-2": "1.05 times as much",
    "tf/local-convergence:sharp": "17/16 of the cone",
}
"""For each reading said to be best possible or best known: a sibling that would be stronger.

If the engine tightens the right side of a reading, it makes such a sibling itself."""


def test_every_sharp_reading_says_how_good_it_is():
    sharp = [c for c in CLAIMS if c.reading.startswith("sharp")]
    assert [c.id for c in sharp if c.strength is None] == []
    for claim in sharp:
        names = {s.name for s in claim.siblings}
        tightened = {"95% of the right side", "99.9% of the right side"} <= names
        assert tightened == claim.statement.count("No smaller constant will do."), claim.id
        assert not tightened or claim.strength is Strength.LEAST
        assert claim.id not in STRONGER or STRONGER[claim.id] in names
    tried = {c.id for c in sharp if c.strength in (Strength.LEAST, Strength.KNOWN)}
    spelled = {c.id for c in sharp if "No smaller constant will do." in c.statement}
    assert tried - spelled == set(STRONGER)


LONG: frozenset[str] = frozenset()
"""Statements whose docstring has more than 25 lines; arguments belong to the proofs."""


def test_docstrings_of_statements_are_short():
    docs = {id: ast.get_docstring(ast.parse(file.read_text())) for id, file in FILES.items()}
    assert {id for id, doc in docs.items() if len((doc or "").splitlines()) > 25} == LONG


LONGER = {
    "sim": {
        "sim/definition-4.1": "has eight readings, of two quantifications",
        "sim/figure-2": "has eight readings, of several starts, losses and targets",
        "sim/low-score-tokens": "has nine readings, of seven conclusions",
        "sim/printed-loss": "has seven readings, of runs, of single steps and of the norm",
        "sim/self-attention": "has six readings, of causal attention and of that over all tokens",
        "sim/stability-l2": "has nine readings, and hypotheses on the label that siblings change",
        "sim/stability-logistic": "has eight readings, and hypotheses on the label likewise",
        "sim/theorem-3.15": "has seven readings, and lists what each hypothesis is violated by",
        "sim/token-separation": "has ten readings, of six conclusions",
        "sim/token-sparsity": "has nine readings, of runs and of programmes",
    },
    "tf": {
        "tf/generalised-svm": "has twelve readings, of six records",
        "tf/nonlinear-head-several": "has seven readings, and families of heads",
        "tf/parameterisation-bias": "has seven readings, of five records",
    },
    "mm": {},
}
"""Statement files of more than 150 lines, 220 at most, with the reason; by source."""


def test_statement_files_are_short():
    sizes = {id: len(file.read_text().splitlines()) for id, file in FILES.items()}
    for source, reasons in LONGER.items():
        long = {id: n for id, n in sizes.items() if id.split("/")[0] == source and n > 150}
        assert set(long) == set(reasons)
        assert max(long.values(), default=0) <= 220


READ_WITH_MORE = {
    "tf/generalised-svm": "has six records, in four files of its own",
}
"""Statements whose file imports more than three others of `properties`, with the reason."""


def imported(file: Path) -> set[Path]:
    """Return the modules of `properties` that a file imports, without packages of a source."""
    found = set()
    for dotted in module_of(file, ROOT).imported:
        if dotted[0] == "properties":
            ends = (files_of(ROOT, dotted[:k]) for k in range(len(dotted), 2, -1))
            found.update(next((files for files in ends if files), []))
    return found - {file}


def test_a_statement_is_read_with_three_other_files_at_most():
    counts = {id: len(imported(file)) for id, file in FILES.items()}
    assert {id for id, count in counts.items() if count > 3} == set(READ_WITH_MORE)
    assert max(counts.values()) <= 6
