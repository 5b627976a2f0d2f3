"""Sentences of two or three tokens that tell readings of figures 1 and 2 apart, by name."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from attsvm.exact import dot, rationals
from attsvm.primitives.descent import Descent
from attsvm.primitives.steps import ANY, stepped
from attsvm.theory import Records
from attsvm.theory.types import Nested
from properties.sim._support.token_sequences import on_sentences, sentences_of


def said(
    tokens: Any, sentences: Nested, start: Nested | None = None, *, whole: bool = True
) -> Descent:
    """Sentences of tokens, from X(0) = 0 unless a start is given."""
    E = np.array(tokens, dtype=float)
    zero = np.zeros((E.shape[1], E.shape[1]))
    return on_sentences(E, np.array(sentences), zero if start is None else np.array(start), whole)


def runs(
    drawn: st.SearchStrategy[Descent],
    steps: tuple[float, ...] = ANY,
    fixed: tuple[str, ...] = (),
) -> Records:
    """Return the records of descent on drawn sentences, with steps of these sizes."""
    lets = "gradient descent run on sentences of a language, from a start, with a constant step"
    return replace(stepped(Descent, drawn, fixed=fixed, steps=steps), lets=lets)


OUTVOTED = said(np.eye(3), [[0, 0], [0, 0], [0, 1]])
ASIDE = said(np.eye(2), [[0, 0]], [[1.0, 0.0], [0.0, 0.0]])
LEAVES, ALONG, BEHIND = (
    said([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[2, 1]], [[a, 0.0], [b, 0.0]])
    for a, b in ((0.0, 1.0), (0.0, 4.0), (1.0, -2.0))
)
"""X_soft = (0, 0; 1, 0), and the first step leaves its ray; the same in the basin; behind it."""
ELSEWHERE = said([[3.0, 1.0], [0.0, 3.0], [0.0, 2.0]], [[0, 0]], [[0.0, 0.0], [8.0, 0.0]])
"""Kept for ever at the second token, which beats the third by 1 and the first by 2."""
TIED = said([[0.0, 1.0], [1.0, 1.0]], [[0, 0], [1, 1]])
"""The gradient of the first sentence is 0, and the margin that it asks for falls for ever."""
SLIGHT = said([[0.0625, 0.0], [0.0, 1.0]], [[0, 0], [1, 1]], [[0.0, 0.0], [-256.0, 16.0]])
"""One constraint is 16 times shorter than the other, and slack is cheaper."""
IDLE = said([[1.0], [0.0]], [[1, 0]])
"""The query is 0."""
SHARED = said([[1.0, 0.0], [1.0, 1.0]], [[0, 1], [1, 0]])
"""The tokens are not orthogonal."""

LEAPING = replace(
    said([[1.0, -1.0], [-3.0, 1.0]], [[0, 0], [1, 0]], [[-0.5, -0.75], [0.25, 0.5]]), step=128.0
)
"""In the basin; the first step takes the second sentence to its worse token for ever."""


def orthonormal(case: Descent) -> bool:
    """E E^T = I, and tokens are the whole vocabulary."""
    E = rationals(sentences_of(case).embeddings)
    unit = all(dot(x, y) == (i == j) for i, x in enumerate(E) for j, y in enumerate(E))
    return unit and sentences_of(case).whole


def one_successor(case: Descent) -> bool:
    """After each token comes the same token wherever it stands."""
    after: dict[int, int] = {}
    pairs = zip(
        sentences_of(case).sentences[:, :-1].flat,
        sentences_of(case).sentences[:, 1:].flat,
        strict=True,
    )
    return all(after.setdefault(int(a), int(b)) == int(b) for a, b in pairs)


SHORTEST = said([[1.0], [0.0]], [[0, 0]])
