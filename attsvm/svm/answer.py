"""`solve`: the Att-SVM of a user's data with its certificate, as JSON, as text, as a page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attsvm._types import Array
from attsvm._words import rising
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, present
from attsvm.exact.deadline import Deadline, is_over
from attsvm.exact.numbers import Vector
from attsvm.exact.svm import ExactAnswer, decide
from attsvm.svm.answered import ENCLOSED, Answered, Facts
from attsvm.svm.farkas import coprime_integers
from attsvm.svm.frobenius import FrobeniusAnswer, Search, searched
from attsvm.svm.handed import (
    LARGEST_EVALUATED,
    best_bracket,
    evaluated,
    evaluated_soft,
    handed_out,
)
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.svm.programme import Programme, Tokens, att_svm_programme
from attsvm.svm.soft import SoftAnswer, solve_soft
from attsvm.svm.warming import SMALL, kernels_for, warm

LARGEST_EXACT = 250
"""Up to this many constraints a Frobenius answer is certified in rationals."""

SECONDS = 60.0
"""Processor seconds of a solve unless the caller says otherwise."""

FLOATS = 0.4
"""Share of the time for methods in floats where rationals may have to settle it."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer(Answered):
    """An answer in floats with the figures of these floats, and the exact one where there is one.

    Attributes:
        float_answer: the answer in floats. Its residual is that of its W, evaluated in rationals
            or rounded outward.
        exact: the Frobenius answer (or the Farkas certificate) in rationals with its conditions
            checked, or None.
        norm: which norm was to be minimised.
        evaluated: whether the bracket of a soft margin was evaluated in rationals.
        unfinished: the budget that was too short for the certification, such as `60 s`; None if
            the certification ended or was not tried.
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
        """`solved`, `solved in rationals`, `bracketed` or `unseparable`.

        In the second case `exact.W` is the solution, and W, the matrix of floats nearest to it,
        misses a margin by more than 1e-9. In the third W meets the margins, and its norm exceeds
        the least one by what `bracket` leaves open. What is proved is in `proof`.
        """
        return self.float_answer.status

    @property
    def W(self) -> Array:
        """The solution in floats, which misses no margin by more than `primal_residual`.

        Zero where there is none.
        """
        return self.float_answer.W

    @property
    def proof(self) -> str:
        """What is proved of the floats in this answer, in words."""
        if self.status == "bracketed":
            given = "" if self.unfinished is None else f" in {self.unfinished}"
            return f"not solved to 1e-9{given}: residual and bracket of W are proved"
        if self.unfinished is not None:
            return f"not certified in {self.unfinished}: residual and bracket of W are proved"
        if self.exact is None:
            return ENCLOSED if self.evaluated else self.float_answer.proof
        if not self.solved:
            return (
                "certified: with the exact weights (`exact_duals`) the combination is exactly "
                "zero in rational arithmetic"
            )
        if self.status == "solved":
            return "certified: residual and gap of this W are proved in rational arithmetic"
        missed = rising(self.float_answer.primal_residual)
        return f"not in floats: W, the float matrix nearest to it, misses a margin by {missed}"

    @property
    def _teller(self) -> ExactAnswer | None:
        """The exact answer where W is too far from it to tell what is tight."""
        return self.exact if self.status == "solved in rationals" else None

    @property
    def support(self) -> Tokens:
        """Tokens whose constraint is tight, input by input; exactly, where W cannot tell."""
        exact = self._teller
        return self.float_answer.support if exact is None else self._by_input(exact.tight)

    @property
    def degenerate(self) -> Tokens:
        """Tight tokens whose multiplier is zero, input by input."""
        exact = self._teller
        return self.float_answer.degenerate if exact is None else self._by_input(exact.degenerate)

    @property
    def rank(self) -> int:
        """The rank of the solution."""
        return self.float_answer.rank if self._teller is None else self._teller.rank

    def _by_input(self, constraints: list[int]) -> Tokens:
        return self.programme.by_input(np.isin(np.arange(len(self.programme.bound)), constraints))

    @property
    def kind(self) -> Literal["exact", "enclosed", "float"]:
        """How far the certificate goes: rationals, outward rounding, or recomputed floats."""
        if self.exact is not None:
            return "exact"
        enclosed = isinstance(self.float_answer, NuclearAnswer) or self.evaluated
        return "enclosed" if enclosed else "float"

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of what is minimised: the least norm, or norm and penalty of the soft margin.

        Where the answer is exact, around the exact value of the norm; else from primal and dual,
        rounded outward.
        """
        return self.float_answer.bracket

    def __getattr__(self, name: str) -> Any:
        """Whatever else the answer in floats has: value, margins, support, duals, gap, ..."""
        if name.startswith("_") or name in self.__slots__:
            raise AttributeError(name)
        return getattr(self.float_answer, name)

    def json(self) -> dict[str, Any]:
        """Return the document of `solve --json`, schema 1."""
        a, solved = self.float_answer, self.solved
        low, high = self.bracket
        document = {
            "schema": 1,
            "status": self.status,
            "norm": self.norm,
            "value": a.value if solved else None,
            "W": a.W.tolist() if solved else None,
            "targets": self.programme.targets.tolist(),
            "margins": a.margins.tolist() if solved else None,
            "support": [list(row) for row in self.support] if solved else None,
            "gap": a.gap,
            "bracket": [low, high] if solved else None,
            "certificate": {
                "kind": self.kind,
                "type": "optimality" if solved else "farkas",
                "statement": self.proof,
                "duals": a.duals.tolist(),
                "exact_duals": None if self.exact is None else self._exact_duals(),
                "primal_residual": a.primal_residual,
                "dual_residual": a.dual_residual,
                "least_dual": float(a.duals.min()),
            },
            "degenerate": [list(row) for row in self.degenerate] if solved else None,
            "duplicates": [[list(pair) for pair in group] for group in self.programme.duplicates],
            "rank": self.rank if solved else None,
            "exact_W": None,
        }
        if self._teller is not None:
            document["exact_W"] = [[str(x) for x in row] for row in self._teller.W]
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
        plain: dict[str, Any] = finite(document)
        return plain

    def _exact_duals(self) -> list[list[str]]:
        exact = present(self.exact, "the exact answer")
        table = [["0"] * self.programme.shape[1] for _ in range(self.programme.shape[0])]
        duals = exact.duals if self.solved else coprime_integers(exact.duals)
        for i, t, w in zip(self.programme.input, self.programme.token, duals, strict=True):
            table[int(i)][int(t)] = str(w)
        return table

    def plot(self, path: str | Path) -> Path:
        """Draw the margins of every input to a file (needs matplotlib).

        Raises:
            UsageError: matplotlib is missing, or the ending names no format that it writes.
            DataError: there is no solution to draw.
        """
        from attsvm.plots.margins import plot_margins

        if not self.solved:
            raise DataError("an unseparable programme has no margins to draw", value=self.norm)
        return plot_margins(self.float_answer.margins, self.support, self.title, Path(path))

    @property
    def heading(self) -> str:
        """What is minimised, as a heading begins with it."""
        return "Nuclear-norm" if self.norm == "nuc" else self.float_answer.heading

    @property
    def grouping(self) -> str:
        """What shares a slack, as the end of a heading."""
        return self.float_answer.grouping

    @property
    def tight_margin(self) -> str:
        """The margin of support tokens, in words."""
        where = " in the exact solution" if self.status == "solved in rationals" else ""
        return f"{self.float_answer.tight_margin}{where}"

    @property
    def remarks(self) -> Facts:
        """What a reader is told below the status: where to find more."""
        if self.status == "solved in rationals":
            return [("", "(the solution is `exact_W` of --json, in Python `exact.W`)")]
        if self.unfinished is None and self.kind == "float":
            return self.float_answer.remarks
        return []

    @property
    def optimum(self) -> Facts:
        """What is minimised, with its bracket."""
        a = self.float_answer
        if isinstance(a, FrobeniusAnswer):
            return a.about_norm(self.bracket)
        if isinstance(a, SoftAnswer):
            return a.about_objective("" if self.evaluated else " (not certified)")
        return a.optimum

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"{repr(self.float_answer)[:-1]}, {self.kind} certificate>"

    def __str__(self) -> str:
        """Return the page of text that `attsvm solve` prints."""
        return self._text()


