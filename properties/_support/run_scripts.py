"""Counterexamples about descent as scripts: a run in numpy that prints its margins."""

import re

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Factored
from attsvm.primitives.descent_runs import max_margin
from attsvm.primitives.limit_certificates import short_step
from attsvm.theory import Claim
from attsvm.theory.instance.in_python import literal
from attsvm.theory.report.script import Writer, title
from attsvm.theory.types import Values

SLOPES = {
    "logistic": "np.exp(-abs(u)) / (1 + np.exp(-abs(u)))**2",
    "logistic-loss": "-np.exp(-abs(u)) / (1 + np.exp(-abs(u)))**2",
    "log-loss": "-1 / (1 + np.exp(u))",
    "exponential": "-np.exp(-u)",
    "correlation": "-1.0",
    "squared": "2 * (u - 1)",
    "cubic": "-3 * u**2",
}
"""The derivative of each loss at u, as Python."""

PACES = "mm/normalised-descent:literal-2"
"""The claim that compares the norms of two runs; its script takes four steps of each."""

TRANSPOSED = "sim/orientation:amended-2"
"""The claim whose logits are z^T X x, and whose margins are taken of x^T X z."""


def written(claim: Claim, case: Values) -> str | None:
    """Return the script of a run or of a constant risk; None for other paths and programmes."""
    paced = getattr(case, "case", None)  # of normalised descent, beside plain descent
    own = case if paced is None else paced
    loss = getattr(own, "loss", None)
    if loss not in SLOPES:
        return None
    if isinstance(getattr(own, "inputs", None), Factored):
        return _of_factors(claim, own, loss)
    if claim.formula.measured is None:
        return _side_by_side(claim, case, loss) if claim.id == PACES else None
    if not hasattr(own, "W"):
        return _constant(claim, own.data)
    # the cubic has no smoothness constant, so any step will do: its run is at rest
    step = float(short_step(own.data, loss, own.step)) if loss in LOSSES else 1.0
    starts = [f"W = {_short(own.W)}"]
    if paced is None:
        moves = [f"W = W - {step!r} * G"]
        return _lines(claim, own.data, loss, starts, "", moves, across=claim.id == TRANSPOSED)
    # if ||G|| is below 1e-150, squares of entries underflow
    length = f"{case.step!r} * (np.linalg.norm(G) > 1e-150) / max(np.linalg.norm(G), 1e-300)"
    moves = [f"W = W - ({step!r} if plain else {length}) * G"]
    return _lines(claim, own.data, loss, starts, "", moves, both=True)


def _side_by_side(claim: Claim, case: Values, loss: str) -> str:
    """Return a script that prints the norms of plain and of normalised descent on a prompt."""
    own = case.case
    lines = [
        *title(claim),
        "import numpy as np",
        f"keys = {_short(own.inputs.X)}",
        f"scores = {_short(own.inputs.scores)}",
        f"plain = normalised = {_short(own.start)}",
        "def gradient(p):",
        "    G = 0",
        "    for x, c in zip(keys, scores):",
        "        s = np.exp(x @ p - np.max(x @ p))",
        "        s = s / s.sum()",
        "        u = c @ s",
        f"        slope = {SLOPES[loss]}",
        f"        G = G + slope / {len(own.inputs.X)} * (s * (c - u)) @ x",
        "    return G",
        "for k in (1, 2, 3, 4):  # the claim: all of these",
        f"    plain = plain - {case.step!r} * gradient(plain)",
        "    G = gradient(normalised)",
        f"    normalised = normalised - {case.step!r} * G / np.linalg.norm(G)",
        '    print(np.linalg.norm(plain), "<=", np.linalg.norm(normalised))',
    ]
    return "\n".join(lines) + "\n"


