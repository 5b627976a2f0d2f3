"""Sentences of a language: drawn ones, and short ones that tell readings of figures apart."""

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import DataError, SolverError
from attsvm.exact import dot, rationals
from attsvm.primitives.descent import Descent
from attsvm.primitives.sentences import Sentences
from attsvm.primitives.steps import ANY, ITERATED, stepped
from attsvm.strategies import arrays, composite, sizes
from attsvm.svm import att_svm_programme
from attsvm.svm.soft import SoftAnswer, solve_soft
from attsvm.theory import Records
from attsvm.theory.types import Nested
from attsvm.tokens import optimal_tokens

C = 10
"""The price of slack in X_soft, as a factor of its sum."""


def on_sentences(E: Array, sentences: Array, start: Array, whole: bool) -> Descent:
    """Return descent on X for sentences; attention chooses among their own tokens or all tokens."""
    return Descent(Sentences(E, sentences, whole), start)


def sentences_of(case: Descent) -> Sentences:
    """Return the inputs of descent on sentences."""
    inputs: Any = case.inputs
    sentences: Sentences = inputs
    return sentences


@composite
def drawn_sequences(draw: st.DrawFn, *, from_zero: bool = False) -> Descent:
    """Draw a run on up to three sentences of two or three tokens, from up to three tokens."""
    V, whole = draw(sizes(2, 3)), draw(st.booleans())
    m, n = draw(sizes(1, 3)), draw(sizes(2 if whole else 3, 3))
    words = draw(st.binary(min_size=m * n, max_size=m * n))
    sentences = np.frombuffer(words, dtype=np.uint8).reshape(m, n).astype(np.int64) % V
    plain = draw(st.booleans())
    d = V if plain else draw(sizes(1, 3))
    E = np.eye(V) if plain else draw(arrays(V, d))
    start = np.zeros((d, d)) if from_zero or draw(st.booleans()) else draw(arrays(d, d))
    return on_sentences(E, sentences, start, whole)


@composite
def followed(draw: st.DrawFn) -> Descent:
    """Draw sentences of up to four orthonormal tokens of any sign, each with one successor."""
    V = draw(sizes(2, 4))
    after = draw(st.lists(sizes(0, V - 1), min_size=V, max_size=V))
    rows = [draw(st.lists(sizes(0, V - 1), min_size=1, max_size=3))]
    for _ in range(draw(sizes(1, 3))):
        rows.append([after[t] for t in rows[-1]])
    signs = np.where(draw(arrays(V)) < 0.0, -1.0, 1.0)
    E = np.eye(V)[draw(st.permutations(range(V)))] * signs
    return on_sentences(E, np.array(rows).T, draw(arrays(V, V)), True)


def soft(data: AttentionData) -> SoftAnswer | None:
    """Return X_soft in floats, with a recomputed gap; None if the solver fails."""
    try:
        return solve_soft(att_svm_programme(data, optimal_tokens(data).index), float(C))
    except (SolverError, DataError):
        return None


@composite
def started(draw: st.DrawFn) -> Descent:
    """Draw sequences started at four times X_soft, rounded to 64ths, plus a random part."""
    case = draw(drawn_sequences())
    solution, noise = soft(case.data), draw(arrays(*case.start.shape)) / 8
    along = 0.0 if solution is None else np.round(256.0 * solution.W) / 64
    return replace(case, start=along + noise)


SUB_SEQUENCES = (
    "sub-sequences of sentences, each with its last word as the query z, its words or the whole "
    "vocabulary as tokens x_t, and the scores <x_t, e>, e the word that follows it"
)
"""The inputs that sentences make, in words."""


def sentence_run(
    tokens: ArrayLike, sentences: Nested, start: Nested | None = None, *, whole: bool = True
) -> Descent:
    """Return sentences of tokens, from X(0) = 0 unless a start is given."""
    E = np.array(tokens, dtype=float)
    zero = np.zeros((E.shape[1], E.shape[1]))
    return on_sentences(E, np.array(sentences), zero if start is None else np.array(start), whole)


def runs(
    drawn: st.SearchStrategy[Descent],
    steps: tuple[float, ...] = ANY,
    fixed: tuple[str, ...] = (),
) -> Records:
    """Return the records of descent on drawn sentences, with steps of these sizes."""
    lets = f"{ITERATED}, on inputs that are {SUB_SEQUENCES}"
    return replace(stepped(Descent, drawn, fixed=fixed, steps=steps), lets=lets)


OUTVOTED = sentence_run(np.eye(3), [[0, 0], [0, 0], [0, 1]])
ASIDE = sentence_run(np.eye(2), [[0, 0]], [[1.0, 0.0], [0.0, 0.0]])
LEAVES, ALONG, BEHIND = (
    sentence_run([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[2, 1]], [[a, 0.0], [b, 0.0]])
    for a, b in ((0.0, 1.0), (0.0, 4.0), (1.0, -2.0))
)
"""X_soft = (0, 0; 1, 0). The first run starts on its ray and leaves it at once; the second starts
in the basin, the third one behind the ray."""
ELSEWHERE = sentence_run([[3.0, 1.0], [0.0, 3.0], [0.0, 2.0]], [[0, 0]], [[0.0, 0.0], [8.0, 0.0]])
"""The run keeps the second token for ever. Along (0, 1) its logit exceeds that of the third token
by 1 and that of the first one by 2."""
TIED = sentence_run([[0.0, 1.0], [1.0, 1.0]], [[0, 0], [1, 1]])
"""The gradient of the first sentence is 0, and the margin that it asks for decreases for ever."""
SLIGHT = sentence_run([[0.0625, 0.0], [0.0, 1.0]], [[0, 0], [1, 1]], [[0.0, 0.0], [-256.0, 16.0]])
"""One constraint is 16 times shorter than the other, so slack for it is cheaper than a margin."""
IDLE = sentence_run([[1.0], [0.0]], [[1, 0]])
"""The query is 0."""
SHARED = sentence_run([[1.0, 0.0], [1.0, 1.0]], [[0, 1], [1, 0]])
"""The tokens are not orthogonal."""

LEAPING = replace(
    sentence_run([[1.0, -1.0], [-3.0, 1.0]], [[0, 0], [1, 0]], [[-0.5, -0.75], [0.25, 0.5]]),
    step=128.0,
)
"""In the basin; the first step takes the second sentence to its worse token for ever."""


def orthonormal(case: Descent) -> bool:
    """Return whether E E^T = I and attention chooses among the whole vocabulary."""
    E = rationals(sentences_of(case).embeddings)
    unit = all(dot(x, y) == (i == j) for i, x in enumerate(E) for j, y in enumerate(E))
    return unit and sentences_of(case).whole


def one_successor(case: Descent) -> bool:
    """Return whether each token has the same successor wherever it occurs."""
    after: dict[int, int] = {}
    pairs = zip(
        sentences_of(case).sentences[:, :-1].flat,
        sentences_of(case).sentences[:, 1:].flat,
        strict=True,
    )
    return all(after.setdefault(int(a), int(b)) == int(b) for a, b in pairs)


SHORTEST = sentence_run([[1.0], [0.0]], [[0, 0]])
