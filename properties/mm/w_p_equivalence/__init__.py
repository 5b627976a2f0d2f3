"""Descent on W and descent on p are one trajectory after rescaling the step.

"... running gradient descent on p, or equivalently W ..." (abstract); the model is
<X v, softmax(X W p)>, and what attention sees of (W, p) is the prompt W p.

`literal-1` compares the two as the model has them: W trained with p fixed against p trained with
W fixed, from one (W, p). Let g be the gradient in the prompt. The first moves W p along
-||p||^2 g, the second along -W W^T g: tokens (1, 0), (0, 1), 0 of scores 1, 1, 0, with W =
diag(1, 2) and p = (1, 0), go along (1, 1) and along (1, 4). `literal-2` compares W with the prompt
itself, descending from q(0) = W p on keys X, and asks for some rescaling; with p = 0 only q moves.

What is true: `amended-1`, W_k p = q_k exactly, with eta for W and eta ||p||^2 for q, p not 0, for
every loss; W_k = W_0 + (q_k - q_0) p^T / ||p||^2. (At p = 0 neither moves, with a step of 0.)
`amended-2`: with W fixed the same holds where W W^T = c I, the step on p being eta ||p||^2 / c; for
other W no c will do, see `literal-1`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb, fmpq

from attsvm.exact import dot, norm, rational, rationals
from attsvm.exact.numbers import subtract
from attsvm.theory import Slack, claim, sibling
from properties.mm import SOURCE
from properties.mm._support.prompt_descent import largest
from properties.mm.w_p_equivalence.paired_runs import (
    Weighted,
    balls,
    isotropic_square,
    isotropically,
    larger,
    prompts_of,
    weighted,
    weighting,
)

PLACE: dict[str, Any] = {"source": SOURCE, "place": "Abstract", "cost": 6}
STEPS = 4

SKEWED = weighting(
    [[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]],
    [[1.0, 1.0, 0.0]],
    [[1.0, 0.0], [0.0, 2.0]],
    [1.0, 0.0],
)
NO_PROMPT = weighting([[[1.0], [0.0]]], [[1.0, 0.0]], [[0.0]], [0.0])


def one_way(case: Weighted, fixed: bool, factor: float | None) -> Slack:
    """After one step: the moves of the logits agree up to some, or that, positive factor."""
    left, right, error = prompts_of(case, 1, factor or 1.0, fixed)
    a, b = ((case.X @ (run[1] - run[0])).ravel() for run in (left, right))
    best = 1.0
    if factor is None and a.any() and b.any():
        best = max(float(a @ b) / float(b @ b), 0.0)
    reach = float(np.abs(case.X).sum(axis=2).max()) * (1.0 + best)
    return Slack.equal(float(np.abs(a - best * b).max()), 8.0 * reach * error)


def certify_one_way(case: Weighted, fixed: bool, factor: float | None) -> arb | None:
    """Minus the same residual in balls."""
    found = balls(case, 1, arb(rational(factor or 1.0)), fixed)
    if found is None:
        return None
    tokens = [x for rows in rationals(case.X) for x in rows]
    a, b = ([arb(dot(x, subtract(run[1], run[0]))) for x in tokens] for run in found)
    best = arb(1)
    if factor is None and all(any(not x.is_zero() for x in move) for move in (a, b)):
        best = (dot(a, b) / dot(b, b)).max(arb(0))
    apart = largest([x - best * y for x, y in zip(a, b, strict=True)])
    # moves may differ by less than floats can see
    return None if 0 < apart < one_way(case, fixed, factor).error else -apart


def certify_fixed(case: Weighted, factor: float | None = None) -> arb | None:
    """W against p with W fixed."""
    return certify_one_way(case, True, factor)


def certify_free(case: Weighted, factor: float | None = None) -> arb | None:
    """W against the prompt itself."""
    return certify_one_way(case, False, factor)


@claim(
    "mm/w-p-equivalence:literal-1",
    **PLACE,
    statement="for some c > 0 one step eta on W with p fixed moves the logits X W p as one step "
    "c eta on p with W fixed does",
    data=weighted(),
    ensemble=larger,
    examples=[SKEWED],
    certify=certify_fixed,
    expected="refuted",
    siblings={"c = 1": sibling(factor=1.0), "c = 2": sibling(factor=2.0)},
)
def literal_1(case: Weighted, factor: float | None = None) -> Slack:
    """Both trained from one (W, p)."""
    return one_way(case, True, factor)


@claim(
    "mm/w-p-equivalence:literal-2",
    **PLACE,
    statement="for some c > 0 one step eta on W with p fixed moves the logits X W p as one step "
    "c eta on the prompt q does, from q = W p with keys X",
    data=weighted(),
    examples=[NO_PROMPT],
    certify=certify_free,
    expected="refuted",
    siblings={"c = 1": sibling(factor=1.0), "c = 2": sibling(factor=2.0)},
)
def literal_2(case: Weighted, factor: float | None = None) -> Slack:
    """W against the prompt itself."""
    return one_way(case, False, factor)


def square_of(case: Weighted, fixed: bool) -> fmpq:
    """The c of W W^T = c I where W stays fixed, else 1.

    For other W the mean of the diagonal of W W^T, or 1 for W = 0.
    """
    entries = [x for row in rationals(case.W) for x in row]
    return dot(entries, entries) / len(case.p) or fmpq(1) if fixed else fmpq(1)


def whole_way(case: Weighted, fixed: bool, power: int, share: float) -> Slack:
    """W_k p and q_k agree for four steps, those on q being rescaled by share ||p||^power."""
    factor = share * float(np.linalg.norm(case.p)) ** power / float(arb(square_of(case, fixed)))
    left, right, error = prompts_of(case, STEPS, factor, fixed)
    return Slack.equal(float(np.abs(left - right).max()), error)


def certify_whole_way(case: Weighted, fixed: bool, power: int, share: float) -> arb | None:
    """Minus the largest difference in balls; the factor is not rounded."""
    p, c = rationals(case.p), square_of(case, fixed)
    found = balls(case, STEPS, arb(rational(share)) * norm(p) ** power / arb(c), fixed)
    if found is None:
        return None
    left, right = ([x for prompt in run for x in prompt] for run in found)
    apart = largest(subtract(left, right))
    # a sibling may differ by less than floats can see
    return None if 0 < apart < whole_way(case, fixed, power, share).error else -apart


def certify_free_run(case: Weighted, power: int = 2, share: float = 1.0) -> arb | None:
    """W against the prompt itself."""
    return certify_whole_way(case, False, power, share)


def certify_fixed_run(case: Weighted, power: int = 2, share: float = 1.0) -> arb | None:
    """W against p with W fixed."""
    return certify_whole_way(case, True, power, share)


MOVES = {"p is not 0": lambda case: bool(case.p.any())}
OTHER_FACTORS = {
    "the step is not rescaled": sibling(power=0),
    "rescaled by ||p||": sibling(power=1),
    "rescaled by 1.05 ||p||^2": sibling(share=1.05),
}


@claim(
    "mm/w-p-equivalence:amended-1",
    **PLACE,
    statement="p not 0, W_k descends with p fixed and step eta, q_k on keys X from W_0 p with step "
    "eta ||p||^2: W_k p = q_k for every k",
    data=weighted(),
    ensemble=larger,
    examples=[SKEWED],
    hypotheses=MOVES,
    certify=certify_free_run,
    proof="symbolic.mm.w_p_equivalence:prove",
    expected="proved",
    siblings=OTHER_FACTORS,
)
def amended_1(case: Weighted, power: int = 2, share: float = 1.0) -> Slack:
    """W against the prompt itself, rescaled by ||p||^2."""
    return whole_way(case, False, power, share)


@claim(
    "mm/w-p-equivalence:amended-2",
    **PLACE,
    statement="p not 0, W_0 W_0^T = c I, c > 0, W_k descends with p_0 fixed and step eta, p_k with "
    "W_0 fixed and step eta ||p_0||^2 / c: W_k p_0 = W_0 p_k for every k",
    data=isotropically(),
    hypotheses={
        **MOVES,
        "W W^T is a multiple of I": lambda case: isotropic_square(case) is not None,
    },
    certify=certify_fixed_run,
    proof="symbolic.mm.w_p_equivalence:prove_fixed_weights",
    depends_on=["mm/w-p-equivalence:amended-1"],
    expected="proved",
    siblings={
        "any W": sibling(drop=["W W^T is a multiple of I"], data=weighted(), examples=[SKEWED]),
        **OTHER_FACTORS,
    },
)
def amended_2(case: Weighted, power: int = 2, share: float = 1.0) -> Slack:
    """W against p with W fixed."""
    return whole_way(case, True, power, share)
