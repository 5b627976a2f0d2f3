"""Theorem 1, second half: descent on p converges in direction to p(alpha).

"Suppose Assumption A holds. Then, the gradient descent iterates p(k+1) = p(k) - eta grad_p
L(v(k), p(k)) with proper eta and p(0) satisfies ... lim p(k)/||p(k)|| = p(alpha)/||p(alpha)||."

Not said: which alpha, which p(0) and eta are proper, and how v(k) moves. v is constant here, as
the section is on p alone, alpha are the optimal tokens, and eta is at most 1/L. Assumption A is
met by the three losses of the talk. `literal-1` takes every p(0), and grants what writing p(alpha)
presumes: that it exists and alpha is one choice. It falls from zero with one input: keys 1, 0, -2
of scores 1, -5, 0 have p(alpha) = 1, and p runs to minus infinity, to the key -2. `literal-2`
asks for some start and step, for any choice among optimal tokens; it falls with two inputs, keys
(0, 1), 0 of scores 0, 0 and (1, 0), 0 of scores 1, 0: p(alpha) is (1, 1) or (1, -1), but every run
moves along (1, 0) alone. (Where nothing moves at all, head 0, the start p(alpha) would do.)

`amended-1`: a risk gap of p(0) below min_i [l(second) - l(best)]/n (proof at
`attsvm.exact.descent.certified_fate`); at 105% of it the same three keys are a counterexample.
`amended-2`: one input whose rivals score the same, from any start. `amended-3`: with unique
optimal tokens proper starts exist, r p(alpha) for every r above an explicit R
(`properties.mm._support.prompt_descent.properly_started`, with the proof).
"""

from __future__ import annotations

from typing import Any

from flint import arb
from hypothesis import strategies as st

from attsvm.theory import Slack, claim, sibling
from properties._support.descent_runs import reaches
from properties._support.torch_objectives import elsewhere
from properties.mm import SOURCE
from properties.mm._support.adversarial_prompt_starts import alone, trapping
from properties.mm._support.prompt_descent import (
    Prompting,
    certify_limit,
    moves_aside,
    near_basin,
    p_exists,
    properly_started,
    rivals_alike,
    single_input,
    starts_in_basin,
    unique,
)
from properties.mm._support.prompt_instances import (
    ASIDE,
    OTHER_DIRECTIONS,
    PULLED,
    STUCK,
    TRAPPED,
    TRAPPED_NEAR,
    TWO_KEYS,
    UNEVEN,
    comparable,
    gaussian,
    on_axes,
    pulled,
    unevenly,
)

PLACE: dict[str, Any] = {
    "source": SOURCE,
    "place": "Theorem I, convergence of GD, second item",
    "cost": 12,
    "same_slack": False,
}
EXISTS = {"p(alpha) exists, alpha optimal": p_exists}
ONE_ALPHA = {**EXISTS, "optimal tokens are unique": unique}
BASIN = "risk gap of the start below min_i [l(second) - l(best)]/n"


def converges(case: Prompting, towards: str) -> Slack:
    """The direction of p converges to the target's."""
    return reaches(case.run, case.loss, towards)


def certify(case: Prompting, towards: str = "optimal") -> arb | None:
    """Where the run is proved to go."""
    return certify_limit(case, towards)


def certify_proper(case: Prompting, towards: str = "optimal", size: float = 1.0) -> arb | None:
    """Where the run from r p(alpha) is proved to go; -1 also where no start will do."""
    proper = properly_started(case, size)
    if proper is None:
        return arb(1)
    if towards == "optimal" and moves_aside(case):
        return arb(-1)
    return certify_limit(proper, towards)


def from_proper(case: Prompting, towards: str, size: float) -> Slack:
    """The same for the run from r p(alpha), which stays there where nothing moves."""
    proper = properly_started(case, size)
    return Slack(1.0, 0.0) if proper is None else converges(proper, towards)


