"""Conclusions from the numbers of figure 1, as values and as sentences made from them."""

from collections.abc import Mapping

import numpy as np

from attsvm._types import Array
from attsvm.plots import Table
from properties.sim._support.causal_language import APART


def growth(norm: Array, residual: Array, back: int) -> Array:
    """Return the exponents (B,) with which residuals (B, k) grow with norms (B, k).

    The slope is taken between the last number of a run, which may have ended early, and the entry
    `back` places before.
    """
    exponents = []
    for sizes, off in zip(norm, residual, strict=True):
        known = np.flatnonzero(np.isfinite(sizes))[[-1 - back, -1]]
        rise, grown = np.diff(np.log(off[known]))[0], np.diff(np.log(sizes[known]))[0]
        exponents.append(float(rise / grown))
    return np.array(exponents)


def rising(recorded: Array) -> int:
    """Return how many of the curves (B, k) rise from each record to the next."""
    return int((np.diff(recorded, axis=1) > 0.0).all(axis=1).sum())


def conclusions(tables: Mapping[str, Table]) -> dict[str, object]:
    """Return final cosines, rivals' cosines, growth exponents of residuals, and sentences."""
    facts: dict[str, object] = {}
    for tokens in tables["directions"].distinct("tokens"):
        rows = tables["directions"].where(tokens=tokens)
        step, cosine, norm, residual = rows.where(direction="X_soft").stack(
            "run", "step", "cosine", "norm", "residual"
        )
        decade = int((step[0] > step[0, -1] / 10).sum())
        exponents = growth(norm, residual, decade)
        alike = tables["alike"].where(tokens=tokens)
        to_soft = {
            str(name): float(alike.where(direction=name)["cosine_to_soft"].mean())
            for name in alike.distinct("direction")
        }
        final = float(cosine[:, -1].mean())
        up = rising(cosine)
        apart = tables["directions"].where(tokens=tokens, direction=APART).stack("run", "cosine")[0]
        problems = tables["problems"].where(tokens=tokens)
        hard, unknown = (int(problems[f"hard_margin_{k}"].sum()) for k in ("exists", "unknown"))
        facts |= {
            f"{tokens}_final_cosine": final,
            f"{tokens}_cosines_to_soft": to_soft,
            f"{tokens}_residual_exponents": exponents.tolist(),
            f"{tokens}_final_cosine_to_one_slack_a_constraint": float(apart[:, -1].mean()),
            f"{tokens}_runs_rising_from_each_record_to_the_next": up,
            f"{tokens}_hard_margins": {"exist": hard, "unknown": unknown, "of": len(problems)},
            f"{tokens}_concluded": _words(final, to_soft, exponents)
            + f" From each recorded step to the next the cosine rises in {up} of "
            f"{len(cosine)} runs. To the solution with one slack a constraint, whose own cosine to "
            f"X_soft is {to_soft[APART]:.3f}, X(k) ends at {apart[:, -1].mean():.3f}.",
        }
    return facts | _far(tables["far"])


def _far(table: Table) -> dict[str, object]:
    """Return the norms that runs reached, exponents of growth there, and a sentence on them."""
    curves = {
        str(name): table.where(direction=name).stack("run", "norm", "residual")
        for name in table.distinct("direction")
    }
    exponents = {name: growth(norm, off, 1) for name, (norm, off) in curves.items()}
    norms = curves["X_soft"][0]
    arrived = np.isfinite(norms[:, -1])
    spans = [f"{_span(e[arrived])} from that of {name}" for name, e in exponents.items()]
    words = (
        f"{int(arrived.sum())} of {len(norms)} runs were followed to the norm "
        f"{np.nanmax(norms):,.0f}. There the distance of X(k) from the ray grows like the norm to "
        f"the power {', and '.join(spans)}, the soft solution for the tokens that attention "
        f"selects at the end of the curve."
    )
    exact = {name.replace(" ", "_"): e.tolist() for name, e in exponents.items()}
    reached = np.nanmax(norms, axis=1).tolist()
    return {"far_norms": reached, "far_exponents": exact, "far_concluded": words}


def _span(values: Array) -> str:
    if not len(values):
        return "unknown"
    return f"{round(float(values.min()), 3) + 0.0:.3f} to {round(float(values.max()), 3) + 0.0:.3f}"


def _words(final: float, to_soft: Mapping[str, float], exponents: Array) -> str:
    mean, first = to_soft["mean difference"], to_soft["first step"]
    bounded = int((exponents < 0.5).sum())
    return (
        f"X(k) ends at a mean cosine of {final:.3f} to X_soft. The mean difference, which no "
        f"training enters, has {mean:.3f} and the first step of descent {first:.3f}: a cosine of "
        f"{max(mean, first):.3f} is no evidence of convergence. Over the last decade of steps the "
        f"distance from the ray of X_soft grows like the norm to the power "
        f"{exponents.min():.2f} to {exponents.max():.2f} (0 where X(k) converges to it, 1 where it "
        f"goes elsewhere), below 1/2 in {bounded} of {len(exponents)} runs."
    )
