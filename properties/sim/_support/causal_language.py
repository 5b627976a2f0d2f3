"""Causal language modelling as section 4 of the source sets it: draw, train, solve.

A run draws a language of 20 unit-norm Gaussian tokens and m sentences of n tokens. Each token is
followed by one of three tokens, possibly by itself. X is trained by plain descent with step 1/L on
the decreasing loss g(-<f, h>), where g is the logistic function. The loss as printed, g(<f, h>),
increases in the score, and descent on it moves away (`PRINTED`). Logits are x_t^T X z, in descent
(definition 3.3) and in the programme (definition 4.1) alike.

The slack xi_{l,t} of definition 4.1 has no index i: the queries i of sentence l share it, and so
they do in `solve`. As the source also calls every sub-sequence "an individual classification
problem", a solution with a slack for each constraint is computed as well. Copies of the token to be
chosen give no constraint in either, because nothing separates a token from itself.

All tokens and queries lie in the span of the embeddings, which has V dimensions for any d. Training
and programmes use coordinates of this span. The part of the start outside of the span never
changes; it becomes one more coordinate of length `rest`. Norms, cosines and residuals are those of
the d x d matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from attsvm._types import Array, Bool, Int
from attsvm.attention import logits_of_w
from attsvm.data import AttentionData
from attsvm.language import Language, prefix_data, random_language, vocabulary_data
from attsvm.lipschitz import risk_smoothness
from attsvm.losses import LOSSES
from attsvm.risk import gradient_w
from attsvm.svm import Programme, att_svm_programme
from attsvm.svm.soft import SoftAnswer, solve_soft
from attsvm.tokens import optimal_tokens
from attsvm.training import descend_w

LOSS, PRINTED = LOSSES["logistic-loss"], LOSSES["logistic"]
VOCABULARY, SUCCESSORS, DEVIATION, C = 20, 3, 0.01, 10.0
SETS = {"prefix": prefix_data, "vocabulary": vocabulary_data}
"""The tokens among which attention and programme choose, for both readings of the source."""
APART = "one slack a constraint"
"""Name of the soft solution with a slack of its own for each constraint."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Sizes of one configuration: m sentences of n tokens in dimension d."""

    m: int = 10
    n: int = 5
    d: int = 100

    @property
    def columns(self) -> dict[str, int]:
        """The sizes by name, as columns of a table."""
        return {"m": self.m, "n": self.n, "d": self.d}

    def varied(self, name: str, value: int) -> Setting:
        """Return a copy with one size changed."""
        return Setting(**{**self.columns, name: value})


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One run: its problems under both readings, and the start.

    Attributes:
        data: data sets by reading, in coordinates of the span of the embeddings.
        sentence: the sentence that each problem comes from; it is the same under both readings.
        start: X(0) in these coordinates.
        rest: the norm of the part of X(0) outside of the span.
    """

    data: Mapping[str, AttentionData]
    sentence: Int[Array, " p"]
    start: Array
    rest: float

    def flat(self, W: Array) -> Array:
        """Return iterates (..., r, r) as vectors (..., r r + 1) with their norms in R^d."""
        rows = W.reshape(*W.shape[:-2], -1)
        rest = np.full((*rows.shape[:-1], 1), self.rest)
        return np.concatenate([rows, rest], axis=-1)


def draw(seed: int, run: int, size: Setting) -> Task:
    """Return run number `run` of the seed: language, sentences, and a Gaussian start."""
    generator = np.random.default_rng([seed, run, size.m, size.n, size.d])
    language = random_language(generator, VOCABULARY, size.d, SUCCESSORS)
    sentences = language.sample(generator, size.m, size.n)
    X = DEVIATION * generator.normal(size=(size.d, size.d))
    basis, triangle = np.linalg.qr(language.embeddings.T)
    short = Language(language.first, language.follow, triangle.T)
    start = basis.T @ X @ basis
    rest = float(np.linalg.norm(X - basis @ start @ basis.T))
    data = {name: make(short, sentences) for name, make in SETS.items()}
    return Task(data, np.repeat(np.arange(size.m), size.n - 1), start, rest)


def train(
    tasks: list[Task], tokens: str, steps: int, record: list[int], printed: bool = False
) -> Array:
    """Return the iterates (B, k, r, r) of descent on B tasks, at the k recorded steps."""
    data = [task.data[tokens] for task in tasks]
    run = descend_w(
        data,
        np.stack([task.start for task in tasks]),
        PRINTED if printed else LOSS,
        step=[1.0 / risk_smoothness(one, LOSS) for one in data],
        steps=steps,
        record=record,
    )
    return run.W


def best(data: AttentionData) -> Array:
    """Return the first optimal token of each problem.

    Any other optimal token is a copy of it at a later place.
    """
    return optimal_tokens(data).index


def differ(data: AttentionData, chosen: Array) -> Bool[Array, "p T"]:
    """Return a mask (p, T) of the present tokens that differ from the chosen one as vectors."""
    kept = data.X[np.arange(data.n), chosen][:, None]
    different: Array = (kept != data.X).any(axis=2) & data.present
    return different


def programme(data: AttentionData, chosen: Array) -> Programme:
    """Return the margins between the chosen tokens and the tokens that differ from them."""
    mask = differ(data, chosen)
    mask[np.arange(data.n), chosen] = True
    apart = AttentionData(data.X, data.Z, scores=data.gamma, mask=mask)
    return att_svm_programme(apart, chosen)


def solve(
    task: Task, tokens: str, chosen: Array | None = None, *, shared: bool = True
) -> SoftAnswer:
    """Return X_soft of definition 4.1 with C = 10, for the optimal tokens or other chosen ones.

    Each sentence and token has one slack, as printed; with `shared` false each constraint has one.
    """
    data = task.data[tokens]
    margins = programme(data, best(data) if chosen is None else chosen)
    slacks = task.sentence[margins.input] * margins.shape[1] + margins.token
    return solve_soft(margins, C, slacks if shared else "constraint")


def rivals(
    task: Task, tokens: str, last: Array, generator: np.random.Generator
) -> dict[str, Array]:
    """Return the directions (r, r) that X(k) is compared with besides X_soft.

    - `first step` is -grad L(X(0)).
    - `mean difference` is the sum of all (x_opt - x_t) z^T.
    - The others are soft solutions. One has a slack for each constraint. Three are for other
      tokens: those of second-best score, random ones, those selected under the last iterate.
    """
    data = task.data[tokens]
    optimal = best(data)
    scores = np.where(data.present, data.gamma, -np.inf)
    alone = np.arange(data.n)[:, None], optimal[:, None]
    same = scores == scores[alone]
    second = np.where(same, -np.inf, scores)
    second = np.where(same.sum(axis=1) == data.present.sum(axis=1), optimal, second.argmax(axis=1))
    chance = np.where(data.present, generator.random(scores.shape), -1.0).argmax(axis=1)
    logits = np.where(data.present, logits_of_w(data.X, data.Z, last), -np.inf)
    margins = programme(data, optimal)
    return {
        "first step": -gradient_w(data, task.start, LOSS),
        "mean difference": margins.combine(np.ones(len(margins.D))),
        "second-best tokens": solve(task, tokens, second).W,
        "random tokens": solve(task, tokens, chance).W,
        "selected tokens": solve(task, tokens, logits.argmax(axis=1)).W,
        APART: solve(task, tokens, shared=False).W,
    }
