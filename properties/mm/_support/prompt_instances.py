"""Runs of descent on p: small counterexamples, strategies, ensembles, and starts near a rim."""

from dataclasses import replace

import numpy as np
from flint import arb
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from attsvm.data import AttentionData
from attsvm.exact import ExactData
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.descent_runs import LEAPING as RUN_LEAPING
from attsvm.primitives.descent_runs import opposed_data, rival_data, tight_data, towards_solution
from attsvm.primitives.hypotheses import has_head
from attsvm.primitives.losses import SLOPED
from attsvm.risk import risk_gap
from attsvm.strategies import arrays, composite, sizes
from attsvm.strategies.adversarial_starts import starts_about, trapping_data
from attsvm.theory import Hypothesis, changed
from properties._support.small_runs import NOT_ALIGNED, TWO_TOKENS
from properties.mm._support.prompt_descent import never_moves, prompt, prompting, properly_started

TIED = prompting([[[1.0], [0.0]]], [[0.0, 0.0]])
"""Head zero: the gradient is zero everywhere, and p(alpha) = 1."""
ASIDE = prompting([[[0.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]], [[0.0, 0.0], [1.0, 0.0]])
"""The first input is tied. Here p(alpha) = (1, 1) or (1, -1), but p moves along (1, 0)."""
STUCK = prompting([[[1.0], [0.0], [-2.0]]], [[1.0, -4.0, 0.0]])
"""The gradient is 0 at p = 0, for every loss; p(alpha) = 1."""
MIRRORED = prompting(
    [[[2.0, 1.0], [1.0, -2.0], [-3.0, 0.0]], [[-2.0, 1.0], [-1.0, -2.0], [3.0, 0.0]]],
    [[2.0, 1.0, -3.0]] * 2,
)
"""Tokens and their mirror images, of labels 1 and -1, for W = I and the head (1, 0).

The gradient is 0 at p = 0, for every loss, and p(alpha) is along (0, 1).
"""
OPPOSED = prompting([[[1.0], [0.0]], [[1.0], [0.0]]], [[1.0, 0.0], [0.0, 1.0]])
"""Two inputs that ask for opposite prompts; there is no p(alpha)."""
FLAT = prompting([[[2.0], [0.0]]], [[2.0, 0.0]], loss="squared")
"""At p = 0 the attended score is 1, at which (1 - u)^2 has no slope; p(alpha) = 1/2."""
ONE_KEY = prompting([[[1.0], [1.0]]], [[1.0, 0.0]])
"""Two tokens of one key: every p is in the basin and stationary, and there is no p(alpha)."""
ONE_TOKEN = prompting([[[1.0]]], [[1.0]])
"""One input of one token: p(alpha) = 0, and nothing moves."""
TRAPPED = prompting([[[1.0], [0.0], [-2.0]]], [[1.0, -5.0, 0.0]])
"""From zero p tends to minus infinity, to the key -2; p(alpha) = 1."""
TRAPPED_NEAR = replace(TRAPPED, start=np.array([-3.0]))
"""The same from a start whose risk gap is 1.2% above the threshold."""
UNEVEN = prompting([[[1.0, 0.0], [0.0, 0.0], [1.0, -2.0]]], [[3.0, 1.0, 1.0]], [8.0, 4.0])
LEAPING = replace(
    prompting(RUN_LEAPING.data.X, RUN_LEAPING.data.gamma, RUN_LEAPING.start[:, 0]),
    step=RUN_LEAPING.step,
)
"""In the basin; the first step takes the second input to its worse key for ever."""
THROWN = replace(
    prompting([[[1.0, 0.0], [0.0, 0.0]], [[-8.0, 1.0], [0.0, 0.0]]], [[1.0, 0.0]] * 2), step=64.0
)
"""From the proper start the first step takes the first input to its worse key for ever."""
_ABOUT = [[1.0 + x / 64.0, -2.0 + y / 64.0] for x, y in ((1, 0), (-1, 1.4375), (-1, -1.4375))]
CAUGHT = replace(
    prompting(
        [[[0.0, 0.0], [-1.0, 0.0], [1.0, -2.0], *_ABOUT]],
        [[0.0, -8192.0, -1.0, -65.0, -65.0, -65.0]],
    ),
    step=2.0**22,
)
"""From the proper start the first step leaps to the third key, to a minimum at a finite norm."""
SECOND_TRAPPED = prompting(NOT_ALIGNED.data.X, NOT_ALIGNED.data.gamma)
"""Two inputs of two tokens, all rivals equal in score and tight, from zero: the second one is
trapped."""
ALONG = prompting([[[1.0, 0.0], [0.0, 2.0], [0.0, 1.0], [0.0, -1.0]]], [[3.0, 2.0, 1.0, -1.0]])
"""Scores are those of the head (3, 1) for W = I."""
TWO_KEYS = prompting(TWO_TOKENS.data.X, TWO_TOKENS.data.gamma)

ENCLOSED = prompting([[[0.0], [-1.0], [-2.0]]], [[1.0, 0.0, 0.5]], loss="logistic")
"""On a loss that increases p ends near -1, at which the key -1 of the least score has most
weight."""

RISING = replace(TWO_KEYS, loss="logistic")
"""A loss that increases, so descent leaves the better key from any start."""

ONE_HEAD = Hypothesis(
    "scores are linear in the keys",
    lambda case: has_head(ExactData.of(case.data), [1] * case.data.n),
    says="the score of each token is <q, k_it> for one q, as for equal labels and v = W^T q",
    proposition=letters.linear_keys,
)


@composite
def linear_keys(draw: st.DrawFn) -> Descent:
    """Draw runs on keys whose scores are linear in them, often with repeated keys."""
    n, T, d = draw(sizes(1, 2)), draw(sizes(1, 4)), draw(sizes(1, 3))
    X = draw(arrays(n, T, d))
    data = AttentionData(X, np.eye(1, d).repeat(n, axis=0), y=np.ones(n), v=draw(arrays(d)))
    start = draw(starts_about(data, 0, 1, columns=1))[:, 0]
    return Descent(Keys(X, data.gamma), start, draw(st.sampled_from(SLOPED)))


FARTHEST, HALVINGS = 64.0, 40
"""Largest multiple of p(alpha) that is tried, and number of halvings of the interval."""


OTHER_DIRECTIONS = {
    "direction of the worst tokens": changed(towards="worst"),
    "p(alpha) turned by about a 64th": changed(towards="turned", examples=[UNEVEN]),
    "mean of the constraints": changed(towards="mean", examples=[UNEVEN]),
}


@composite
def promptings(draw: st.DrawFn, data: SearchStrategy[AttentionData], *powers: int) -> Descent:
    """Draw runs on keys and scores of data sets, from adversarial, zero, small or large starts."""
    drawn = draw(data)
    case = Descent(Keys(drawn.X, drawn.gamma), np.zeros(drawn.d), draw(st.sampled_from(SLOPED)))
    return replace(case, start=draw(starts_about(case.data, *powers, columns=1))[:, 0])


def comparable(*powers: int) -> st.SearchStrategy[Descent]:
    """Return a strategy of runs with all keys on the margin, or equal scores of all rivals."""
    return promptings(st.one_of(tight_data(), rival_data()), *powers)


def compared() -> st.SearchStrategy[Descent]:
    """Return a strategy of runs on data with equal scores of all rivals."""
    return promptings(rival_data(), 0, 2)


def opposed() -> st.SearchStrategy[Descent]:
    """Return a strategy of runs on two inputs with opposed gradients, from small starts."""
    return promptings(opposed_data(), 0)


@composite
def unevenly(draw: st.DrawFn) -> Descent:
    """Draw a run from zero on one input of three keys on a line, the worst score in the middle."""
    far, low = draw(sizes(1, 4)), draw(sizes(1, 8))
    keys = np.array([[[1.0], [0.0], [-float(far)]]])
    scores = np.array([[1.0, -float(low), 0.0]])
    return Descent(Keys(keys, scores), np.zeros(1), draw(st.sampled_from(SLOPED)))


def on_axes(generator: np.random.Generator) -> Descent:
    """Return a run on up to three inputs of four keys on separate axes, started near p(alpha)."""
    data = towards_solution(generator).data
    start = 6.0 * -data.X.sum(axis=(0, 1)) + generator.integers(-4, 5, size=data.d) / 4
    return Descent(Keys(data.X, data.gamma), start, str(generator.choice(SLOPED)))


def gaussian(generator: np.random.Generator) -> Descent:
    """Return a run on Gaussian keys in R^8 of sizes up to (3, 4), from a proper start with noise.

    If the drawn scores are tied or no prompt separates the tokens, the start is the noise alone.
    """
    n, T = int(generator.integers(1, 4)), int(generator.integers(2, 5))
    keys = np.round(16 * generator.normal(size=(n, T, 8))) / 16
    scores = generator.integers(-8, 9, size=(n, T)) / 4
    noise = generator.integers(-4, 5, size=8) / 16
    case = Descent(Keys(keys, scores), noise, str(generator.choice(SLOPED)))
    proper = None if never_moves(case) else properly_started(case)
    return case if proper is None else replace(proper, start=proper.start + noise)


def larger(generator: np.random.Generator) -> Descent:
    """Return a run on separate axes or a Gaussian one."""
    return (on_axes if generator.random() < 0.5 else gaussian)(generator)


# starts on the rim of a basin


def on_the_rim(case: Descent, loss: str, share: float) -> Descent:
    """Return the run from the multiple of p(alpha) at which the risk gap is `share` of its bound.

    The bound is min_i [l(second) - l(best)]/n of the named loss. The run starts from zero if the
    gap is below the bound there. It also does if no multiple up to 64 has that share, or if there
    is no p(alpha).
    """
    p, used = prompt(case), LOSSES[loss]
    ordered = [sorted(set(row)) for row in case.data.gamma.tolist()]
    tops = np.array([row[-2:] for row in ordered if len(row) > 1]).reshape(-1, 2)
    if p is None or not len(tops):
        return case
    direction = np.array([float(arb(x)) for x in p])
    drop = used.drop(tops[:, 1], tops[:, 1] - tops[:, 0])
    least = share * float(drop.min()) / len(case.data.X)

    def at(multiple: float) -> Descent:
        return replace(case, start=multiple * direction)

    low, high = 0.0, FARTHEST
    if not risk_gap(case.data, at(high).W, used) < least:
        return case
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        inside = risk_gap(case.data, at(middle).W, used) < least
        low, high = (low, middle) if inside else (middle, high)
    return at(high if low > 0.0 else 0.0)


@composite
def apart(draw: st.DrawFn) -> Descent:
    """Draw two inputs of opposed gradients, scores at two levels, near the rim for the loss -x.

    Losses differ only in the weights |l'| of inputs at their scores (see
    `properties.mm.loss_choice`, `amended-2`). Inputs of different levels show this, most of all if
    an input is nearly lost.
    """
    data = draw(opposed_data())
    loss = draw(st.sampled_from([name for name in SLOPED if name != "correlation"]))
    level = draw(st.sampled_from([4.0, 8.0, -4.0, 0.0]))
    scores = data.gamma + np.array([[0.0], [level]])
    case = Descent(Keys(data.X, scores), np.zeros(data.d), loss)
    return on_the_rim(case, "correlation", draw(st.sampled_from([0.9375, 0.5, 0.125])))


@composite
def alone(draw: st.DrawFn) -> Descent:
    """Draw a run on one input of two to four keys, whose rivals score the same."""
    T, d = draw(sizes(2, 4)), draw(sizes(1, 3))
    best, keys = draw(sizes(0, T - 1)), draw(arrays(1, T, d))
    scores = np.full((1, T), float(draw(arrays(1))[0]))
    scores[0, best] += 1.0 + abs(float(draw(arrays(1))[0]))
    case = Descent(Keys(keys, scores), np.zeros(d), draw(st.sampled_from(SLOPED)))
    return replace(case, start=draw(starts_about(case.data, 0, 2, columns=1))[:, 0])


@composite
def trapping(draw: st.DrawFn) -> Descent:
    """Draw one or two inputs of three keys on separate lines, started at the second-best key.

    The worst key lies in the middle. As the prompt approaches the second-best key, the risk gap of
    an input alone tends to the bound of its basin, from above or below.
    """
    data = draw(trapping_data())
    case = Descent(Keys(data.X, data.gamma), np.zeros(data.d), draw(st.sampled_from(SLOPED)))
    return replace(case, start=draw(starts_about(case.data, 0, 2, columns=1))[:, 0])
