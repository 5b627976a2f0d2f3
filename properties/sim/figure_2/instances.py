"""Sentences of figure 2, and siblings with a hypothesis dropped."""

import numpy as np

from attsvm.primitives.hypotheses import BASIN, FEASIBLE, UNIQUE
from attsvm.theory import changed
from properties.sim._support import telling_sentences as sentences

TORN = sentences.said(np.eye(2), [[0, 0], [0, 1]])
"""The margins are m and -m."""
DROPPED_HYPOTHESES = {
    "any start": changed(drop=[BASIN], examples=[sentences.ELSEWHERE]),
    "tied optimal tokens": changed(drop=[UNIQUE], examples=[sentences.TIED]),
    "Att-SVM need not be feasible": changed(drop=[FEASIBLE], examples=[sentences.IDLE]),
}
