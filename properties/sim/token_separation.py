"""Token separation: margins between optimal and other tokens grow and end positive.

"... we show that all tokens are gradually separated during the training process" (section 1);
"the initial margin is near 0 ..., and as training proceeds, the margin generally becomes larger
and eventually converges to ... sufficiently large positive values" (figure 2).

The margins are m_it(X) = <A_it, X>, A_it = (x_opt - x_t) z_i^T. With the loss of definition 3.6,
which increases in the score, nothing of this is so: tokens 1, 0, scores 1, 0, query 1, X(0) = 0,
and the one margin falls for ever (`literal-1` every margin, `literal-2` their mean, `literal-3`
the end). With the decreasing loss g(-u) it is still false, from X(0) = 0 and with a single input
in R^1 (`amended-1`, `amended-2`): tokens 4, 0, 3 with scores 1, 0, -3. Attention is 1/3 each and
u = -2/3; the push away from the token of score -3 wins, -grad L = (-2/3 * 4 + 7/3 * 1) |l'|/3 < 0,
and both margins, 4 X and X, fall; the token of score 0 keeps the attention for ever.
`PULLED_APART` (two inputs of two tokens) does the same under both parts of assumption 3.10.

What does grow at every step, from every start, under either part of that assumption, is
<X, X^mm> = sum_it lambda_it m_it(X), the mean of margins weighted by the multipliers of X^mm
(`amended-3`), with X^mm as in `tf/all-support-no-stationary`: a step of size eta adds

    eta sum_it c_it m_it(X^mm) >= eta (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t),

for in part 1 m = 1, and in part 2 c_it >= 0 and m >= 1 (`sharp-1`; equality in part 1). That is
above 0 where some input has two different scores; in part 1 optimal tokens may be tied. And from a
start that cannot lose its optimal tokens, with a step of at most 1/L_X, all margins end above every
bound (`amended-4`), for the direction converges to X^mm; so the least margin is (1 + o(1)) ||X|| /
||X^mm||, the gradient exp(-that), and its slope in ln k is 1 (`sharp-2`). Such a start implies two
different scores. The certificate of the slope knows it exactly, and of other starts as well
(`properties._support.growth_rates`): it is -4/3 for the three tokens above.
"""

from __future__ import annotations

from typing import Any

from flint import arb
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.strategies.data import separable_data
from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import (
    Run,
    all_tight,
    equal_rivals,
    feasible,
    pulling_data,
    rival_data,
    runs,
    tight_data,
    towards_solution,
    unique_optimum,
)
from properties._support.hypothesis_violations import ALL_TIED, NO_QUERY, PASSED_OVER, TIED_APART
from properties.sim import SOURCE
from properties.sim._support import margins
from properties.sim._support.theorem_3_14 import (
    PRINTED,
    PULLED_APART,
    REPAIRED,
    TWO_TOKENS,
    near_solution,
    starts_in_basin,
)

SEPARATION: dict[str, Any] = {"source": SOURCE, "place": "Section 1, token separation; figure 2"}
STEP = {**SEPARATION, "cost": 2}
END = {**SEPARATION, "cost": 10, "same_slack": False}
ANY = runs(st.one_of(separable_data(), pulling_data()), 0, 1)
UNIQUE = {"optimal tokens are unique": unique_optimum}
FEASIBLE = {"Att-SVM is feasible": feasible}
SEPARABLE = {**UNIQUE, **FEASIBLE}
SOMETHING = {"some input has two different scores": lambda run: two_scores(run.data)}
PART = {"part 1 or part 2 of assumption 3.10": lambda run: all_tight(run) or equal_rivals(run)}
BASIN = {"risk gap of the start below the threshold": starts_in_basin}
LAPSES = {
    "any start": sibling(
        drop=list(BASIN), data=runs(pulling_data(), 0), examples=[PASSED_OVER, PULLED_APART]
    ),
    "tied optimal tokens": sibling(drop=list(UNIQUE), examples=[TIED_APART]),
    "Att-SVM need not be feasible": sibling(drop=list(FEASIBLE), examples=[NO_QUERY]),
}


def two_scores(data: AttentionData) -> bool:
    """Some input has two tokens of different scores."""
    return any(len(set(row)) > 1 for row in ExactData.of(data).gamma)


