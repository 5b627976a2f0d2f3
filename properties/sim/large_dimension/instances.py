"""Data of the statement on a large dimension: laws, and explicit instances."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from properties.sim._support.laws import RandomSentences, Signs
from properties.sim._support.redundant_tokens import all_support, redundant_data

SAMPLES, ONE = 100, Fraction(1)
THREE_TOKENS = Signs(1, 3, 1000)
EVEN = RandomSentences(np.ones((2, 2), dtype=np.int64), 2, 3, 1000)
"""Two tokens that follow each other with equal chances."""
BESIDE = AttentionData.of([[[-3, 5, 4], [5, 4, 3], [4, 3, -5]]], [[1, 0, 0]], scores=[[1, 0, 0]])
"""The last token is beyond the margin; all have the squared norm 50, and products of at most 17."""
ASIDE = AttentionData.of([[[5, 0], [3, 4], [-3, 4]]], [[1, 0]], scores=[[1, 0, 0]])
"""The last token is no support vector, though all have norm 5."""
UNEVEN = AttentionData.of([[[100], [1], [2]]], [[1]], scores=[[1, 0, 0]])
"""Nearly orthogonal only against the longest token."""
SOLVABLE = st.one_of(all_support(), redundant_data())

FAIR = "the entries of n inputs of T tokens and of their queries in R^d be independent fair signs"
ORTHONORMAL = "the data be m sentences of n tokens of a language with orthonormal tokens in R^d"