@claim(
    "mm/theorem-1-direction:literal-1",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: descent on a decreasing loss from "
    "any p(0) with step at most 1/L converges in direction to p(alpha)",
    data=comparable(0, 2),
    hypotheses=ONE_ALPHA,
    examples=[TRAPPED, PULLED],
    relaxed=elsewhere,
    certify=certify,
    expected="refuted",
    siblings={
        "direction of the worst tokens": sibling(towards="worst"),
        "opposite direction": sibling(towards="opposite"),
        "p(alpha) turned by about a 64th": sibling(towards="turned", examples=[UNEVEN]),
    },
)
def literal_1(case: Prompting, towards: str = "optimal") -> Slack:
    """From every start."""
    return converges(case, towards)


@claim(
    "mm/theorem-1-direction:literal-2",
    **PLACE,
    statement="p(alpha) of optimal tokens exists: there are p(0) and eta with which descent on a "
    "decreasing loss converges in direction to p(alpha)",
    data=comparable(0),
    hypotheses=EXISTS,
    examples=[ASIDE],
    certify=certify_proper,
    expected="refuted",
    siblings={
        "r p(alpha) leads to the worst tokens": sibling(towards="worst"),
        "r p(alpha) leads to the opposite direction": sibling(towards="opposite"),
        "-r p(alpha) will do": sibling(size=-1.0, examples=[TRAPPED]),
    },
)
def literal_2(case: Prompting, towards: str = "optimal", size: float = 1.0) -> Slack:
    """From some start: along p(alpha), and far enough."""
    return from_proper(case, towards, size)


@claim(
    "mm/theorem-1-direction:amended-1",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: descent on a decreasing loss with "
    "step at most 1/L converges in direction to p(alpha) from every p(0) whose risk gap is below "
    "min_i [l(second) - l(best)]/n; 105% of that will not do",
    data=st.one_of(comparable(0, 1), trapping()),
    ensemble=lambda generator: (on_axes if generator.random() < 0.5 else gaussian)(generator),
    hypotheses={**ONE_ALPHA, "below 105% of that": near_basin, BASIN: starts_in_basin},
    examples=[UNEVEN, TWO_KEYS],
    relaxed=elsewhere,
    certify=certify,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "risk gap below 105%": sibling(drop=[BASIN], examples=[TRAPPED_NEAR]),
        "any start": sibling(drop=["below 105% of that", BASIN], data=pulled()),
    },
)
def amended_1(case: Prompting, towards: str = "optimal") -> Slack:
    """From where no optimal token can be lost."""
    return converges(case, towards)


@claim(
    "mm/theorem-1-direction:amended-2",
    **PLACE,
    statement="a single input whose rivals score the same, p(alpha) exists: descent on a "
    "decreasing loss with step at most 1/L converges in direction to p(alpha) from any p(0)",
    data=alone(),
    hypotheses={
        **ONE_ALPHA,
        "all rivals of the optimal token score the same": rivals_alike,
        "there is a single input": single_input,
    },
    examples=[UNEVEN, TWO_KEYS],
    relaxed=elsewhere,
    certify=certify,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "rivals of any score": sibling(
            drop=["all rivals of the optimal token score the same"], examples=[STUCK, TRAPPED]
        ),
        "several inputs": sibling(drop=["there is a single input"], data=pulled()),
    },
)
def amended_2(case: Prompting, towards: str = "optimal") -> Slack:
    """With one input, from anywhere."""
    return converges(case, towards)


@claim(
    "mm/theorem-1-direction:amended-3",
    **PLACE,
    statement="p(alpha) of the unique optimal tokens exists: from p(0) = r p(alpha), r = R + 1 "
    "with R = max(0, ln [M sum_i (T_i - 1) D_i / (m min_i gap_i)]), descent on a decreasing loss "
    "with step at most 1/L converges in direction to p(alpha)",
    data=st.one_of(comparable(0), unevenly()),
    ensemble=gaussian,
    hypotheses=ONE_ALPHA,
    examples=[TRAPPED, STUCK, PULLED, TWO_KEYS],
    certify=certify_proper,
    expected="holds",
    siblings={
        **OTHER_DIRECTIONS,
        "from -r p(alpha)": sibling(size=-1.0),
        "tied optimal tokens": sibling(drop=["optimal tokens are unique"], examples=[ASIDE]),
    },
)
def amended_3(case: Prompting, towards: str = "optimal", size: float = 1.0) -> Slack:
    """From a start that is proper."""
    return from_proper(case, towards, size)