def solve(
    data: AttentionData,
    targets: object = None,
    *,
    norm: str = "fro",
    soft: float | None = None,
    slack: object = "constraint",
    seconds: float | None = SECONDS,
    wall: float | None = None,
) -> Answer:
    """Solve the Att-SVM of a data set and certify the answer as far as that goes.

    Frobenius answers and Farkas certificates are computed in rationals if there are at most
    `LARGEST_EXACT` constraints, or if floats do not settle the problem. W is the exact solution
    rounded to floats, with the residual and the gap of these floats. If they miss a margin by more
    than 1e-9, the status is `solved in rationals`, and `exact.W` is the solution. Nuclear-norm and
    soft-margin answers carry a bracket that holds in spite of rounding. If the time ends before
    there is a solution, the status is `bracketed`.

    Args:
        data: tokens, queries and scores.
        targets: one token an input, or None for the optimal ones.
        norm: `fro` or `nuc`.
        soft: the price C of slack, for the soft margin (Frobenius norm only).
        slack: what shares a slack, as in `soft_att_svm`.
        seconds: budget of processor time in seconds, counted once the kernels are compiled; None
            for no limit.
        wall: budget of wall-clock time in seconds, counted from the same moment; None for no limit.
            With this budget a busy machine may change the answer.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`; a norm of another name; a soft margin
            with the nuclear norm; a time that is not positive.
        SolverError: there is neither an answer with a proof nor a bracket.
    """
    for limit in (seconds, wall):
        if limit is not None and not limit > 0.0:
            raise DataError("the time given is positive", value=limit, remedy="Give more seconds.")
    if norm not in ("fro", "nuc"):
        raise DataError("norm is `fro` or `nuc`", value=norm)
    programme = att_svm_programme(data, targets)
    warm(kernels_for(len(programme.bound), norm=norm, soft=soft is not None))
    deadline = None
    if seconds is not None or wall is not None:
        deadline = Deadline.after(seconds or math.inf, wall or math.inf)
    if soft is None and not (isinstance(slack, str) and slack == "constraint"):
        raise DataError(
            "slack was grouped, but the margin is hard",
            value=slack,
            remedy="Give the price of slack (soft).",
        )
    if soft is not None:
        if norm == "nuc":
            raise DataError(
                "the soft margin is defined with the Frobenius norm",
                value=norm,
                remedy="Leave out the norm or the price of slack.",
            )
        softened = solve_soft(programme, soft, slack, deadline, bracketed=True)
        if programme.D.size + programme.Z.size > LARGEST_EVALUATED:
            return Answer(softened, None)
        return Answer(evaluated_soft(softened), None, evaluated=True)
    half = deadline.part(0.5) if deadline is not None and norm == "nuc" else deadline
    hard = _certified(programme, half)
    if norm == "fro":
        return hard
    if not hard.solved:
        return replace(hard, norm="nuc")
    start = hard.W if hard.status in ("solved", "bracketed") else None
    nuclear = solve_nuclear(programme, start, deadline, bracketed=True)
    late = nuclear.status == "bracketed" and is_over(deadline)
    words = deadline.words if deadline is not None and late else None
    return Answer(evaluated(nuclear), None, "nuc", unfinished=words)


