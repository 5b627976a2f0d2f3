"""The words of theorems compared with the checker's: `python -m benchmarks.words [--coqc coqc]`.

A word such as `rank` is defined twice: in Python for verifiers, and in `attsvm/primitives/Words.v`
for Coq. The command computes values in Python. Coq must prove that its own word has this value, and
must not prove that it has another one.
"""

import argparse
import ast
import re
import subprocess
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from attsvm.primitives.data_checker import LOSSES, sizes
from attsvm.theory.coq.kernel import LIBRARY, Compiler
from attsvm.theory.coq.records import RecordTerms, words, written
from attsvm.theory.coq.terms import numeral
from attsvm.theory.record.checker import Real, softmax

LINES = {
    "data": "Data([[[1, 2], [Q(1, 2), 0], [-1, 3]], [[0, 1], [2, 2]]], [[1, 0], [2, -1]], "
    "[[2, 1, 1], [0, 3]])",
    "tied": "Data([[[1], [2], [0]]], [[1]], [[1, 1, 0]])",
    "other": "labelled([[[1, 2], [3, 4]]], [[1, 1]], [-1], [1, Q(1, 3)])",
    "spoken": "predictions([[1, 0], [0, 1], [1, 1]], [[0, 1, 2]], False)",
    "limit": "[2, 0, 0, 0]",
    "weights": "[1, 0, 0]",
    "target": "least([[Q(1, 4), 0, 0, 0]], [16], 4)",
    "idle": "others(data, target)",
    "alone": "least([[Q(1, 4), 0, 0, 0]], [16], 4)",
    "own": "target",
    "start": "[[2, 0], [0, 1]]",
    "alpha": "[0, 1]",
    "sequence": "[0, 0]",
    "size": "4",
    "local": "local_svms(data, [[Q(248, 135), Q(217, 135), Q(13, 15)], "
    "[Q(8, 27), Q(7, 27), 0], [Q(4, 17), 0, 0], [Q(124, 281), 0, Q(41, 281)], [Q(1, 5), 0, 0], "
    "[Q(31, 89), 0, Q(11, 89)]])",
}
"""Data of the expressions below, a direction with multipliers, and a solution."""

DATA = ("data", "tied", "other", "spoken")

EXPRESSIONS = (
    *(
        f"{word}({data})"
        for word in ("unique", "rivals_equal", "linear_scores", "optima_differ")
        for data in DATA
    ),
    *(f"rows({data}, {data}.{chosen})" for data in DATA for chosen in ("optimal", "worst")),
    *(f"{data}.{chosen}" for data in DATA for chosen in ("optimal", "worst")),
    *(f"rows(without_least({d}), without_least({d}).optimal)" for d in ("tied", "spoken")),
    "any(t in lasting(data, limit, weights) for t in idle)",
    "leads(data, data.optimal)",
    "locally_optimal(data, data.optimal, target)",
    "product([[1, 2]], [[3, 4], [5, Q(1, 6)]])",
    "target == alone",
    "min(margins_of(data, alpha, flat(start))) > 0",
    "own is not None and inner(flat(start), flat(start)) >= 2**20 * inner(own, own)",
    "all(lead > 0 for lead in leads(data, data.optimal))",
    "all(100 * inner(s, s) > 1 for s in [summed(rows(data, data.optimal), size)])",
    "all(data.X[k] == data.X[sequence.index(a)] for k, a in enumerate(sequence))",
    "all(w is not None for _, w in local)",
    "all(w is None or set(margins_of(data, c, w)) <= {1} for c, w in local)",
    "all(locally_optimal(data, c, w) == is_optimal(data, c) for c, w in local)",
    "rows(data.moving, [0, 1])",
    "rows(data.opposed, data.opposed.optimal)",
    "inner([1, Q(1, 2)], [Q(2, 3), -4])",
    "transposed([[1, 2, 3], [4, 5, 6]])",
    "column([1, Q(-1, 2)])",
    *(
        f"rank({M})"
        for M in ("[[1, 2], [2, 4]]", "[[0, 1], [1, 0]]", "[[0, 0]]", "[[1, 2], [3, 4], [5, 6]]")
    ),
    *(f"is_identity({M})" for M in ("[[1, 0], [0, 1]]", "[[1, 1], [0, 1]]")),
    *(f"one_hot({M})" for M in ("[[[0, 1], [1, 0]]]", "[[[1, 1]]]", "[[[0, 2]]]")),
    "head_rows([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [1, -1], [0, 1])",
    "prompt_rows([[[1, 2], [3, 4], [0, 1]]], [[1, Q(1, 2)], [0, 1]], [1])",
)
"""Expressions of the checker over rational numbers."""

