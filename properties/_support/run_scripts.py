"""Counterexamples about descent as scripts: the run in numpy, its margins after so many steps."""

import re
import textwrap
from typing import Any

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.theory import Claim
from attsvm.theory.report.script import Writer
from attsvm.theory.report.snippets import literal
from properties._support.descent_runs import max_margin
from properties._support.limit_certificates import short_step

SLOPES = {
    "logistic": "np.exp(-abs(u)) / (1 + np.exp(-abs(u)))**2",
    "logistic-loss": "-np.exp(-abs(u)) / (1 + np.exp(-abs(u)))**2",
    "log-loss": "-1 / (1 + np.exp(u))",
    "exponential": "-np.exp(-u)",
    "correlation": "-1.0",
    "squared": "2 * (u - 1)",
}
"""The derivatives of the losses at u."""

_OTHERS = {
    "sim/orientation:amended-2": "its logits are those of the transpose",
    "mm/normalised-descent:literal-1": "it compares two kinds of descent",
}
"""Claims that this descent alone does not show."""


def written(claim: Claim, case: Any) -> str | None:
    """The script of a run; None where the instance is of none, or of another kind of descent."""
    loss = claim.formula.constants.get("loss", getattr(case, "loss", None))
    if claim.id in _OTHERS or loss not in SLOPES:
        return None
    if hasattr(case, "K"):
        return _of_factors(claim, case, loss)
    run = getattr(case, "run", case)
    if not hasattr(run, "start") or np.ndim(run.start) != 2:
        return None
    step = float(short_step(case.data, loss, case.step))
    return _lines(
        claim, case.data, loss, [f"W = {_short(run.start)}"], "", [f"W = W - {step!r} * G"]
    )


def _of_factors(claim: Claim, case: Any, loss: str) -> str:
    """Descent on K and Q, with the step that is 1/L at the start."""
    size = 1.0 + float(np.sum(case.K**2) + np.sum(case.Q**2))
    step = float(short_step(case.data, loss)) / size
    starts = [f"K = {_short(case.K)}", f"Q = {_short(case.Q)}"]
    return _lines(
        claim,
        case.data,
        loss,
        starts,
        "W = K @ Q.T",
        [f"K, Q = K - {step!r} * G @ Q, Q - {step!r} * G.T @ K"],
    )


def _lines(
    claim: Claim, data: AttentionData, loss: str, start: list[str], product: str, moves: list[str]
) -> str:
    present = data.present
    X = [data.X[i][present[i]] for i in range(data.n)]
    scores = [data.gamma[i][present[i]] for i in range(data.n)]
    solution = max_margin(data, "optimal")
    W = None if solution is None else np.array([[float(x) for x in row] for row in solution])
    known = W is not None
    lines = [
        *textwrap.wrap(f"# {claim.id}: {claim.statement}", 96, subsequent_indent="#   "),
        "# Descent, and the margins of the best token of each input over its others: a negative",
        "# one means that attention goes elsewhere." + " W_mm is the max-margin solution." * known,
        "import numpy as np",
        f"X = [{', '.join(map(_short, X))}]",
        f"Z = {_short(data.Z)}",
        f"scores = [{', '.join(map(_short, scores))}]",
        *start,
        *([f"W_mm = np.array({W.tolist()})"] if W is not None else []),
        "for k in range(10001):",
        *([f"    {product}"] if product else []),
        "    G = 0",
        "    for x, z, c in zip(X, Z, scores):",
        "        s = np.exp(x @ W @ z - np.max(x @ W @ z))",
        "        s = s / s.sum()",
        "        u = c @ s",
        f"        slope = {SLOPES[loss]}",
        f"        G = G + slope / {data.n} * np.outer((s * (c - u)) @ x, z)",
        "    if k in (0, 1, 10, 100, 1000, 10000):",
        "        M = [(x[c.argmax()] - np.delete(x, c.argmax(), 0)) @ W @ z for x, z, c in"
        " zip(X, Z, scores)]",
        '        print(k, "steps: norm", np.linalg.norm(W), "margins", np.concatenate(M))',
        '        print("  cosine with W_mm", np.sum(W * W_mm) / np.linalg.norm(W_mm)'
        " / max(np.linalg.norm(W), 1e-300))"
        if known
        else "",
        *(f"    {move}" for move in moves),
    ]
    lines = [line for line in lines if line]
    return "\n".join(lines) + "\n"


def _short(value: Array) -> str:
    """Data that are floats from the start: all of them integers would stay so."""
    text = literal(np.asarray(value, dtype=float)).replace(", dtype=float", "")
    return text if re.search(r"[./x]", text.removeprefix("np.array")) else f"1.0 * {text}"


RUNS = Writer(written)
