"""Formulas on margins and scores of the tokens that are not selected."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attsvm.data import AttentionData
from attsvm.errors import NotExpressible
from attsvm.exact import ExactData, dot
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm, flat, without
from attsvm.theory import concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties._support import token_choices as choices
from properties._support.token_choices import Choice


def _checked(m: Programs, data: AttentionData, over: str, chosen: str = "best") -> Proposition:
    """Return `locally_optimal` in the words of the checker.

    Raises:
        NotExpressible: it is about the tokens of lowest score, or about each input.
    """
    if over == "each" or chosen != "best":
        raise NotExpressible("a condition on other tokens than the best ones")
    if over == "support":
        return run_programs.on_data(m, data, "fact(locally_optimal(data, data.optimal, target))")
    above = "all(lead > 0 for lead in leads(data, data.optimal))"
    return run_programs.on_data(m, data, f"fact(target is not None and {above})")


@concludes(letters.best_choice)
@stated(
    "the Att-SVM of the $chosen tokens has a solution W^mm, and $over",
    symbols={
        "chosen": {"best": "best", "worst": "worst"},
        "over": {
            "all": "they score above all other tokens",
            "support": "they score above the other tokens of margin 1 under it",
            "each": "every input has a token of margin 1",
        },
    },
    checked=_checked,
)
def locally_optimal(m: Namespace, data: AttentionData, over: str, chosen: str = "best") -> Relation:
    exact, pick = ExactData.of(data), max if chosen == "best" else min
    rows = [gamma.index(pick(gamma)) for gamma in exact.gamma]
    svm = exact_att_svm(data, np.array([kept[r] for kept, r in zip(exact.kept, rows, strict=True)]))
    if svm is None:
        return m.below(m.exact(0), m.exact(0))  # no matrix of norm 1 has a margin above 0
    largest = 1 / m.norm(m.values(flat(svm.W))) if svm.A else m.exact(1)
    parts: list[Relation] = [m.below(-largest, m.exact(0))]
    margins = {place: m.values(margin) for place, margin in svm.margins.items()}
    if over == "each":
        least = [[x for (k, _), x in margins.items() if k == i] for i in range(data.n)]
        return m.all_of(*parts, *(m.at_most(m.min(m.array(x)), m.exact(1)) for x in least if x))
    for (i, t), margin in margins.items():
        gamma = m.values(exact.gamma[i])
        parts.append(led(m, gamma[rows[i]], gamma[exact.kept[i].index(t)], margin, over))
    return m.all_of(*parts)


def led(m: Namespace, chosen: Number, other: Number, margin: Number, over: str) -> Relation:
    """Return that the other token scores less, or, unless `over` is "all", is beyond the margin."""
    above = m.above(chosen, other)
    return above if over == "all" else m.any_of(m.above(margin, m.exact(1)), above)


def margins_of_rivals(m: Namespace, case: Choice) -> tuple[Any, Any]:
    """Return the rivals' margins under W^mm(alpha) and under the solution without rivals.

    Both are None if a solution does not exist or there are no rivals.
    """
    mask, whole = choices.rivals(case), exact_att_svm(case.data, case.alpha)
    rest = exact_att_svm(without(case.data, mask), case.alpha)
    if whole is None or rest is None or not mask.any():
        return None, None
    named = [t for t in whole.A if mask[t]]
    own = m.values([whole.margins[t] for t in named])
    return own, m.values([dot(whole.A[t], flat(rest.W)) for t in named])


@concludes(letters.least_margin)
@stated(
    "$formula",
    r"\min_r m_r = \max($floor, $of)",
    {"of": {"min": r"\min_r m'_r", "max": r"\max_r m'_r", "none": "1"}},
    where="r runs over the rivals, tokens other than alpha_i of no lower score, m_r are their "
    "margins under W^mm(alpha), and m'_r those under the solution without constraints for rivals",
)
def least_margin(m: Namespace, case: Choice, floor: Number = 1, of: str = "min") -> Comparison:
    own, others = margins_of_rivals(m, case)
    if own is None:
        return m.below(m.exact(0), m.exact(0))  # there is no such margin
    floor = floor * m.exact(1)
    beyond: Callable[[Numbers], Number] = {"min": m.min, "max": m.max, "none": lambda x: floor}[of]
    return m.equal(m.min(own), m.maximum(floor, beyond(others)))
