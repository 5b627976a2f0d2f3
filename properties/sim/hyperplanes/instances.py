"""Instances of the statement on hyperplanes: sentences, and strategies that draw them."""

import numpy as np
from hypothesis import strategies as st

from attsvm.primitives.descent import Descent
from attsvm.theory import Records
from properties.sim._support.telling_sentences import (
    SUB_SEQUENCES,
    drawn_sequences,
    followed,
    sentence_run,
)
from properties.sim.hyperplanes.conclusion import one_successor, still

REPEATED = sentence_run([[1.0], [0.0]], [[0, 0, 0]])
EXCHANGED = sentence_run([[1.0], [-1.0]], [[0, 1, 0]])
ONE_QUERY = sentence_run([[1, 0], [1, 1], [2, 1]], [[1, 0, 1], [2, 0, 2]], whole=False)
CONFLICT = sentence_run(np.eye(2), [[0, 0], [0, 1]])
"""A token with two successors: there is no X^mm."""


LANGUAGE = st.one_of(one_successor(), followed().map(still), drawn_sequences(from_zero=True))
OF_VOCABULARY = Records(
    Descent,
    LANGUAGE,
    fixed=("start", "step", "inputs.whole", "loss"),
    lets=f"inputs be {SUB_SEQUENCES}",
)
