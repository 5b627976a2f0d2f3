"""Instances of the statement on a few tokens: runs of figure 1, and data of the programme."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import tight_data
from attsvm.strategies import sizes
from attsvm.strategies.data import separable_data
from attsvm.theory import Records
from properties.sim._support.causal_language import Setting, best, differ, draw
from properties.sim._support.redundant_tokens import all_support, redundant_data

GRID = 2.0**20
BOTH = Descent.of([[[2], [1]]], [[1]], scores=[[1, 0]])
"""Both tokens contribute to the gradient at every X."""


@dataclass(frozen=True, slots=True)
class Default:
    """A run of figure 1 with its default sizes, by its number and by what it chooses among."""

    run: int
    whole: bool

    @property
    def start(self) -> Descent:
        """The run from X(0), in coordinates of the span of the embeddings."""
        task = draw(0, self.run, Setting())
        return Descent(task.data["vocabulary" if self.whole else "prefix"], task.start)

    @property
    def data(self) -> AttentionData:
        """Its problems; of places that hold the optimal token only the first is kept.

        Tokens are rounded to multiples of 1/GRID: coordinates come from LAPACK, whose last bits
        depend on the processor.
        """
        data = self.start.data
        chosen = best(data)
        kept = differ(data, chosen)
        kept[np.arange(data.n), chosen] = True
        X, Z = (np.round(a * GRID) / GRID for a in (data.X, data.Z))
        return AttentionData(X, Z, scores=data.gamma, mask=kept)


SEPARABLE = Default(20, False)
"""The first run of figure 1 over sub-sequences that has an X^mm."""
FIGURE_RUNS = Records(
    Default,
    st.builds(Default, sizes(0, 999), st.just(False)),
    fixed=("whole",),
    lets="the data be those of a run of figure 1 with its default sizes, over the sub-sequence",
)
PROGRAMMES = st.one_of(separable_data(T=(2, 6)), redundant_data(), all_support(), tight_data())
