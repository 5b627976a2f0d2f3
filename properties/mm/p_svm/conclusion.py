"""Conclusions about margins, lengths and leads of p(alpha), and hypotheses on heads q."""

import numpy as np

from attsvm._types import Array
from attsvm.exact import dot, rationals
from attsvm.primitives.att_svm import pythagoras
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm._support import max_margin as svm
from properties.mm._support import programme_letters as letters
from properties.mm._support.token_selections import Rival, Selection


def optimal(case: Rival) -> bool:
    """Return whether alpha_i has the highest score under the head q."""
    X, q, y = rationals(case.chosen.X), rationals(case.q), case.chosen.y.tolist()
    table = [[sign * dot(q, x) for x in tokens] for sign, tokens in zip(y, X, strict=True)]
    return all(row[a] == max(row) for row, a in zip(table, case.chosen.alpha.tolist(), strict=True))


def labels(case: Rival) -> Array:
    """Return the label of each constraint; a batch in torch has one label."""
    return np.repeat(case.chosen.y, case.chosen.X.shape[-2] - 1)


def alone(case: Rival) -> bool:
    """Return whether alpha_i alone has the highest score under the head W^T q."""
    pairs = zip(labels(case).tolist(), svm.p_rows(case.chosen), strict=True)
    return all(y * dot(rationals(case.q), row) > 0 for y, row in pairs)


def feasible(case: Rival) -> bool:
    """Return whether <q, k_i,alpha_i - k_it> >= 1 for all i and t."""
    return all(dot(rationals(case.q), row) >= 1 for row in svm.p_rows(case.chosen))


OPTIMAL = Hypothesis(
    "alpha_i has the highest score",
    optimal,
    says="alpha_i has the highest score Y_i <q, x_it> in each input i",
    checked="fact(all(b * inner(q, minus(tokens[a], x)) >= 0"
    " for tokens, b, a in zip(X, y, alpha) for x in tokens))",
)
ALONE = Hypothesis(
    "alpha_i alone has the highest score",
    alone,
    says="alpha_i alone has the highest score Y_i <q, k_it> in each input i",
    proposition=letters.alone,
)
ONE_LABEL = Hypothesis(
    "all labels agree",
    lambda case: len(set(case.chosen.y.tolist())) == 1,
    proposition=letters.one_label,
)
MEETS = Hypothesis(
    "q meets every constraint",
    feasible,
    says="<q, k_i,alpha_i - k_it> >= 1 for all i and t other than alpha_i",
    proposition=letters.q_meets,
)


@stated(
    "there is a p(alpha), that is $formula",
    where="1/||p(alpha)|| is 0 if there is no p(alpha)",
    checked=svm.prompt_exists,
)
def exists(m: Namespace, case: Rival | Selection, share: Number = 0) -> Relation:
    """1/||p(alpha)|| is above a share of the shortest difference of keys."""
    return svm.exceeds(m, svm.p_svm(m, case), share)


def least_lead(m: Namespace, case: Rival, p: svm.Solved) -> Number:
    """Return min_i,t Y_i q^T (k_i,alpha_i - k_it), the least lead in score under the head W^T q."""
    return m.min(m.values(labels(case)) * (p.rows @ m.values(case.q)))


@concludes(letters.led)
@stated(
    "p(alpha) exists and $formula",
    r"\min_{i, t \ne \alpha_i} Y_i \langle q, k_{i,\alpha_i} - k_{it}\rangle \le $share "
    r"\frac{\|q\|}{\|p(\alpha)\|}",
    where=svm.P_MEANS,
)
def led(m: Namespace, case: Rival, share: Number = 1) -> Relation:
    p = svm.p_svm(m, case)
    if p.margin is None:
        return svm.exceeds(m, p)
    bound = share * p.margin * m.norm(m.values(case.q))
    return m.all_of(svm.exceeds(m, p), m.at_most(least_lead(m, case, p), bound))


@concludes(letters.nearer)
@stated(
    "",
    r"$share \|q - p(\alpha)\|^2 \le \|q\|^2 - \|p(\alpha)\|^2",
    where=svm.P_MEANS,
)
def projected(m: Namespace, case: Rival, share: Number = 1) -> Comparison:
    """||q - p(alpha)||^2 <= ||q||^2 - ||p(alpha)||^2."""
    return pythagoras(m, m.values(case.q), svm.p_svm(m, case).vector, share)


@concludes(letters.is_distance(letters.PROMPT))
@stated(
    "",
    where="1/||p(alpha)|| is 0 if there is no p(alpha), and both sides are infinite if there are "
    "no rows",
)
def distance(
    m: Namespace, case: Rival | Selection, share: Number = 1, of: str = "hull"
) -> Comparison:
    """1/||p(alpha)|| is the distance of the hull from 0."""
    return svm.is_distance(m, svm.p_svm(m, case), share, of)


@concludes(letters.unchanged(letters.PROMPT, letters.TIGHT_PROMPT))
def unchanged(m: Namespace, case: Rival | Selection, keep: str = "tight") -> Relation:
    """Return that p(alpha) of the constraints that are kept is p(alpha)."""
    return svm.supported(m, svm.p_svm(m, case), keep)
