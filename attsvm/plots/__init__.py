"""Pictures of training, and their numbers.

`measures` turns trajectories into plain arrays, `table` stores them as CSV and JSON, and the
functions below draw them. matplotlib is imported only if something is drawn.
"""

from attsvm.plots.draw import histograms, progress, shares, trajectories
from attsvm.plots.measures import (
    Heading,
    counts,
    effective_tokens,
    heading,
    mean_and_error,
    projections,
    separation_margins,
    token_weights,
)
from attsvm.plots.table import Table

__all__ = [
    "Heading",
    "Table",
    "counts",
    "effective_tokens",
    "heading",
    "histograms",
    "mean_and_error",
    "progress",
    "projections",
    "separation_margins",
    "shares",
    "token_weights",
    "trajectories",
]
