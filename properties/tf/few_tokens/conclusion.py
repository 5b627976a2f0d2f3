"""Effects of one step of descent on the norm and on the effective number of tokens."""

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.primitives import run_programs
from attsvm.primitives.losses import SLOPED as LOSS_NAMES
from attsvm.strategies import arrays, composite, sizes
from attsvm.theory import concludes, stated
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Comparison, Namespace, Nested, Number, Numbers, Relation
from properties._support import token_letters
from properties.tf._support.descent_steps import Step, advanced, attention


@composite
def steps(draw: st.DrawFn, start: float = 1.0) -> Step:
    """Draw steps on any data, from any start, or from zero for `start` = 0."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 3)), draw(sizes(1, 2))
    data = AttentionData(draw(arrays(n, T, d)), draw(arrays(n, d)), scores=draw(arrays(n, T)))
    size = draw(st.sampled_from([1.0, 0.125, 16.0, 64.0]))
    return Step(data, draw(st.sampled_from(LOSS_NAMES)), start * draw(arrays(d, d)), size)


def step(X: Nested, Z: Nested, scores: Nested, start: Nested, size: float = 1.0) -> Step:
    """Return a step for the loss -u, of nested lists."""
    tokens, queries, gamma, W = (np.array(part, dtype=float) for part in (X, Z, scores, start))
    return Step(AttentionData(tokens, queries, scores=gamma), "correlation", W, size)


WRONG_START = step([[[1], [0]]], [[1]], [[1, 0]], [[-2]])
CONTENT = step([[[1], [0]]] * 2, [[2], [-1]], [[1, 0]] * 2, [[0]], 9.0)
LEAPING_OVER = step([[[0], [0], [1]]], [[1]], [[0, 0, 1]], [[-2]], 64.0)
AT_ZERO = step([[[1], [0]]], [[1]], [[1, 0]], [[0]])
ONE_TOKEN = step([[[1]]], [[1]], [[0]], [[0]])


def effective(m: Namespace, case: Step, W: Numbers) -> Number:
    """Return the sum over inputs of the effective numbers of tokens."""
    return m.sum(m.array([1 / m.sum(m.square(s)) for s in attention(m, case, W)]))


def _checked(m: Programs, case: Step, **constants: object) -> Relation:
    """Return `proceeds` on the names of a program of the checker."""
    return run_programs.traced(m, case, proceeds, **constants)


@stated(
    "",
    "$what",
    {
        "what": {
            "norm": r"\|W\| \le $slack \|W_+\|",
            "tokens": r"N(W_+) \le $slack N(W)",
            "both": r"\|W\| \le $slack \|W_+\| \text{ and } N(W_+) \le $slack N(W)",
            "then": r"N(W) \le N(W_+) \text{ or } \|W\| < $slack \|W_+\|",
        },
        "when": {
            "first step": "first step of descent from any W, of any size",
            "second step": "second step of descent from zero, with any constant step",
        },
    },
    where="W and W_+ come before and after the $when, and N is the effective number of "
    "tokens, 1/sum_t s_t^2 for attention s, added up over inputs",
    checked=_checked,
)
def proceeds(
    m: Namespace, case: Step, what: str, when: str = "first step", slack: Number = 1
) -> Relation:
    W = m.values(case.start)
    if when == "second step":
        W = advanced(m, case, W)
    moved = advanced(m, case, W)
    longer = m.at_most(m.norm(W), slack * m.norm(moved))
    fewer = m.at_most(effective(m, case, moved), slack * effective(m, case, W))
    then = m.any_of(
        m.at_most(effective(m, case, W), effective(m, case, moved)),
        m.below(m.norm(W), slack * m.norm(moved)),
    )
    return {"norm": longer, "tokens": fewer, "both": m.all_of(longer, fewer), "then": then}[what]


@concludes(token_letters.needs_norm)
@stated(
    "$formula for every input at any W",
    r"\sum_t s_t^2 (1 + (T - 1) \exp(-\max_{s,t} \|x_s - x_t\| \|z\| \|W\|)) \le 1",
    where="s = softmax(X W z) is the attention to the T tokens of the input",
)
def needs_norm(m: Namespace, case: Step) -> Comparison:
    W, exact, each = m.values(case.start), ExactData.of(case.data), []
    for X, z, s in zip(exact.X, exact.Z, attention(m, case, W), strict=True):
        tokens, T = m.values(X), len(X)
        length = m.norm(W) * m.norm(m.values(z))
        least = 1 + (T - 1) * m.exp(-m.diameter(tokens) * length)
        each.append(least * m.sum(m.square(s)))  # divided by the effective number
    return m.at_most(m.max(m.array(each)), m.exact(1))
