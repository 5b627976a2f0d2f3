"""Errata of the experiments."""

from __future__ import annotations

from attsvm.theory.errata import Erratum
from properties.sim.errata.training import THRESHOLD
from properties.sim.figure_1 import SHORTEST
from properties.sim.figure_2 import TORN

EXPERIMENTS = (
    Erratum(
        "sim/figure-1",
        printed="Figure 1: training on a causal language, the cosine of X(k) with X_soft, C = 10. "
        "(Read: it grows, and tends to 1. The text does not say so in words.)",
        fails="With the loss of definition 3.6 X(k) may leave the direction of X_soft for ever. "
        "With a decreasing loss and X(0) = 0 the cosine need not tend to 1: where a token has "
        "several successors X(k) selects the most frequent one, while the slacks of X_soft count "
        "the others as well. Nor does every step raise the cosine.",
        repair="With a decreasing loss, unique optimal tokens, a feasible Att-SVM, C ||X^mm|| >= "
        "max lambda (definition 4.1), steps of at most 1/L_X and a start whose risk exceeds the "
        f"infimum by less than {THRESHOLD}, the cosine tends to 1.",
        falls=(
            "sim/figure-1:literal-1",
            "sim/figure-1:literal-2",
            "sim/figure-1:amended-1",
            "sim/figure-1:amended-2",
        ),
        stands=("sim/figure-1:amended-3",),
    ),
    Erratum(
        "sim/figure-2",
        printed='Figure 2: "The initial margin is near 0 ... as training proceeds, the margin '
        'generally becomes larger and eventually converges to ... positive values".',
        fails="With the loss of definition 3.6 margins fall for ever. With a decreasing loss and "
        "X(0) = 0 they need not end positive either: where a token a has the successors a and b "
        "equally often, two problems have the margins m and -m.",
        repair="Ask for one successor of each token: with orthonormal tokens, the whole vocabulary "
        "and X(0) = 0 every step of a decreasing loss raises every margin. With unique optimal "
        "tokens, a feasible Att-SVM, steps of at most 1/L_X and a start whose risk exceeds the "
        f"infimum by less than {THRESHOLD}, all margins end above every bound.",
        falls=("sim/figure-2:literal-1", "sim/figure-2:literal-2", "sim/figure-2:amended-1"),
        stands=("sim/figure-2:amended-2", "sim/figure-2:amended-3"),
        telling={
            "sim/figure-2:literal-1": SHORTEST,
            "sim/figure-2:literal-2": SHORTEST,
            "sim/figure-2:amended-1": TORN,
        },
    ),
)
