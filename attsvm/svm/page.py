"""Answers as a reader sees them: a page of text, a page for notebooks, a plot of margins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from attsvm._files import write_whole
from attsvm._html import MOST, cell, table
from attsvm._words import counted, rising
from attsvm.errors import DataError, UsageError
from attsvm.svm.frobenius import FrobeniusAnswer
from attsvm.svm.nuclear import NuclearAnswer
from attsvm.svm.soft import SoftAnswer

if TYPE_CHECKING:
    from attsvm.svm.answer import Answer


_ALONE = "none, a single token"
"""In the place of the margins of an input that has no other token."""


def text(answer: Answer) -> str:
    """The page that `attsvm solve` prints."""
    lines = [_title(answer), *(f"{name:<9} {value}" for name, value in _facts(answer))]
    if answer.solved:
        n, support = answer.programme.shape[0], answer.support
        width = len(str(n - 1))
        for i in range(n):
            shown = "  ".join(
                f"{t}{'*' if t in support[i] else ''}:{margin:.4g}" for t, margin in _row(answer, i)
            )
            target = answer.programme.targets[i]
            lines.append(f"input {i:>{width}}   selects token {target}; margins {shown or _ALONE}")
        less = " less their slack" if isinstance(answer.float_answer, SoftAnswer) else ""
        where = " in the exact solution" if answer.status == "solved in rationals" else ""
        lines.append(f"          * marks support tokens, whose margin is 1{less}{where}")
    return "\n".join(lines)


def html(answer: Answer | FrobeniusAnswer | NuclearAnswer | SoftAnswer) -> str:
    """The same page as one HTML fragment of bounded size."""
    whole = _wrap(answer)
    page = f"<b>{cell(_title(whole))}</b>{table(('', ''), _facts(whole))}"
    if not whole.solved:
        return page
    rows = []
    for i, target in enumerate(whole.programme.targets[:MOST]):
        row = (f"{t}{'*' if t in whole.support[i] else ''}: {m:.4g}" for t, m in _row(whole, i))
        rows.append((i, int(target), ", ".join(row) or _ALONE))
    left = len(whole.programme.targets) - MOST
    more = f"<p>and {counted(left, 'further input')}</p>" if left > 0 else ""
    return page + table(("input", "selects", "margins (* support tokens)"), rows) + more


def ensure_drawable(path: Path) -> None:
    """Refuse a plot before anything is computed for it.

    Raises:
        UsageError: matplotlib is missing, or it writes no format of that ending.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise UsageError(
            "plots need matplotlib", remedy="pip install 'attsvm[plot]', or leave out the plot."
        ) from error
    supported = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in supported:
        raise UsageError(
            "the plot's file name has no ending that can be written",
            value=path.name,
            remedy=f"Use one of {', '.join(supported)}.",
        )


