"""Sentences of the statement on solvability, and laws of languages."""

import numpy as np
from flint import fmpq_mat
from hypothesis import strategies as st

from attsvm.exact import rationals
from attsvm.primitives.descent import Descent
from attsvm.strategies import composite, sizes
from attsvm.theory import Records
from properties.sim._support.telling_sentences import said
from properties.sim._support.token_sequences import sentences_of
from properties.sim.often_unsolvable.contradictions import Draws, Table


@composite
def tables(draw: st.DrawFn) -> Table:
    """One or two words with small weights, up to four sentences."""
    V, m = draw(sizes(1, 2)), draw(sizes(1, 4))
    first = [draw(sizes(1, 3)) for _ in range(V)]
    follow = [[draw(sizes(0 if b else 1, 3)) for b in range(V)] for _ in range(V)]
    return Table(np.array(first), np.array(follow), m)


TWO = said(np.eye(2), [[0, 0], [0, 1]])
ONE = said(np.eye(2), [[0, 1], [0, 1]])
OPPOSITE = said([[1.0], [-1.0]], [[0, 0], [1, 0]])
"""Opposite queries both ask for the token 1: no query asks in a circle, and there is no X^mm."""
CIRCLE = said(np.eye(3), [[0, 1, 2, 2], [1, 0, 2, 0], [0, 2, 1, 1]], whole=False)
REPEATED = said(np.eye(2), [[0, 1, 0, 1], [0, 0, 0, 1]], whole=False)
ELSEWHERE = said(np.eye(2), [[0, 1, 1], [1, 0, 1]], whole=False)
"""A word with two successors; where the second one follows, attention has a single token."""
DEFAULT = {"m": 10, "n": 5, "d": 100}


DRAWS = Records(
    Draws,
    st.builds(Draws, st.integers(0, 2**16)),
    lets="m sentences of n tokens be drawn from random languages of 20 Gaussian tokens, scaled to "
    "norm 1, with 3 successors each, of weights uniform in 1..9, drawn for each token apart, any "
    "token being the first one, each as likely",
)


def independent(case: Descent) -> bool:
    """The embeddings are linearly independent."""
    E = fmpq_mat(rationals(sentences_of(case).embeddings))
    return bool(E.rank() == len(sentences_of(case).embeddings))