_HEAD = f"From Interval Require Import Tactic.\nRequire Import {' '.join(LIBRARY)}.\n"
_SECONDS = 20
"""Time limit of a tactic."""

POINTS = (Fraction(-3, 2), Fraction(0), Fraction(2, 5))


def exact() -> Iterator[tuple[str, str, str]]:
    """Yield a name, a proposition and its tactic for each word over rationals, true and changed."""
    known = words("attsvm.primitives")
    for text in EXPRESSIONS:
        terms = RecordTerms(LINES, ["attsvm.primitives.claim_checker"], known)
        term = terms.term(ast.parse(text, mode="eval").body)
        kind = known.types.get(text.partition("(")[0], ("list nat",))[-1]
        value = terms.value(text)
        for sign, other in (("right", value), ("changed", _changed(value))):
            head = " ".join(
                f"let {name} {meaning} in" for name, meaning in terms.definitions.items()
            )
            says = f"({head} {term}) = {written(other, kind)}"
            yield f"{sign} {text}", says, "vm_compute; reflexivity"


def _changed(value: object) -> object:
    """Return a value with its last number or truth value changed."""
    if isinstance(value, list | tuple):
        return [*value[:-1], _changed(value[-1])] if value else [1]
    return not value if isinstance(value, bool) else Fraction(str(value)) + 1


def real() -> Iterator[tuple[str, str, str]]:
    """Yield the same for words over real numbers, of which Python has enclosures."""
    a, b = POINTS[0], POINTS[-1]
    for loss, (value, slope) in LOSSES.items():
        name = {"logistic": "logistic_score"}.get(loss, loss.replace("-", "_"))
        for u in POINTS:
            yield from _enclosed(f"value {name} {numeral(u)}", value(Real(u)))
            yield from _enclosed(f"slope {name} {numeral(u)}", slope(Real(u)))
        for place, bound in zip(("fst", "snd"), sizes(loss, a, b), strict=True):
            yield from _enclosed(f"{place} (sizes {name} {numeral(a)} {numeral(b)})", bound)
    shares = softmax(POINTS)
    for k, share in enumerate(shares):
        listed = "; ".join(map(numeral, POINTS))
        yield from _enclosed(f"nth {k} (attention [{listed}]) 0", share)


def _enclosed(term: str, value: Real) -> Iterator[tuple[str, str, str]]:
    margin = Fraction(1, 2**30)
    for sign, shift in (("right", 0), ("changed", 4 * margin)):
        low, high = (numeral(x) for x in (value.low - margin + shift, value.high + margin + shift))
        yield f"{sign} {term}", f"{low} <= {term} <= {high}", "split; decide_reals"


def main() -> int:
    """Print how many values Coq proves; return 1 unless these are exactly the right ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coqc", default="coqc", metavar="PROGRAM", help="the compiler of Coq")
    options = parser.parse_args()
    goals = [*exact(), *real()]
    text = "".join(
        f'Goal {says}. first [timeout {_SECONDS} (solve [{tactic}]); idtac "PROVED" "{k}" '
        f'| idtac "REFUSED" "{k}"]. Abort.\n'
        for k, (_, says, tactic) in enumerate(goals)
    )
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder), options.coqc)
        for name in LIBRARY:
            compiler.compiled(name)
        Path(folder, "Values.v").write_text(_HEAD + text, encoding="utf-8")
        done = subprocess.run(
            [options.coqc, "Values.v"], cwd=folder, capture_output=True, text=True, check=True
        )
    answers = re.findall(r"^(PROVED|REFUSED) (\d+)", done.stdout, re.MULTILINE)
    wrong = [
        f"{answer}: {goals[int(k)][0]}"
        for answer, k in answers
        if (answer == "PROVED") != goals[int(k)][0].startswith("right")
    ]
    print(
        f"{len(goals)} values, half of them changed: {len(wrong)} wrong answers", *wrong, sep="\n"
    )
    return int(bool(wrong) or len(answers) != len(goals))


if __name__ == "__main__":
    raise SystemExit(main())