def _certified(programme: Programme, deadline: Deadline | None) -> Answer:
    """Return the Frobenius answer: exact if small or needed, else in floats, else bracketed."""
    m, entries = len(programme.bound), programme.D.size + programme.Z.size
    search, noted = Search(None), list[Vector]()
    if m > SMALL:
        part = deadline.part(FLOATS) if deadline and entries <= LARGEST_EVALUATED else deadline
        search = searched(programme, part, rationals=False)
        if search.answer is not None and m > LARGEST_EXACT:
            return Answer(evaluated(search.answer), None)
    if entries <= LARGEST_EVALUATED:
        guess = _guess(search, m)
        try:
            exact = decide(programme, guess, deadline, noted.append)
            return Answer(handed_out(programme, exact), exact)
        except SolverError:  # out of time, or no proof: floats and brackets are left
            pass
    words = None if deadline is None else deadline.words
    if m <= SMALL:
        search = searched(programme, rationals=False)
    if search.answer is not None:
        return Answer(evaluated(search.answer), None, unfinished=words)
    found = best_bracket(programme, search.weights, noted)
    if found is None:
        ended = "did not end in the time given" if is_over(deadline) else "did not settle it"
        raise SolverError(
            f"floats reached no answer with residuals up to 1e-9, and rational arithmetic {ended}",
            value=words,
            remedy="Give more seconds, rescale, or drop nearly parallel tokens.",
        )
    return Answer(evaluated(found), None, unfinished=words)


def _guess(search: Search, m: int) -> Array | None:
    """Return multipliers whose support rationals try first; all 0 for small programmes."""
    if search.answer is not None:
        return search.answer.weights
    last = search.weights[-1] if search.weights else None
    if last is not None and np.isfinite(last).all():
        return last
    return np.zeros(m) if m <= SMALL else None


def finite(value: Any) -> Any:
    """Return a document with None in the place of every number that is not finite."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