def certify_printed_step(run: Run, of: str = "least", sign: float = 1.0) -> arb:
    """The slack as a ball."""
    return margins.exact_growth(run, PRINTED, of, sign)


@claim(
    "sim/token-separation:literal-1",
    **STEP,
    statement="every step of descent on g(b <f, h>) raises every margin (x_opt - x_t)^T X z",
    data=ANY,
    examples=[TWO_TOKENS],
    certify=certify_printed_step,
    expected="refuted, certified",
    siblings={
        "every step lowers every margin": sibling(sign=-1.0, examples=[PASSED_OVER]),
        "it lowers the mean margin": sibling(of="mean", sign=-1.0, examples=[PASSED_OVER]),
    },
)
def literal_1(run: Run, of: str = "least", sign: float = 1.0) -> Slack:
    """With the loss as printed, margin by margin."""
    return margins.grows(run, PRINTED, of, sign)


@claim(
    "sim/token-separation:literal-2",
    **STEP,
    statement="every step of descent on g(b <f, h>) raises the mean margin",
    data=ANY,
    examples=[TWO_TOKENS],
    certify=lambda run, of="mean", sign=1.0: certify_printed_step(run, of, sign),
    expected="refuted, certified",
    siblings={
        "every step lowers the mean margin": sibling(sign=-1.0, examples=[PASSED_OVER]),
        "every step lowers every margin": sibling(of="least", sign=-1.0, examples=[PASSED_OVER]),
    },
)
def literal_2(run: Run, of: str = "mean", sign: float = 1.0) -> Slack:
    """With the loss as printed, on average."""
    return margins.grows(run, PRINTED, of, sign)


def certify_printed_end(run: Run, of: str = "least", whose: str = "optimal") -> arb | None:
    """The sign in which the margin ends, where it is proved."""
    return margins.certified_end(run, PRINTED, of, whose)


@claim(
    "sim/token-separation:literal-3",
    **END,
    statement="descent on g(b <f, h>) ends with positive margins",
    data=ANY,
    examples=[TWO_TOKENS],
    certify=certify_printed_end,
    expected="refuted, certified",
    siblings={
        "the largest margin ends positive": sibling(of="largest"),
        "the mean margin ends positive": sibling(of="mean"),
    },
)
def literal_3(run: Run, of: str = "least", whose: str = "optimal") -> Slack:
    """With the loss as printed, in the end."""
    return margins.ends(run, PRINTED, of, whose)


def certify_step(run: Run, of: str = "mean", sign: float = 1.0) -> arb:
    """The slack as a ball."""
    return margins.exact_growth(run, REPAIRED, of, sign)


@claim(
    "sim/token-separation:amended-1",
    **STEP,
    statement="every step of descent on the decreasing loss g(-b <f, h>) raises the mean margin, "
    "optimal tokens unique and Att-SVM feasible",
    data=ANY,
    hypotheses=SEPARABLE,
    examples=[PASSED_OVER, PULLED_APART],
    certify=certify_step,
    expected="refuted, certified",
    siblings={
        "it lowers the mean margin": sibling(sign=-1.0, examples=[TWO_TOKENS]),
        "it lowers every margin": sibling(of="least", sign=-1.0, examples=[TWO_TOKENS]),
    },
)
def amended_1(run: Run, of: str = "mean", sign: float = 1.0) -> Slack:
    """With a decreasing loss; so not every margin grows either."""
    return margins.grows(run, REPAIRED, of, sign)


def certify_end(run: Run, of: str = "least", whose: str = "optimal") -> arb | None:
    """The sign in which the margin ends, where it is proved."""
    return margins.certified_end(run, REPAIRED, of, whose)


@claim(
    "sim/token-separation:amended-2",
    **END,
    statement="descent on the decreasing loss g(-b <f, h>) ends with positive margins, optimal "
    "tokens unique and Att-SVM feasible",
    data=ANY,
    hypotheses=SEPARABLE,
    examples=[PASSED_OVER, PULLED_APART],
    certify=certify_end,
    expected="refuted, certified",
    siblings={
        "margins of the tokens of least score end positive": sibling(
            whose="worst", examples=[TWO_TOKENS]
        ),
        "their largest margin ends positive": sibling(
            of="largest", whose="worst", examples=[TWO_TOKENS]
        ),
    },
)
def amended_2(run: Run, of: str = "least", whose: str = "optimal") -> Slack:
    """With a decreasing loss, from any start."""
    return margins.ends(run, REPAIRED, of, whose)