def plot_margins(answer: Answer, path: Path) -> Path:
    """Draw every margin as a point, input by input, against the line that it must reach.

    Raises:
        DataError: there is no solution, so there are no margins.
        UsageError: matplotlib is missing, or it writes no format of that ending.
    """
    if not answer.solved:
        raise DataError("an unseparable programme has no margins to draw", value=answer.norm)
    ensure_drawable(path)
    from matplotlib.figure import Figure

    a = answer.float_answer
    n = answer.programme.shape[0]
    figure = Figure(figsize=(7.0, 1.2 + 0.28 * min(n, 100)), layout="constrained")
    axes = figure.add_subplot()
    shown = np.isfinite(a.margins)
    support = np.zeros_like(shown)
    for i, tight in enumerate(answer.support):
        support[i, list(tight)] = True
    short = shown & (a.margins < 1.0) & ~support
    others = shown & ~support & ~short
    for mask, colour, label in (
        (others, "tab:blue", "other tokens"),
        (support, "tab:orange", "support tokens"),
        (short, "tab:red", "short of the margin"),
    ):
        rows, tokens = np.nonzero(mask)
        if rows.size:
            axes.scatter(a.margins[rows, tokens], rows, color=colour, label=label, s=18, alpha=0.8)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set(
        xlabel="margin $(x_{target} - x_t)^T W z$",
        ylabel="input",
        title=_title(answer),
        yticks=range(n),
    )
    if n > 40:
        axes.set_yticks(range(0, n, n // 20))
    axes.invert_yaxis()
    axes.legend(loc="best", fontsize="small")
    ending = path.suffix.lstrip(".").lower()
    write_whole(path, lambda file: figure.savefig(file, format=ending, dpi=150))
    return path


def _wrap(answer: Answer | FrobeniusAnswer | NuclearAnswer | SoftAnswer) -> Answer:
    from attsvm.svm.answer import Answer

    if isinstance(answer, Answer):
        return answer
    return Answer(answer, None, "nuc" if isinstance(answer, NuclearAnswer) else "fro")


def _title(answer: Answer) -> str:
    n, T = answer.programme.shape
    kind = {"fro": "Frobenius", "nuc": "Nuclear-norm"}[answer.norm]
    a, slack = answer.float_answer, ""
    if isinstance(a, SoftAnswer):
        kind, slack = "Soft-margin", f", slack per {a.slack_per}"
    return (
        f"{kind} {answer.programme.name}: {counted(n, 'input')}, up to {counted(T, 'token')}, "
        f"{counted(len(answer.programme.bound), 'constraint')}{slack}"
    )


def _row(answer: Answer, i: int) -> list[tuple[int, float]]:
    margins = answer.float_answer.margins[i]
    return [(t, float(m)) for t, m in enumerate(margins) if math.isfinite(m)]


def _facts(answer: Answer) -> list[tuple[str, str]]:
    a = answer.float_answer
    if not answer.solved:
        return _unseparable(answer)
    low, high = answer.bracket
    bracket = f"bracket [{low:.12g}, {high:.12g}]"
    facts = [("status", f"{answer.status}, {answer.proof}")]
    if answer.status == "solved in rationals":
        facts.append(("", "(the solution is `exact_W` of --json, in Python `exact.W`)"))
    if answer.unfinished is None and answer.kind == "float" and isinstance(a, FrobeniusAnswer):
        facts.append(("", "(attsvm.svm.certify does it in rationals, on request)"))
    if isinstance(a, SoftAnswer):
        open_ = "" if answer.evaluated else " (not certified)"
        ray = f"t W/|W|, {a.segment[0]:.6g} <= t <= {a.segment[1]:.6g}"
        facts += [
            ("norm", f"{a.value:.12g}"),
            ("objective", f"{a.objective:.12g} with C = {a.C:.6g}, {bracket}{open_}"),
            ("soft", _path(*a.thresholds)),
        ]
        if a.segment[0] != a.segment[1]:
            facts.append(("solutions", ray))
    else:
        facts.append(("norm", f"{a.value:.12g}, {bracket}"))
    facts.append(
        (
            "residuals",
            f"primal {rising(a.primal_residual)}, gap {rising(a.gap)}, "
            f"least multiplier {a.duals.min():.1e}",
        )
    )
    if isinstance(a, NuclearAnswer):
        size = "a point" if a.dimension == 0 else f"of dimension {a.dimension}"
        facts.append(("solutions", f"rank {a.rank}, the solution set is {size}"))
    if any(answer.degenerate):
        facts.append(("idle", f"tight with multiplier 0: {_tokens(answer.degenerate)}"))
    if answer.programme.duplicates:
        groups = (
            " = ".join(f"input {i} token {t}" for i, t in group)
            for group in answer.programme.duplicates
        )
        facts.append(("repeated", f"the same constraint: {'; '.join(groups)}"))
    return facts


def _path(first: float, second: float) -> str:
    """What the soft margin is as its price grows, from the two thresholds."""
    if first == math.inf:
        return "W = 0 for every C; there is no hard margin"
    start = f"W = 0 up to C = {first:.6g}"
    if math.isnan(first):
        start = "floats do not tell up to which C W = 0"
    if second == math.inf:
        return f"{start}; there is no hard margin"
    if math.isnan(second):
        return f"{start}; floats do not tell whether there is a hard margin"
    return f"{start}, the hard margin from C = {second:.6g} on"


def _tokens(rows: tuple[tuple[int, ...], ...]) -> str:
    return "; ".join(
        f"input {i} token {', '.join(map(str, tokens))}" for i, tokens in enumerate(rows) if tokens
    )


def _unseparable(answer: Answer) -> list[tuple[str, str]]:
    a = answer.float_answer
    weights = [
        ("", f"input {int(i)}, token {int(t)}: {a.duals[i, t]:.6g}")
        for i, t in np.argwhere(a.duals > 0)
    ]
    return [
        ("status", "unseparable: no W gives every target a positive margin"),
        (
            "proof",
            f"nonnegative weights whose constraints cancel, residual {rising(a.dual_residual)};",
        ),
        ("", answer.proof),
        *weights,
    ]
