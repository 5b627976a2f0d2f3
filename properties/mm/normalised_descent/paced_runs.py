"""Runs of plain and of normalised descent on a prompt, as floats and as formulas; instances."""

from dataclasses import dataclass, replace

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData
from attsvm.exact.numbers import Vector
from attsvm.exact.traps import trapped_at
from attsvm.losses import LOSSES
from attsvm.primitives.att_svm import exact_constraints
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.losses import SLOPED
from attsvm.strategies import composite
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Numbers
from attsvm.training import descend_p
from properties.mm._support.prompt_descent import descent, prompting
from properties.mm._support.prompt_instances import compared


@dataclass(frozen=True, slots=True)
class Paced:
    """A run and the length of a normalised step."""

    case: Descent
    step: float

    def __post_init__(self) -> None:
        if not self.step > 0.0:
            raise DataError("a step is not positive", value=self.step)

    @property
    def data(self) -> AttentionData:
        """Keys as tokens."""
        return self.case.data

    @property
    def start(self) -> Array:
        """The start of both runs."""
        return self.case.start

    @property
    def loss(self) -> str:
        """The loss by its name."""
        return self.case.loss


OVERSTEPPED = Paced(prompting([[[-1, 3], [0, 0]], [[0, -1], [0, 0]]], [[1, 0], [3, 0]]), 2.0)
"""From zero: steps of length 2 end with the first input at its worse token."""
AHEAD = Paced(prompting([[[3.0], [0.0]]], [[2.0, 0.0]]), 1.0)
"""The gradient at zero has length 3/2."""


def float_path(run: Paced, steps: int) -> Array:
    """Return p_0 to p_steps of normalised descent in floats."""
    case, loss = run.case, LOSSES[run.case.loss]
    trajectory = descend_p(
        [case.data], case.start, loss, step=run.step, steps=steps, normalised=True, record="all"
    )
    W: Array = trajectory.W[0]
    return W


def differences(case: Descent) -> list[Vector]:
    """Return the k_alpha - k_t of all inputs and rivals, in rationals."""
    constraints = exact_constraints(ExactData.of(case.data)).values()
    return [A[:: case.data.d] for A in constraints]  # queries are e_1


def path(m: Namespace, run: Paced, steps: int, pace: str = "normalised") -> list[Numbers]:
    """Return p_0 to p_steps of descent with steps of length s or, for `plain`, of size s.

    If optimal tokens are unique and all differences are one vector A, the gradient of a decreasing
    loss is a negative multiple of A. Normalised steps are then along A, exactly.

    Keys are taken relative to an optimal one of their input, which adds a constant to its logits.
    """
    case, data = run.case, ExactData.of(run.case.data)
    scores, p, s = map(m.values, (case.data.gamma, case.start, run.step))
    keys = [k - k[best[0]] for k, best in zip(m.values(case.data.X), data.optimal, strict=True)]
    rows = differences(case)

    def unit(g: Numbers) -> Numbers:
        if sloped(case) and rows and data.unique and all(row == rows[0] for row in rows):
            g = -m.values(rows[0])
        return g / m.norm(g)

    return descent(m, keys, scores, p, case.loss, s, steps, None if pace == "plain" else unit)


def kept(run: Paced, steps: int, first: int = 1) -> list[int] | None:
    """Return the tokens that normalised descent provably selects for ever, or None.

    The iterates 1, 2, 4, ... from the first one on are tried.
    """
    data = ExactData.of(run.case.data)
    data = replace(data, Z=[[fmpq(1)] for _ in data.Z])
    prompts = path(BALLS, run, steps)
    tried = (1 << k for k in range(steps.bit_length()) if 1 << k >= first)
    chosen = (trapped_at(data, [[x] for x in prompts[k]], run.case.loss) for k in tried)
    return next((tokens for tokens in chosen if tokens is not None), None)


@composite
def paced(draw: st.DrawFn, *, zero: bool = False) -> Paced:
    """Draw runs whose rivals score the same, with steps of length 1/8 to 64.

    All start at zero if `zero`.
    """
    case = draw(compared())
    start = np.zeros_like(case.start) if zero else case.start
    lengths = st.sampled_from([1.0, 2.0, 0.5, 4.0, 0.125, 64.0])
    return Paced(replace(case, start=start), draw(lengths))


def levelled(generator: np.random.Generator, most: int = 3) -> Paced:
    """Return a run from zero on Gaussian keys in R^8, of sizes up to (most, 4), scores 1 and 0.

    Keys are multiples of 1/16.
    """
    n, T = int(generator.integers(1, most + 1)), int(generator.integers(2, 5))
    keys = np.round(16 * generator.normal(size=(n, T, 8))) / 16
    scores = np.repeat(np.eye(1, T), n, axis=0)
    loss = str(generator.choice(SLOPED))
    step = float(generator.choice([0.25, 1.0, 4.0, 64.0]))
    return Paced(Descent(Keys(keys, scores), np.zeros(8), loss), step)