def certify_gain(run: Run, share: float = 0.0, loss: str = REPAIRED) -> arb | None:
    """The slack as a ball."""
    return margins.exact_gain(run, loss, share)


@claim(
    "sim/token-separation:amended-3",
    **STEP,
    statement="assumption 3.10, part 1 or 2, Att-SVM feasible, some input with two different "
    "scores: every step of descent on the decreasing loss raises <X, X^mm>, the mean margin "
    "weighted by the multipliers",
    data=runs(st.one_of(tight_data(), rival_data()), 0, 1),
    ensemble=towards_solution,
    hypotheses={**FEASIBLE, **SOMETHING, **PART},
    examples=[TWO_TOKENS, PULLED_APART, TIED_APART],
    certify=certify_gain,
    expected="holds",
    siblings={
        "all scores may be tied": sibling(drop=list(SOMETHING), examples=[ALL_TIED]),
        "neither part of the assumption": sibling(drop=list(PART), examples=[PASSED_OVER]),
        "the printed loss": sibling(loss=PRINTED),
    },
)
def amended_3(run: Run, share: float = 0.0, loss: str = REPAIRED) -> Slack:
    """What descent raises from anywhere."""
    return margins.gain(run, loss, share)


@claim(
    "sim/token-separation:amended-4",
    **END,
    statement="optimal tokens unique, Att-SVM feasible: descent on the decreasing loss with step "
    "at most 1/L_X from a start whose risk gap is below min_i [l(second) - l(best)]/n ends with "
    "every margin above every bound",
    data=runs(st.one_of(tight_data(), rival_data()), 0, 1),
    ensemble=near_solution,
    hypotheses={**SEPARABLE, **BASIN},
    examples=[TWO_TOKENS],
    certify=certify_end,
    expected="holds",
    siblings={
        **LAPSES,
        "margins of the tokens of least score": sibling(whose="worst"),
    },
)
def amended_4(run: Run, of: str = "least", whose: str = "optimal") -> Slack:
    """From a start that cannot lose its optimal tokens."""
    return margins.ends(run, REPAIRED, of, whose)


@claim(
    "sim/token-separation:sharp-1",
    **STEP,
    statement="assumption 3.10, Att-SVM feasible, decreasing loss: a step of size eta raises "
    "<X, X^mm> by at least eta (1/n) sum_i |l'| s_opt sum_t s_t (gamma_opt - gamma_t)",
    data=runs(st.one_of(tight_data(), rival_data()), 0, 1),
    ensemble=towards_solution,
    hypotheses={**FEASIBLE, **PART},
    examples=[TWO_TOKENS, PULLED_APART, TIED_APART, ALL_TIED],
    certify=lambda run, share=1.0: margins.exact_gain(run, REPAIRED, share),
    expected="holds",
    siblings={
        "1.05 times that": sibling(share=1.05),
        "neither part of the assumption": sibling(drop=list(PART), examples=[PASSED_OVER]),
    },
)
def sharp_1(run: Run, share: float = 1.0) -> Slack:
    """By how much; attained where all tokens are support vectors."""
    return margins.gain(run, REPAIRED, share)


@claim(
    "sim/token-separation:sharp-2",
    **{**END, "cost": 12},
    statement="from such a start the least margin divided by ln k tends to 1",
    data=runs(st.one_of(tight_data(), rival_data()), 0, 1),
    ensemble=near_solution,
    hypotheses={**SEPARABLE, **BASIN},
    examples=[TWO_TOKENS],
    certify=lambda run, share=1.0: margins.certified_slope(run, REPAIRED, share),
    expected="holds",
    siblings={
        **LAPSES,
        "slope 0.95": sibling(share=0.95),
        "slope 1.05": sibling(share=1.05),
        "slope 1/2": sibling(share=0.5),
    },
)
def sharp_2(run: Run, share: float = 1.0) -> Slack:
    """At which rate."""
    return margins.slope(run, REPAIRED, share)
