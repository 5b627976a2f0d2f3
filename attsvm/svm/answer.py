"""The Att-SVM of a user's data with its certificate, as JSON and as a page of text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from flint import arb, fmpq

from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.exact.numbers import ExactData
from attsvm.exact.svm import ExactAnswer, separate
from attsvm.svm.frobenius import FrobeniusAnswer, grade, solve_programme
from attsvm.svm.programme import Programme, att_svm_programme

__all__ = ["LARGEST_EXACT", "Answer", "describe", "solve"]

LARGEST_EXACT = 60
"""Up to this many constraints an answer is certified in rationals."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, graded in floats, and the exact one that proves it where the size allows.

    Attributes:
        programme: the constraints.
        float_answer: the answer in floats with its recomputed residuals.
        exact: the answer in rationals with its conditions checked, or None.
    """

    programme: Programme
    float_answer: FrobeniusAnswer
    exact: ExactAnswer | None

    @property
    def kind(self) -> Literal["exact", "float"]:
        """How far the certificate goes."""
        return "float" if self.exact is None else "exact"

    @property
    def bracket(self) -> tuple[float, float]:
        """Bounds of the least norm.

        Where the answer is exact, around the exact value sqrt(sum_j duals_j); else from the dual
        and the scaled primal point, outward by an allowance for rounding that grows with
        ||W|| max ||A_j||, the condition of the programme.
        """
        a = self.float_answer
        if not a.solved:
            return math.inf, math.inf
        if self.exact is not None:
            least_norm = arb(sum(self.exact.duals, fmpq(0))).sqrt()
            low, high = float(least_norm.lower()), float(least_norm.upper())
            return math.nextafter(low, 0.0), math.nextafter(high, math.inf)
        least = float(a.margins.min())
        half = 0.5 * a.value**2
        dual = math.sqrt(max(2.0 * (float(a.duals.sum()) - half), 0.0))
        D, Z = self.programme.D, self.programme.Z
        largest = float((np.linalg.norm(D, axis=1) * np.linalg.norm(Z, axis=1)).max())
        unit = 64 * sum(D.shape) * float(np.finfo(float).eps) * (1.0 + a.value * largest)
        upper = a.value / least if least > 0 else math.inf
        return min(dual, upper) * (1 - unit), max(dual, upper) * (1 + unit)

    def json(self) -> dict[str, Any]:
        """The document of `solve --json`, schema 1."""
        a = self.float_answer
        low, high = self.bracket
        duals = a.duals.tolist()
        return {
            "schema": 1,
            "status": a.status,
            "norm": "fro",
            "value": a.value if a.solved else None,
            "W": a.W.tolist() if a.solved else None,
            "targets": a.targets.tolist(),
            "margins": [
                [x if math.isfinite(x) else None for x in row] for row in a.margins.tolist()
            ]
            if a.solved
            else None,
            "support": [list(row) for row in a.support] if a.solved else None,
            "gap": a.gap,
            "bracket": [low, high] if a.solved else None,
            "certificate": {
                "kind": self.kind,
                "type": "optimality" if a.solved else "farkas",
                "duals": duals,
                "exact_duals": None if self.exact is None else self._exact_duals(),
                "primal_residual": a.primal_residual,
                "dual_residual": a.dual_residual,
                "least_dual": float(a.duals.min()),
            },
        }

    def _exact_duals(self) -> list[list[str]]:
        assert self.exact is not None
        table = [["0"] * self.programme.shape[1] for _ in range(self.programme.shape[0])]
        for i, t, w in zip(
            self.programme.input, self.programme.token, self.exact.duals, strict=True
        ):
            table[int(i)][int(t)] = str(w)
        return table


def solve(data: AttentionData, targets: object = None) -> Answer:
    """Solve the Frobenius Att-SVM and certify the answer in rationals where it is small enough.

    Where floats and rationals disagree, the rationals win and the float figures are recomputed
    from the exact multipliers.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`.
        SolverError: no answer with a proof was reached.
    """
    programme = att_svm_programme(data, targets)
    small = len(programme.D) <= LARGEST_EXACT
    try:
        answer: FrobeniusAnswer | None = solve_programme(programme)
    except SolverError:
        if not small:
            raise
        answer = None
    exact = None
    if small:
        guess = None
        if answer is not None and answer.solved:
            guess = answer.duals[programme.input, programme.token]
        data_exact = ExactData.of(data)
        rows = zip(data_exact.kept, programme.targets.tolist(), strict=True)
        exact = separate(data_exact, [kept.index(t) for kept, t in rows], guess)
        assert exact is not None  # the programme has constraints
        if answer is None or answer.status != exact.status:
            solved = exact.status == "solved"
            total = fmpq(1) if solved else sum(exact.duals, fmpq(0))
            duals = np.array([float(arb(w / total)) for w in exact.duals])
            with np.errstate(over="ignore", invalid="ignore"):
                answer = grade(programme, duals, solved=solved)
            if solved and not np.isfinite([answer.value, answer.gap, answer.primal_residual]).all():
                raise SolverError(
                    "the solution exceeds float64",
                    value=float(np.abs(duals).max()),
                    remedy="Rescale the tokens or the queries.",
                )
    assert answer is not None
    return Answer(programme, answer, exact)


def describe(answer: Answer) -> str:
    """The answer as a page for a person."""
    a = answer.float_answer
    n, T = answer.programme.shape
    lines = [
        f"Frobenius Att-SVM: {n} inputs, up to {T} tokens, {len(answer.programme.D)} constraints"
    ]
    proof = {
        "exact": "certified: its optimality conditions hold in rational arithmetic",
        "float": "graded in floating point: residuals recomputed, not certified",
    }[answer.kind]
    if not a.solved:
        weights = [
            f"input {i}, token {t}: {a.duals[i, t]:.6g}"
            for i in range(n)
            for t in range(T)
            if a.duals[i, t] > 0
        ]
        proof = proof.replace("its optimality conditions hold", "the combination is exactly zero")
        return "\n".join(
            [
                *lines,
                "status    unseparable: no W gives every target a positive margin",
                "proof     nonnegative weights whose constraints cancel, residual "
                f"{a.dual_residual:.1e};",
                f"          {proof}",
                *(f"          {w}" for w in weights),
            ]
        )
    low, high = answer.bracket
    lines += [
        f"status    solved, {proof}",
        f"norm      {a.value:.12g}, bracket [{low:.12g}, {high:.12g}]",
        f"residuals primal {a.primal_residual:.1e}, gap {a.gap:.1e}, "
        f"least multiplier {a.duals.min():.1e}",
    ]
    for i in range(n):
        others = [
            f"{t}{'*' if t in a.support[i] else ''}:{a.margins[i, t]:.4g}"
            for t in range(T)
            if math.isfinite(a.margins[i, t])
        ]
        lines.append(f"input {i}   selects token {a.targets[i]}; margins {'  '.join(others)}")
    lines.append("          * marks support tokens, whose margin is 1")
    return "\n".join(lines)