def _constant(claim: Claim, data: AttentionData) -> str | None:
    """Return a script for inputs of one score each, whose risk is constant; None for other data."""
    present = data.present
    scores = [data.gamma[i][present[i]] for i in range(data.n)]
    if any(len(set(c.tolist())) > 1 for c in scores):
        return None
    X = [data.X[i][present[i]] for i in range(data.n)]
    lines = [
        *title(claim),
        "# Each input has tokens of one score, so that attention returns it for every W: the risk",
        "# is the same everywhere, any W minimises it, and minimisers have no direction in common.",
        "import numpy as np",
        f"X = [{', '.join(map(_short, X))}]",
        f"Z = {_short(data.Z)}",
        f"scores = [{', '.join(map(_short, scores))}]",
        "for R in (1, 10, 100):",
        f"    for W in (R * np.eye({data.d}), -R * np.eye({data.d})):",
        "        S = [np.exp(x @ W @ z - np.max(x @ W @ z)) for x, z in zip(X, Z)]",
        '        print("W_11 =", W[0, 0], "scores", [c @ s / s.sum() for c, s in zip(scores, S)])',
    ]
    return "\n".join(lines) + "\n"


def _of_factors(claim: Claim, case: Values, loss: str) -> str:
    """Return a script of descent on K and Q with the step 1/L, divided by 1 + ||K||^2 + ||Q||^2."""
    K, Q = case.start
    size = 1.0 + float(np.sum(K**2) + np.sum(Q**2))
    step = float(short_step(case.data, loss)) / size
    starts = [f"K = {_short(K)}", f"Q = {_short(Q)}"]
    return _lines(
        claim,
        case.data,
        loss,
        starts,
        "W = K @ Q.T",
        [f"K, Q = K - {step!r} * G @ Q, Q - {step!r} * G.T @ K"],
    )


def _lines(
    claim: Claim,
    data: AttentionData,
    loss: str,
    start: list[str],
    product: str,
    moves: list[str],
    *,
    across: bool = False,
    both: bool = False,
) -> str:
    """Return the script of a run on W.

    With `across` the logits are x^T W^T z. With `both` it runs plain descent, then normalised.
    """
    present = data.present
    X = [data.X[i][present[i]] for i in range(data.n)]
    scores = [data.gamma[i][present[i]] for i in range(data.n)]
    solution = max_margin(data, "optimal")
    W = None if solution is None else np.array([[float(x) for x in row] for row in solution])
    known = W is not None
    logits = "x @ W.T @ z" if across else "x @ W @ z"
    # c - u cancels if margins are large; normalised steps would enlarge the error
    moved = f"(s * ({'(c[:, None] - c) @ s' if both else 'c - u'})) @ x"
    outer = f"z, {moved}" if across else f"{moved}, z"
    loop = [
        *start,
        "for k in range(10001):",
        *([f"    {product}"] if product else []),
        "    G = 0",
        "    for x, z, c in zip(X, Z, scores):",
        f"        s = np.exp({logits} - np.max({logits}))",
        "        s = s / s.sum()",
        "        u = c @ s",
        f"        slope = {SLOPES[loss]}",
        f"        G = G + slope / {data.n} * np.outer({outer})",
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
    if both:
        heading = '    print("plain descent" if plain else "normalised descent")'
        loop = ["for plain in (True, False):", heading, *(f"    {line}" for line in loop)]
    lines = [
        *title(claim),
        "# Margins are the best token's over the others: below 0, attention goes to one of these.",
        "import numpy as np",
        f"X = [{', '.join(map(_short, X))}]",
        f"Z = {_short(data.Z)}",
        f"scores = [{', '.join(map(_short, scores))}]",
        *([f"W_mm = np.array({W.tolist()})  # max-margin"] if W is not None else []),
        *loop,
    ]
    return "\n".join(line for line in lines if line.strip()) + "\n"


def _short(value: Array) -> str:
    """Return code of a float array; an array of integers only is multiplied by 1.0."""
    text = literal(np.asarray(value, dtype=float)).replace(", dtype=float", "")
    return text if re.search(r"[./x]", text.removeprefix("np.array")) else f"1.0 * {text}"


RUNS = Writer(written)
