"""Counterexamples about Att-SVM* as scripts that compute its unique solution in numpy.

Let S = sum_j w_j D_j z_j^T with all w_j > 0, and let all singular values of S be 1. Every feasible
V has ||V||_* >= <S, V> >= sum_j w_j. Equality holds exactly if V = S H with a symmetric positive
semidefinite H and <S^T D_j, H z_j> = 1 for all j, which are linear equations for H.
"""

import re

import numpy as np

from attsvm.data import AttentionData
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.svm.nuclear import NuclearAnswer
from attsvm.theory import Claim
from attsvm.theory.instance.in_python import literal
from attsvm.theory.report.script import Writer, title
from attsvm.theory.types import Values
from properties.tf._support.regularisation_paths import Path, nuclear

ROUNDING = 1e-6
"""Maximum distance of a float singular value from 1."""


def of_ranks(claim: Claim, case: AttentionData) -> str | None:
    """Return a script that prints the singular values of both solutions.

    None unless the nuclear solution is known to be unique.
    """
    solved = exact_att_svm(case)
    lines = None if solved is None else _solution(nuclear(case))
    if solved is None or lines is None:
        return None
    duals = [float(x.p) / float(x.q) for x in solved.duals.values()]
    return _text(
        claim,
        *lines,
        f"F = (D.T * {duals}) @ Z  # multipliers are positive or 0, and 0 at larger margins",
        'print("Frobenius: margins", margins(F), "sizes", sizes(F))',
    )


def of_paths(claim: Claim, case: Values) -> str | None:
    """Return a script for the distances of products K Q^T of few columns from the unique solution.

    None unless the nuclear solution is known to be unique.
    """
    columns = claim.formula.constants.get("inner")
    lines = None if columns is None else _solution(nuclear(case.data))
    if lines is None:
        return None
    d = case.data.d
    return _text(
        claim,
        *lines,
        f"# K_R Q_R^T / R has rank {columns} at most, and V / C further singular values: they are",
        f'print("at least", np.linalg.norm(sizes(V / C)[{columns}:]), "apart")',
        f"K, Q = np.random.default_rng(0).normal(size=(2, 100000, {d}, {columns}))",
        "length = np.sum(K**2 + Q**2, axis=(1, 2))[:, None, None] / 2",
        "apart = np.linalg.norm(K @ np.swapaxes(Q, 1, 2) / length - V / C, axis=(1, 2))",
        'print("the nearest of 100,000 random ones:", apart.min())',
    )


def _solution(answer: NuclearAnswer) -> list[str] | None:
    """Return lines that compute the solution V and its norm C; None if V may not be unique."""
    ones = np.linalg.svd(answer.certificate, compute_uv=False)
    if answer.dimension or answer.weights.min() <= 0 or np.abs(ones - 1).max() > ROUNDING:
        return None
    programme = answer.programme
    D, Z = (_line(literal(np.asarray(part, dtype=float))) for part in (programme.D, programme.Z))
    return [
        f"D = {D}  # the best token less another one",
        f"Z = {Z}",
        f"w = np.array({answer.weights.tolist()})",
        "margins = lambda W: np.sum(D @ W * Z, axis=1)",
        "sizes = lambda W: np.linalg.svd(W, compute_uv=False)  # singular values",
        "S, C, d = (D.T * w) @ Z, w.sum(), len(D[0])",
        'print("singular values of S", sizes(S), "so that no feasible V has ||V||_* <", C)',
        "# As w > 0 equality asks for V = S H with symmetric H and all margins 1: equations for H.",
        "I, pairs = np.eye(d), [(a, b) for a in range(d) for b in range(a, d)]",
        "E = [np.outer(I[a], I[b]) + (a < b) * np.outer(I[b], I[a]) for a, b in pairs]",
        "R = np.array([margins(S @ e) for e in E]).T",
        "V = S @ np.tensordot(np.linalg.lstsq(R, np.ones(len(D)), rcond=None)[0], E, 1)",
        'print(len(E), "unknowns, rank", np.linalg.matrix_rank(R), "so that there is one V")',
        'print("nuclear: norm", sizes(V).sum(), "margins", margins(V), "sizes", sizes(V))',
    ]


def _text(claim: Claim, *lines: str) -> str:
    heading = title(claim)
    return "\n".join([*heading, "import numpy as np", *lines, ""])


def _line(text: str) -> str:
    """Return a literal in one line."""
    return re.sub(r"\s+", " ", text).replace(", dtype=float", "")


def written(claim: Claim, case: Values) -> str | None:
    """Return the script of a comparison of ranks or of a path with few columns, else None."""
    if claim.statement_id == "tf/svm-rank":
        return of_ranks(claim, case) if isinstance(case, AttentionData) else None
    return of_paths(claim, case) if isinstance(case, Path) else None


SOLUTIONS = Writer(written)
