"""`solve`: the Att-SVM of a user's data with its certificate, as JSON, as text, as a page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from flint import arb

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError, present
from attsvm.exact.svm import ExactAnswer, decide, nearest
from attsvm.svm.certificate import coprime
from attsvm.svm.frobenius import FrobeniusAnswer, grade, solve_programme
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.svm.programme import Programme, att_svm_programme
from attsvm.svm.soft import SoftAnswer, solve_soft

__all__ = ["LARGEST_EXACT", "Answer", "describe", "solve"]

LARGEST_EXACT = 250
"""Up to this many constraints a Frobenius answer is certified in rationals."""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An answer, graded in floats, and the exact one that proves it where there is one.

    Attributes:
        float_answer: the answer in floats with its recomputed residuals.
        exact: the Frobenius answer (or the Farkas certificate) in rationals with its conditions
            checked, or None.
        norm: which norm was to be minimised.
    """

    float_answer: FrobeniusAnswer | NuclearAnswer | SoftAnswer
    exact: ExactAnswer | None
    norm: Literal["fro", "nuc"] = "fro"

    @property
    def programme(self) -> Programme:
        """The constraints."""
        return self.float_answer.programme

    @property
    def solved(self) -> bool:
        """Whether there is a solution."""
        return self.float_answer.status == "solved"

    @property
    def W(self) -> Array:
        """The solution; zero where there is none."""
        return self.float_answer.W

    @property
    def kind(self) -> Literal["exact", "enclosed", "float"]:
        """How far the certificate goes: rationals, outward rounding, or recomputed floats."""
        if self.exact is not None:
            return "exact"
        return "enclosed" if isinstance(self.float_answer, NuclearAnswer) else "float"

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of what is minimised: the least norm, or norm and penalty of the soft margin.

        Where the answer is exact, around the exact value of the norm; else from primal and dual,
        rounded outward.
        """
        a = self.float_answer
        if self.exact is None or not self.solved:
            return a.bracket
        least_norm = arb(self.exact.square).sqrt()
        low, high = float(least_norm.lower()), float(least_norm.upper())
        return math.nextafter(low, 0.0), math.nextafter(high, math.inf)

    def __getattr__(self, name: str) -> Any:
        """Whatever else the answer in floats has: value, margins, support, duals, gap, ..."""
        if name.startswith("_") or name in ("float_answer", "exact", "norm"):
            raise AttributeError(name)
        return getattr(self.float_answer, name)

    def json(self) -> dict[str, Any]:
        """The document of `solve --json`, schema 1."""
        a, solved = self.float_answer, self.solved
        low, high = self.bracket
        document = {
            "schema": 1,
            "status": a.status,
            "norm": self.norm,
            "value": a.value if solved else None,
            "W": a.W.tolist() if solved else None,
            "targets": self.programme.targets.tolist(),
            "margins": [
                [x if math.isfinite(x) else None for x in row] for row in a.margins.tolist()
            ]
            if solved
            else None,
            "support": [list(row) for row in a.support] if solved else None,
            "gap": a.gap,
            "bracket": [low, high] if solved else None,
            "certificate": {
                "kind": self.kind,
                "type": "optimality" if solved else "farkas",
                "duals": a.duals.tolist(),
                "exact_duals": None if self.exact is None else self._exact_duals(),
                "primal_residual": a.primal_residual,
                "dual_residual": a.dual_residual,
                "least_dual": float(a.duals.min()),
            },
            "degenerate": [list(row) for row in a.degenerate] if solved else None,
            "duplicates": [[list(pair) for pair in group] for group in self.programme.duplicates],
            "rank": a.rank if solved else None,
        }
        if isinstance(a, NuclearAnswer):
            document["dimension"] = a.dimension
        if isinstance(a, SoftAnswer):
            document["soft"] = {
                "C": a.C,
                "kind": a.kind,
                "objective": a.objective,
                "slacks": a.slacks.tolist(),
                "thresholds": [x if math.isfinite(x) else None for x in a.thresholds],
                "segment": list(a.segment),
            }
        return document

    def _exact_duals(self) -> list[list[str]]:
        exact = present(self.exact, "the exact answer")
        table = [["0"] * self.programme.shape[1] for _ in range(self.programme.shape[0])]
        duals = exact.duals if self.solved else coprime(exact.duals)
        for i, t, w in zip(self.programme.input, self.programme.token, duals, strict=True):
            table[int(i)][int(t)] = str(w)
        return table

    def plot(self, path: str | Path) -> Path:
        """Draw the margins of every input to a file (needs matplotlib).

        Raises:
            UsageError: matplotlib is missing, or the ending names no format that it writes.
            DataError: there is no solution to draw.
        """
        from attsvm.svm.page import plot_margins

        return plot_margins(self, Path(path))

    def __repr__(self) -> str:
        """What a reader wants first."""
        return f"{repr(self.float_answer)[:-1]}, {self.kind} certificate>"

    def __str__(self) -> str:
        """The page of text that `attsvm solve` prints."""
        return describe(self)

    def _repr_html_(self) -> str:
        """The same page for a notebook."""
        from attsvm.svm.page import html

        return html(self)


def describe(answer: Answer) -> str:
    """The answer as a page of text for a person."""
    from attsvm.svm.page import text

    return text(answer)


def solve(
    data: AttentionData,
    targets: object = None,
    *,
    norm: str = "fro",
    soft: float | None = None,
    slack: object = "constraint",
) -> Answer:
    """Solve the Att-SVM of a data set and certify the answer as far as that goes.

    Frobenius answers and Farkas certificates are certified in rationals up to `LARGEST_EXACT`
    constraints; where floats and rationals disagree, the rationals win and the float figures are
    recomputed from the exact multipliers. Nuclear-norm answers carry a bracket that holds in spite
    of rounding.

    Args:
        data: tokens, queries and scores.
        targets: one token an input, or None for the optimal ones.
        norm: `fro` or `nuc`.
        soft: the price C of slack, for the soft margin (Frobenius norm only).
        slack: what shares a slack, as in `soft_att_svm`.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`; a norm of another name; a soft margin
            with the nuclear norm.
        SolverError: no answer with a proof was reached.
    """
    if norm not in ("fro", "nuc"):
        raise DataError("norm is `fro` or `nuc`", value=norm)
    programme = att_svm_programme(data, targets)
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
        return Answer(solve_soft(programme, soft, slack), None)
    hard = _certified(programme)
    if norm == "fro":
        return hard
    if not hard.solved:
        return Answer(hard.float_answer, hard.exact, "nuc")
    return Answer(solve_nuclear(programme, start=hard.W), None, "nuc")


def _certified(programme: Programme) -> Answer:
    if len(programme.bound) > LARGEST_EXACT:
        return Answer(solve_programme(programme), None)
    try:
        answer = solve_programme(programme)
        guess = answer.weights
    except SolverError:  # floats cannot settle it, rationals can
        answer, guess = None, None
    exact = decide(programme, guess)
    if answer is None or answer.status != exact.status:
        answer = _rounded(programme, exact)
    return Answer(answer, exact)


def _rounded(programme: Programme, exact: ExactAnswer) -> FrobeniusAnswer:
    """The exact answer as floats hold it, with its figures recomputed in floats."""
    largest = max(exact.duals, key=abs)
    solved = exact.status == "solved"
    weights = np.array([nearest(w if solved else w / largest) for w in exact.duals])
    with np.errstate(over="ignore", invalid="ignore"):
        answer = grade(programme, weights, solved=solved)
    if solved and not np.isfinite([answer.value, answer.gap, answer.primal_residual]).all():
        raise SolverError(
            "the solution exceeds float64",
            value=float(np.abs(weights).max()),
            remedy="Rescale the tokens or the queries.",
        )
    return answer
