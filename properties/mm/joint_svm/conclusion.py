"""The relaxed programme: its existence, distance from 0 and comparisons, and hypotheses."""

from typing import Any

from attsvm.exact import dot
from attsvm.primitives.att_svm import pythagoras
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm._support import max_margin as svm
from properties.mm._support import programme_letters as letters
from properties.mm._support import selection_programs
from properties.mm._support.max_margin import relaxed
from properties.mm._support.token_selections import Selection


def essential(case: Selection) -> list[bool]:
    """Return whether v(alpha) would be another without an input, for each input."""
    v = svm.v_programme(case)
    others = [v.rows[:i] + v.rows[i + 1 :] for i in range(len(v.rows))]
    return [svm.solve(rows, case.X.shape[2]).vector != v.vector for rows in others]


def of_support(case: Selection) -> Any:
    """Return p_S: the p-SVM of only the inputs whose margin under v(alpha) is tight."""
    rows, tight = svm.p_rows(case), svm.of_rivals(case, svm.v_programme(case).tight)
    return svm.solve([row for row, kept in zip(rows, tight, strict=True) if kept], case.X.shape[2])


def ranks(case: Selection) -> bool:
    """Return whether p_S exists and ranks alpha_i first in every input."""
    p = of_support(case).vector
    return p is not None and all(dot(p, row) >= 0 for row in svm.p_rows(case))


P_EXISTS = Hypothesis(
    "p(alpha) without relaxation exists",
    lambda case: svm.p_programme(case).exists,
    proposition=letters.rows_met(letters.PROMPT),
)
S_EXISTS = Hypothesis("the p-SVM of S alone has a solution", lambda case: of_support(case).exists)
RANKS = Hypothesis(
    "the p-SVM of S alone has a solution, which ranks alpha_i first in all inputs",
    ranks,
    proposition=letters.ranked,
)

RELAXED = (
    "p(alpha) is the shortest p with <p, D_it> >= 1 for i in S and >= 0 for other i, D_it = "
    "k_i,alpha_i - k_it for t != alpha_i, S are the inputs of tight margin, Y_i <v(alpha), "
    "x_i,alpha_i> = 1"
)


@stated(
    "v(alpha) exists, and so does p(alpha), that is $formula",
    r"\frac{1}{\|p(\alpha)\|} > $share \min_j \|D_j\|",
    where=f"{RELAXED}, and {svm.V_MEANS}",
    checked=selection_programs.relaxed_exists,
)
def both_exist(m: Namespace, case: Selection, share: Number = 0) -> Relation:
    p = svm.solved(m, relaxed(case))
    return m.all_of(svm.exceeds(m, svm.v_svm(m, case)), svm.exceeds(m, p, share))


@stated(
    "there is no v(alpha), neither p(alpha) nor p'(alpha) exists, or $formula",
    r"p(\alpha) = $share p'(\alpha)",
    {
        "against": {
            "essential": "with the inputs whose multiplier is positive in all multipliers of "
            "v(alpha) as S",
            "plain": "without relaxation",
        }
    },
    where=f"{RELAXED}, and p'(alpha) is the same $against",
    checked=selection_programs.relaxed_unambiguous,
)
def unambiguous(
    m: Namespace, case: Selection, share: Number = 1, against: str = "essential"
) -> Comparison:
    either = [relaxed(case), svm.p_programme(case)]
    if against == "essential":
        either[1] = svm.p_programme(case, essential(case))
    if not all(p.exists for p in either) or not svm.v_programme(case).exists:
        lost = svm.v_programme(case).exists and any(p.exists for p in either)
        return m.equal(m.exact(int(lost)), m.exact(0))  # without v(alpha) there is no S
    one, other = (svm.solved(m, p).vector for p in either)
    return m.equal(one, share * other)


@concludes(letters.exists_off_hull)
@stated(
    "",
    r"\min_i Y_i \langle v(\alpha), x_{i,\alpha_i}\rangle = 1 \text{ and } "
    r"\frac{1}{\|p(\alpha)\|} = $share $of",
    {"of": {"hull": r"\mathrm{dist}(0, C)", "row": r"\min_j \|D_j\|"}},
    where=f"C = conv{{D_it, i in S}} + cone{{D_it, i not in S}}, {RELAXED}, and 1/||p(alpha)|| is "
    "0 if there is no p(alpha)",
)
def exists_off_hull(m: Namespace, case: Selection, share: Number = 1, of: str = "hull") -> Relation:
    v, p = svm.v_svm(m, case), svm.solved(m, relaxed(case))
    return m.all_of(m.equal(m.min(v.rows @ v.vector), m.exact(1)), svm.is_distance(m, p, share, of))


@concludes(letters.shorter)
@stated(
    "",
    r"$share \|p_0 - p(\alpha)\|^2 \le \|p_0\|^2 - \|p(\alpha)\|^2",
    where=f"{RELAXED}, and p_0 is the same without relaxation, as if all inputs were in S",
)
def shorter(m: Namespace, case: Selection, share: Number = 1) -> Comparison:
    if not svm.v_programme(case).exists:
        return m.below(m.exact(0), m.exact(0))  # there is no v(alpha), and no S
    return pythagoras(m, svm.p_svm(m, case).vector, svm.solved(m, relaxed(case)).vector, share)


@concludes(letters.by_support)
@stated(
    "",
    r"p(\alpha) = $share p_S",
    {"against": {"relaxed": "with", "plain": "without"}},
    where=f"{RELAXED}, taken $against relaxation, and p_S is the solution for S alone",
)
def by_support(
    m: Namespace, case: Selection, share: Number = 1, against: str = "relaxed"
) -> Relation:
    p = svm.solved(m, relaxed(case)) if against == "relaxed" else svm.p_svm(m, case)
    same = m.equal(p.vector, share * svm.solved(m, of_support(case)).vector)
    return m.all_of(svm.exceeds(m, svm.v_svm(m, case)), same)
