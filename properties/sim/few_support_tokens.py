"""A few tokens: how many contribute to the gradient, and how many are support vectors.

"Few" is not defined and is read as weakly as it can be: no more than half. grad L(X) = sum_it c_it
x_it z_i^T, and X^mm = sum_j w_j A_j with multipliers w_j >= 0, A_j = (x_opt - x_t) z^T for each
token that is not optimal. Feature vectors are support vectors, tokens of margin 1 under X^mm: of
these literal-2 and literal-4 can speak only where X^mm exists, and part 1 of assumption 3.10 in
literal-3 says itself that it does.

A token contributes where c_it x_it z_i^T is not 0. Attention is positive, so c_it is 0 only where
the score of a token is the attended one: with the tokens 2, 1 and scores 1, 0 both contribute at
every X, and the second one is a support vector.
Part 1 of assumption 3.10 says that all tokens are support vectors, so that under it not even "not
all" can be said.

On the default of figure 1 (m = 10, n = 5, d = 100), tokens of the sub-sequence, 8 of the first 100
runs have an X^mm, the least of them run 20, and 76% to 93% of the tokens that are not optimal are
support vectors of it: 42 to 55 of 52 to 59. In the others, and in all of runs 0 to 4 over the whole
vocabulary, no X^mm exists, as tokens of the language have several successors. X_soft with C = 10
has margins of at most 1 on 52, 41, 52, 55, 46 of 59, 60, 58, 57, 52 tokens that are not optimal
(runs 0 to 4, tokens of the sub-sequence), and on 303, 311, 334, 352, 425 of 760 (the whole
vocabulary). At X(0) all tokens of sub-sequences that hold two different ones contribute to the
gradient, and 43 to 62 of 81 to 90 make 90% of the sum of |c_it| (runs 0 to 4). After 10,000 steps
these are 7 to 56, and of 800 tokens of the vocabulary 12 and 8 (runs 0 and 1): there the gradient
does come from a few tokens in the end, not in each update.
More is said in `symbolic/sim/few_support_tokens.py`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.primitives.att_svm import ExactAttSVM, Token, exact_att_svm, without
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import runs, tight_data
from attsvm.primitives.hypotheses import (
    ALL_TIGHT,
    FEASIBLE,
    UNIQUE,
)
from attsvm.strategies import sizes
from attsvm.strategies.data import attention_data, separable_data
from attsvm.theory import Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties._support.hypothesis_violations import NO_QUERY
from properties.sim import SOURCE
from properties.sim._support.causal_language import Setting, best, differ, draw
from properties.sim._support.dropping import coefficients, mask
from properties.sim._support.redundant_tokens import all_support, redundant_data
from properties.sim._support.training import ONE_TOKEN, PRINTED, TWO_TOKENS

GRID = 2.0**20
BOTH = Descent.of([[[2], [1]]], [[1]], scores=[[1, 0]])
"""Both tokens contribute to the gradient at every X."""
EQUAL = AttentionData.of([[[1], [0], [0]]], [[1]], scores=[[1, 0, 0]])
"""The constraints of equal tokens are equal."""


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


@stated(
    "at most $part of all tokens contribute to the gradient of L at any X, that is $formula",
    r"m \le $part M",
    where="c_t x_t z^T with c_t = dL/d(x_t^T X z) is not 0 for m of all M tokens, and L is the "
    "mean of g(b <f, h>) over the inputs",
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
)
def supporting(m: Namespace, case: AttentionData | Default, part: Number) -> Comparison:
    data = case.data if isinstance(case, Default) else case
    found = exact_att_svm(data)
    if found is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    number = sum(margin == 1 for margin in found.margins.values())
    return m.at_most(m.exact(number), part * len(found.margins))


@stated("X^mm exists and $formula", r"\max_{i,t} (x_{opt} - x_{it})^\top X^{mm} z_i > $beyond")
def not_all(m: Namespace, data: AttentionData, beyond: int = 1) -> Comparison:
    found = exact_att_svm(data)
    if found is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    if not found.margins:
        return m.below(m.exact(0), m.exact(0))  # there is no other token
    return m.below(m.exact(beyond), m.max(m.values(list(found.margins.values()))))


def carriers(found: ExactAttSVM) -> list[Token]:
    """Tokens of independent A_j whose combination X^mm is, with multipliers above 0.

    As long as those of positive multiplier are dependent, sum_j r_j A_j = 0 with some r_j > 0, and
    w - t r with the least t that makes a multiplier 0 has one fewer (Caratheodory).
    """
    duals = {t: w for t, w in found.duals.items() if w != 0}
    while duals:
        tokens = list(duals)
        r = _dependence(found, tokens)
        if r is None:
            break
        t = min(duals[j] / x for j, x in zip(tokens, r, strict=True) if x > 0)
        moved = {j: duals[j] - t * x for j, x in zip(tokens, r, strict=True)}
        duals = {j: w for j, w in moved.items() if w != 0}
    return list(duals)


def _dependence(found: ExactAttSVM, tokens: list[Token]) -> list[fmpq] | None:
    """A vector r with some r_j > 0 and sum_j r_j A_j = 0; None where the A_j are independent."""
    reduced, rank = found.gram(tokens).rref()
    leads = [next(k for k in range(len(tokens)) if reduced[i, k] != 0) for i in range(rank)]
    free = [k for k in range(len(tokens)) if k not in leads]
    if not free:
        return None
    r = [fmpq(k == free[0]) for k in range(len(tokens))]
    for i, lead in enumerate(leads):
        r[lead] = -reduced[i, free[0]]
    return r


@stated(
    "X^mm is the same without all rivals but J of them, and $formula",
    r"J \le $by - $less",
    {
        "by": {
            "sizes": r"d \min(n, d)",
            "rank": r"\mathrm{dim} \; \mathrm{span} \{A_j \text{ tight}\}",
        }
    },
)
def enough(m: Namespace, data: AttentionData, by: str = "sizes", less: int = 0) -> Relation:
    found = exact_att_svm(data)
    if found is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    span = fmpq_mat([A for token, A in found.A.items() if found.margins[token] == 1]).rank()
    bound = data.d * min(data.n, data.d) if by == "sizes" else span
    needed = carriers(found)
    kept = needed[: len(needed) - less]
    rest = exact_att_svm(without(data, mask(data, [t for t in found.A if t not in kept])))
    if rest is None:
        return m.below(m.exact(0), m.exact(0))  # the programme cannot be met
    same = m.equal(m.values(rest.W), m.values(found.W))
    return m.all_of(m.at_most(m.exact(len(needed)), m.exact(bound - less)), same)


SEPARABLE = Default(20, False)
"""The first run of figure 1 over sub-sequences that has an X^mm."""
FIGURE_RUNS = Records(
    Default,
    st.builds(Default, sizes(0, 999), st.just(False)),
    fixed=("whole",),
    lets="the data be those of a run of figure 1 with its default sizes, over the sub-sequence",
)
PROGRAMMES = st.one_of(separable_data(T=(2, 6)), redundant_data(), all_support(), tight_data())

FEW = Statement(
    "sim/few-support-tokens",
    rests_on=("sim/token-sparsity",),
    source=SOURCE,
    place="Section 1, token selection and contextual sparsity; section 3.2",
    printed="... our experiments show that only a few tokens, which can be regarded as feature "
    "vectors, contribute to the gradient computation for each update",
    variables=Records(AttentionData, PROGRAMMES),
    conclusion=supporting,
    cost=2,
    violating={FEASIBLE: [NO_QUERY.data]},
    readings={
        "literal-1": Reading(
            "refuted",
            read={"only a few": "at most 1/2 of them"},
            fixed={"loss": PRINTED},
            constants={"part": "1/2"},
            under=(),
            variables=Records(Descent, runs(attention_data(), 0, 2), fixed=("step",)),
            conclusion=contributing,
            examples=(BOTH, Default(0, False).start),
            siblings={"at most 9 of 10": changed(part="0.9")},
        ),
        "literal-2": Reading(
            "refuted",
            read={"only a few": "at most 1/2 of them"},
            constants={"part": "1/2"},
            under=(FEASIBLE,),
            examples=(TWO_TOKENS.data,),
            siblings={"at most 9 of 10": changed(part="0.9")},
        ),
        "literal-3": Reading(
            "refuted",
            read={"only a few": "not all"},
            under=(UNIQUE, ALL_TIGHT),
            conclusion=not_all,
            examples=(TWO_TOKENS.data,),
            siblings={"some token has a margin above 2": changed(beyond=2)},
        ),
        "literal-4": Reading(
            "refuted",
            read={"only a few": "at most 1/2 of them"},
            constants={"part": "1/2"},
            under=(FEASIBLE,),
            variables=FIGURE_RUNS,
            examples=(SEPARABLE,),
            siblings={"at most 9 of 10": changed(part="0.9")},
            cost=20,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.sim.few_support_tokens:prove_by_sizes",
            under=(FEASIBLE,),
            conclusion=enough,
            examples=(EQUAL, ONE_TOKEN.data),
            siblings={"one fewer": changed(less=1)},
        ),
        "sharp": Reading(
            "proved",
            proof="symbolic.sim.few_support_tokens:prove_by_rank",
            under=(FEASIBLE,),
            constants={"by": "rank"},
            conclusion=enough,
            examples=(EQUAL, ONE_TOKEN.data),
            siblings={"one fewer": changed(less=1)},
        ),
    },
)
