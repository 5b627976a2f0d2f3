"""Counts of tokens that contribute to the gradient, and of support vectors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.primitives import programme_letters, run_programs
from attsvm.primitives.att_svm import ExactAttSVM, Token, exact_att_svm, without
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import tight_data
from attsvm.strategies import sizes
from attsvm.strategies.data import separable_data
from attsvm.theory import Records, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.sim import LOSS_NAMES
from properties.sim._support.causal_language import Setting, best, differ, draw
from properties.sim._support.dropping import coefficients, mask
from properties.sim._support.redundant_tokens import all_support, redundant_data

GRID = 2.0**20
"""Number of multiples per unit to which tokens are rounded."""
BOTH = Descent.of([[[2], [1]]], [[1]], scores=[[1, 0]])
"""Both tokens contribute to the gradient at every X."""


@dataclass(frozen=True, slots=True)
class Default:
    """A run of figure 1 with its default sizes, by its number and by what it chooses among.

    With `whole` it chooses among the whole vocabulary, else among the sub-sequence.
    """

    run: int
    whole: bool

    @property
    def start(self) -> Descent:
        """The run from X(0), in coordinates of the span of the embeddings."""
        task = draw(0, self.run, Setting())
        return Descent(task.data["vocabulary" if self.whole else "prefix"], task.start)

    @property
    def data(self) -> AttentionData:
        """The problems of the run; of several places with the optimal token only the first is kept.

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


@run_programs.traces
@stated(
    "at most $part of all tokens contribute to the gradient of L at any X, that is $formula",
    r"m \le $part M",
    LOSS_NAMES,
    where="c_t x_t z^T with c_t = dL/d(x_t^T X z) is not 0 for m of all M tokens, and L is the "
    "mean of $loss over the inputs",
)
def contributing(m: Namespace, run: Descent, part: Number) -> Comparison:
    exact = ExactData.of(run.data)
    slopes: Any = coefficients(m, run, "all").left
    inputs = zip(exact.X, exact.Z, strict=True)
    squares = m.values([dot(x, x) * dot(z, z) for tokens, z in inputs for x in tokens])
    return m.at_most(m.sum(1 - m.is_zero(slopes * squares)), part * len(slopes))


@stated(
    "X^mm exists and $formula",
    r"m \le $part M",
    where="m of the M tokens that are not optimal are support vectors, of margin 1",
    checked=lambda m, case, part: run_programs.support(
        m, case, f"at_most(margins.count(1), Q({str(part)!r}) * len(margins))"
    ),
)
def supporting(m: Namespace, case: AttentionData | Default, part: Number) -> Comparison:
    data = case.data if isinstance(case, Default) else case
    svm = exact_att_svm(data)
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    number = sum(margin == 1 for margin in svm.margins.values())
    return m.at_most(m.exact(number), part * len(svm.margins))


@stated(
    "X^mm exists and $formula",
    r"\max_{i,t} (x_{opt} - x_{it})^\top X^{mm} z_i > $beyond",
    checked=lambda m, case: run_programs.support(m, case, "fact(any(x > 1 for x in margins))"),
)
def not_all(m: Namespace, data: AttentionData, beyond: int = 1) -> Comparison:
    svm = exact_att_svm(data)
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    if not svm.margins:
        return m.below(m.exact(0), m.exact(0))  # there is no other token
    return m.below(m.exact(beyond), m.max(m.values(list(svm.margins.values()))))


def carriers(svm: ExactAttSVM) -> list[Token]:
    """Return tokens of independent A_j that combine to X^mm with positive multipliers.

    If the A_j with positive multipliers w_j are dependent, sum_j r_j A_j = 0 with some r_j > 0.
    Then w - t r, with the least t that makes a multiplier 0, has fewer positive ones
    (Caratheodory).
    """
    duals = {t: w for t, w in svm.duals.items() if w != 0}
    while duals:
        tokens = list(duals)
        r = _dependence(svm, tokens)
        if r is None:
            break
        t = min(duals[j] / x for j, x in zip(tokens, r, strict=True) if x > 0)
        moved = {j: duals[j] - t * x for j, x in zip(tokens, r, strict=True)}
        duals = {j: w for j, w in moved.items() if w != 0}
    return list(duals)


def _dependence(svm: ExactAttSVM, tokens: list[Token]) -> list[fmpq] | None:
    """Return r with some r_j > 0 and sum_j r_j A_j = 0; None if the A_j are independent."""
    reduced, rank = svm.gram(tokens).rref()
    leads = [next(k for k in range(len(tokens)) if reduced[i, k] != 0) for i in range(rank)]
    free = [k for k in range(len(tokens)) if k not in leads]
    if not free:
        return None
    r = [fmpq(k == free[0]) for k in range(len(tokens))]
    for i, lead in enumerate(leads):
        r[lead] = -reduced[i, free[0]]
    return r


@concludes(programme_letters.few_suffice)
@stated(
    "X^mm is the same without all rivals but J of them, and $formula",
    r"J \le $by - $less",
    {
        "by": {
            "sizes": r"d \min(n, d)",
            "rank": r"\mathrm{dim} \; \mathrm{span} \{A_j \text{ tight}\}",
        }
    },
    where="n is the number of inputs, d the dimension, and A_j = (x_opt - x_t) z^T for a rival t",
)
def enough(m: Namespace, data: AttentionData, by: str = "sizes", less: int = 0) -> Relation:
    svm = exact_att_svm(data)
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    span = fmpq_mat([A for token, A in svm.A.items() if svm.margins[token] == 1]).rank()
    bound = data.d * min(data.n, data.d) if by == "sizes" else span
    needed = carriers(svm)
    kept = needed[: len(needed) - less]
    rest = exact_att_svm(without(data, mask(data, [t for t in svm.A if t not in kept])))
    if rest is None:
        return m.below(m.exact(0), m.exact(0))  # the programme cannot be met
    same = m.equal(m.values(rest.W), m.values(svm.W))
    return m.all_of(m.at_most(m.exact(len(needed)), m.exact(bound - less)), same)
