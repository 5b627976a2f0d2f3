"""Answers of `solve`: floats with proved residuals, and the exact answer if it is known."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attsvm._types import Array, JsonObject
from attsvm._words import rising
from attsvm.errors import DataError, present
from attsvm.exact.svm import ExactAnswer
from attsvm.svm.answered import ENCLOSED, Answered, Facts
from attsvm.svm.farkas import coprime_integers
from attsvm.svm.frobenius import FrobeniusAnswer
from attsvm.svm.nuclear import NuclearAnswer
from attsvm.svm.programme import Programme, Tokens
from attsvm.svm.soft import SoftAnswer


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Answered):
    """An answer in floats with the residuals of these floats, and the exact answer if known.

    Attributes:
        float_answer: the answer in floats. Its residual is that of its W, evaluated in rationals or
            rounded outward.
        exact: the Frobenius answer (or the Farkas certificate) in rationals with its conditions
            checked, or None.
        norm: the norm that is minimised.
        evaluated: whether the bracket of a soft margin was evaluated in rationals.
        unfinished: the budget that was too short for the certification, such as `60 s`; None if the
            certification ended or was not tried.
    """

    float_answer: FrobeniusAnswer | NuclearAnswer | SoftAnswer
    exact: ExactAnswer | None
    norm: Literal["fro", "nuc"] = "fro"
    evaluated: bool = False
    unfinished: str | None = None

    @property
    def programme(self) -> Programme:  # type: ignore[override]
        """The constraints."""
        return self.float_answer.programme

    @property
    def solved(self) -> bool:
        """Whether there is a solution."""
        return self.float_answer.solved

    @property
    def status(self) -> str:
        """One of `solved`, `solved in rationals`, `bracketed` and `unseparable`.

        With `solved in rationals`, `exact.W` is the solution, and W, the closest float matrix,
        misses a margin by more than 1e-9. With `bracketed`, W meets the margins, and the gap of
        `bracket` bounds the excess of its norm. `proof` states what is proved.
        """
        return self.float_answer.status

    @property
    def W(self) -> Array:
        """The solution in floats, which misses no margin by more than `primal_residual`.

        It is zero if there is no solution.
        """
        return self.float_answer.W

    @property
    def proof(self) -> str:
        """The proof of the floats in this answer, in words."""
        return proof_of(self)

    @property
    def _decisive(self) -> ExactAnswer | None:
        """The exact answer if W is too far from it to decide which constraints are tight."""
        return self.exact if self.status == "solved in rationals" else None

    @property
    def support(self) -> Tokens:
        """Tokens whose constraint is tight, input by input; exact if W cannot decide."""
        exact = self._decisive
        return self.float_answer.support if exact is None else _tokens(self, exact.tight)

    @property
    def degenerate(self) -> Tokens:
        """Tight tokens whose multiplier is zero, input by input."""
        exact = self._decisive
        return self.float_answer.degenerate if exact is None else _tokens(self, exact.degenerate)

    @property
    def rank(self) -> int:
        """The rank of the solution."""
        return self.float_answer.rank if self._decisive is None else self._decisive.rank

    @property
    def kind(self) -> Literal["exact", "enclosed", "float"]:
        """The kind of certificate: rationals, outward rounding, or recomputed floats."""
        if self.exact is not None:
            return "exact"
        enclosed = isinstance(self.float_answer, NuclearAnswer) or self.evaluated
        return "enclosed" if enclosed else "float"

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of the minimised quantity: the least norm, or the soft margin's objective.

        For an exact answer they enclose the exact value; otherwise they come from primal and dual,
        rounded outward.
        """
        return self.float_answer.bracket

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the float answer: value, margins, duals, gap, ..."""
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        return getattr(self.float_answer, name)

    def json(self) -> JsonObject:
        """Return the document of `solve --json`, schema 1."""
        return document_of(self)

    def plot(self, path: str | Path) -> Path:
        """Draw the margins of every input to a file (needs matplotlib).

        Raises:
            UsageError: matplotlib is missing, or cannot write the format of the file name's ending.
            DataError: there is no solution to draw.
        """
        from attsvm.plots.margins import plot_margins

        if not self.solved:
            raise DataError("an unseparable programme has no margins to draw", value=self.norm)
        return plot_margins(self.float_answer.margins, self.support, self.title, Path(path))

    @property
    def heading(self) -> str:
        """The beginning of a heading: the quantity that is minimised."""
        return "Nuclear-norm" if self.norm == "nuc" else self.float_answer.heading

    @property
    def grouping(self) -> str:
        """The end of a heading: the constraints that share a slack."""
        return self.float_answer.grouping

    @property
    def tight_margin(self) -> str:
        """The margin of support tokens, in words."""
        where = " in the exact solution" if self.status == "solved in rationals" else ""
        return f"{self.float_answer.tight_margin}{where}"

    @property
    def remarks(self) -> Facts:
        """Remarks below the status, such as the place of a certificate."""
        return remarks_of(self)

    @property
    def optimum(self) -> Facts:
        """The quantity that is minimised, with its bracket."""
        return optimum_of(self)

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"{repr(self.float_answer)[:-1]}, {self.kind} certificate>"

    def __str__(self) -> str:
        """Return the page of text that `attsvm solve` prints."""
        return self._text()


def _tokens(answer: Answer, constraints: list[int]) -> Tokens:
    """Return the tokens of these constraints, input by input."""
    programme = answer.programme
    return programme.by_input(np.isin(np.arange(len(programme.bound)), constraints))


def proof_of(answer: Answer) -> str:
    """Return what is proved about the floats of an answer, in words."""
    if answer.status == "bracketed":
        values = "" if answer.unfinished is None else f" in {answer.unfinished}"
        return f"not solved to 1e-9{values}: residual and bracket of W are proved"
    if answer.unfinished is not None:
        return f"not certified in {answer.unfinished}: residual and bracket of W are proved"
    if answer.exact is None:
        return ENCLOSED if answer.evaluated else answer.float_answer.proof
    if not answer.solved:
        return (
            "certified: with the exact weights (`exact_duals`) the combination is exactly "
            "zero in rational arithmetic"
        )
    if answer.status == "solved":
        return "certified: residual and gap of this W are proved in rational arithmetic"
    missed = rising(answer.float_answer.primal_residual)
    return f"not in floats: W, the float matrix nearest to it, misses a margin by {missed}"


def remarks_of(answer: Answer) -> Facts:
    """Return remarks below the status, such as the place of a certificate."""
    if answer.status == "solved in rationals":
        return [("", "(the solution is `exact_W` of --json, in Python `exact.W`)")]
    if answer.unfinished is None and answer.kind == "float":
        return answer.float_answer.remarks
    return []


def optimum_of(answer: Answer) -> Facts:
    """Return the minimised quantity with its bracket, as lines of a page."""
    a = answer.float_answer
    if isinstance(a, FrobeniusAnswer):
        return a.about_norm(answer.bracket)
    if isinstance(a, SoftAnswer):
        return a.about_objective("" if answer.evaluated else " (not certified)")
    return a.optimum


def document_of(answer: Answer) -> JsonObject:
    """Return the document of `solve --json`, schema 1."""
    a, solved = answer.float_answer, answer.solved
    low, high = answer.bracket
    document = {
        "schema": 1,
        "status": answer.status,
        "norm": answer.norm,
        "value": a.value if solved else None,
        "W": a.W.tolist() if solved else None,
        "targets": answer.programme.targets.tolist(),
        "margins": a.margins.tolist() if solved else None,
        "support": [list(row) for row in answer.support] if solved else None,
        "gap": a.gap,
        "bracket": [low, high] if solved else None,
        "certificate": {
            "kind": answer.kind,
            "type": "optimality" if solved else "farkas",
            "statement": answer.proof,
            "duals": a.duals.tolist(),
            "exact_duals": None if answer.exact is None else _exact_duals(answer),
            "primal_residual": a.primal_residual,
            "dual_residual": a.dual_residual,
            "least_dual": float(a.duals.min()),
        },
        "degenerate": [list(row) for row in answer.degenerate] if solved else None,
        "duplicates": [[list(pair) for pair in group] for group in answer.programme.duplicates],
        "rank": answer.rank if solved else None,
        "exact_W": None,
    }
    if answer._decisive is not None:
        document["exact_W"] = [[str(x) for x in row] for row in answer._decisive.W]
    if isinstance(a, NuclearAnswer):
        document["dimension"] = a.dimension
    if isinstance(a, SoftAnswer):
        document["soft"] = {
            "C": a.C,
            "kind": a.kind,
            "objective": a.objective,
            "slacks": a.slacks.tolist(),
            "thresholds": list(a.thresholds),
            "segment": list(a.segment),
        }
    plain: JsonObject = finite(document)
    return plain


def _exact_duals(answer: Answer) -> list[list[str]]:
    """Return the exact multipliers as text, by input and token; Farkas ones as coprime integers."""
    exact = present(answer.exact, "the exact answer")
    table = [["0"] * answer.programme.shape[1] for _ in range(answer.programme.shape[0])]
    duals = exact.duals if answer.solved else coprime_integers(exact.duals)
    for i, t, w in zip(answer.programme.input, answer.programme.token, duals, strict=True):
        table[int(i)][int(t)] = str(w)
    return table


def finite(value: Any) -> Any:
    """Return a document with None in the place of every number that is not finite."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
