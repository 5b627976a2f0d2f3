"""Joint v- and p-SVMs: margins of p(alpha) relaxed to 0 where an input does not support v.

    p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i not in S;
    S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM.

Inputs, keys and the selections alpha are those of `mm/v-svm` and `mm/p-svm`. D_it stands for
k_i,alpha_i - k_it. S consists of the inputs whose margin Y_i v(alpha)^T x_i,alpha_i is tight, that
is 1, unless something else is said.

Neither programme need have a solution (tokens 1 and 1 of one input have no p(alpha)), though the
relaxed one can have one where the p-SVM has none (RESCUED). A support vector can be an input of
tight margin, one of positive multiplier or, as multipliers need not be unique, one whose multiplier
is positive whichever are taken: an input without which v(alpha) would be another. On the published
inputs {0, (1,1)}, {0, (1,-1)} and {0, (0.5,1)} with labels 1, -1 and 1 all margins of v = (0, 1)
are tight, but the multipliers (1/2, 1/2, 0) and (0, 1/3, 2/3) both prove it optimal. So S is {1, 2,
3}, {1, 2}, {2, 3} or {2}, and p(alpha) is (4/3, 1/3), (1, 0), (4/3, 1/3) or (2/3, -1/3): three
directions. Where two inputs select one token under one label, the last way to read it leaves S
empty and p(alpha) = 0, which has no direction (TWICE).

In `amended` S is not empty, p(alpha) is unique, and C = conv{D_it: i in S} + cone{D_it: i not in S}
is at distance 1/||p(alpha)|| from 0. `sharp-1` is Pythagoras' inequality: relaxing enlarges the
feasible set, and p' is its point nearest 0. In `sharp-2` the solution p_S of the inputs of S alone
meets the other constraints, and is shortest among all that meet those of S. It solves the p-SVM
without relaxation only where its margins are 1 in the other inputs as well.
"""

from typing import Any

from hypothesis import strategies as st

from attsvm.exact import dot
from attsvm.primitives.att_svm import pythagoras
from attsvm.primitives.torch_objectives import in_torch
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed, stated
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm import SOURCE
from properties.mm._support import max_margin as svm
from properties.mm._support import token_selections as cases
from properties.mm._support.programmes import V_EXISTS, relaxed
from properties.mm._support.token_selections import Selection

S_EXISTS = "the p-SVM of S alone has a solution"


def essential(case: Selection) -> list[bool]:
    """The inputs without which v(alpha) would be another."""
    v = svm.v_programme(case)
    others = [v.rows[:i] + v.rows[i + 1 :] for i in range(len(v.rows))]
    return [svm.solve(rows, case.X.shape[2]).vector != v.vector for rows in others]


def of_support(case: Any) -> Any:
    """p_S: the p-SVM of the inputs alone whose margin under v(alpha) is tight."""
    rows, tight = svm.p_rows(case), svm.of_rivals(case, svm.v_programme(case).tight)
    if in_torch(rows):
        return svm.Programmes.of(rows, rows.new_ones(rows.shape[:2]), tight)
    return svm.solve([row for row, kept in zip(rows, tight, strict=True) if kept], case.X.shape[2])


def ranks(case: Selection) -> bool:
    """p_S exists and gives no other token of any input a larger logit than alpha_i."""
    p = of_support(case).vector
    return p is not None and all(dot(p, row) >= 0 for row in svm.p_rows(case))


RELAXED = (
    "p(alpha) is the shortest p with <p, D_it> >= 1 for i in S and >= 0 for other i, D_it = "
    "k_i,alpha_i - k_it for t != alpha_i, S are the inputs of tight margin, Y_i <v(alpha), "
    "x_i,alpha_i> = 1"
)


@stated(
    "v(alpha) exists, and so does p(alpha), that is $formula",
    r"\frac{1}{\|p(\alpha)\|} > $share \min_j \|D_j\|",
    where=f"{RELAXED}, and {svm.V_MEANS}",
)
def both_exist(m: Namespace, case: Any, share: Any = 0) -> Relation:
    p = svm.solved(m, relaxed(case))
    return m.all_of(svm.exceeds(m, svm.v_svm(m, case)), svm.exceeds(m, p, share))


@stated(
    "there is no v(alpha), neither p(alpha) nor p'(alpha) exists, or $formula",
    r"p(\alpha) = $share p'(\alpha)",
    {
        "against": {
            "essential": "for the set S of the inputs without which v(alpha) would be another",
            "plain": "without relaxation",
        }
    },
    where=f"{RELAXED}, and p'(alpha) is the same $against",
)
def unambiguous(
    m: Namespace, case: Any, share: Number = 1, against: str = "essential"
) -> Comparison:
    either = [relaxed(case), svm.p_programme(case)]
    if against == "essential":
        either[1] = svm.p_programme(case, essential(case))
    if not all(p.exists for p in either) or not svm.v_programme(case).exists:
        lost = svm.v_programme(case).exists and any(p.exists for p in either)
        return m.equal(m.exact(int(lost)), m.exact(0))  # without v(alpha) there is no S
    one, other = (svm.solved(m, p).vector for p in either)
    return m.equal(one, share * other)


@stated(
    "",
    r"\min_i Y_i \langle v(\alpha), x_{i,\alpha_i}\rangle = 1 \text{ and } "
    r"\frac{1}{\|p(\alpha)\|} = $share $of",
    {"of": {"hull": r"\mathrm{dist}(0, C)", "row": r"\min_j \|D_j\|"}},
    where=f"C = conv{{D_it, i in S}} + cone{{D_it, i not in S}}, {RELAXED}, and 1/||p(alpha)|| is "
    "0 if there is no p(alpha)",
)
def exists_off_hull(m: Namespace, case: Any, share: Any = 1, of: str = "hull") -> Relation:
    v, p = svm.v_svm(m, case), svm.solved(m, relaxed(case))
    return m.all_of(m.equal(m.min(v.rows @ v.vector), m.exact(1)), svm.is_distance(m, p, share, of))


@stated(
    "",
    r"$share \|p_0 - p(\alpha)\|^2 \le \|p_0\|^2 - \|p(\alpha)\|^2",
    where=f"{RELAXED}, and p_0 is the same without relaxation, as if all inputs were in S",
)
def shorter(m: Namespace, case: Any, share: Any = 1) -> Comparison:
    if m.name != "tensors" and not svm.v_programme(case).exists:
        return m.below(m.exact(0), m.exact(0))  # there is no v(alpha), and no S
    return pythagoras(m, svm.p_svm(m, case).vector, svm.solved(m, relaxed(case)).vector, share)


@stated(
    "",
    r"p(\alpha) = $share p_S",
    {"against": {"relaxed": "with", "plain": "without"}},
    where=f"{RELAXED}, taken $against relaxation, and p_S is the solution for S alone",
)
def by_support(m: Namespace, case: Any, share: Number = 1, against: str = "relaxed") -> Relation:
    p = svm.solved(m, relaxed(case)) if against == "relaxed" else svm.p_svm(m, case)
    same = m.equal(p.vector, share * svm.solved(m, of_support(case)).vector)
    return m.all_of(svm.exceeds(m, svm.v_svm(m, case)), same)


OTHERS = {
    "105% of it": changed(share="1.05"),
    "p(alpha) without relaxation": changed(against="plain"),
}

P_EXISTS = Hypothesis(
    "p(alpha) without relaxation exists", lambda case: svm.p_programme(case).exists
)
RANKS = Hypothesis(
    "the p-SVM of S alone has a solution, which ranks alpha_i first in all inputs", ranks
)

PROGRAMMES = Statement(
    "mm/joint-svm",
    rests_on=("mm/p-svm", "mm/v-svm"),
    source=SOURCE,
    place="Attention SVMs, joint v and p-SVMs",
    printed="p(alpha) = argmin ||p|| s.t. p^T (k_i,alpha_i - k_it) >= 1 for i in S, >= 0 for i "
    "not in S; S is the set of indices that x_i,alpha_i is a support vector when solving v-SVM",
    variables=Records(
        Selection, cases.relaxable(), cases.larger, climbed=True, lets=cases.SELECTED
    ),
    conclusion=both_exist,
    cost=3,
    readings={
        "literal-1": Reading(
            "refuted, certified",
            read={"support vector": "an input of tight margin"},
            under=(),
            variables=Records(Selection, cases.selections(), lets=cases.SELECTED),
            examples=(
                cases.ONE_TOKEN,
                *cases.PUBLISHED,
                cases.RESCUED,
                cases.DUPLICATE,
                cases.OPPOSED,
            ),
            siblings=svm.above_nearest(cases.NARROW),
        ),
        "literal-2": Reading(
            "refuted, certified",
            read={
                "support vector": "an input of tight margin, or one whose multiplier is positive "
                "whichever are taken"
            },
            under=(),
            variables=Records(Selection, cases.relaxable(), lets=cases.SELECTED),
            conclusion=unambiguous,
            examples=(cases.ONE_TOKEN, cases.PUBLISHED[1], cases.PUBLISHED[0], cases.TWICE),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_joint_distance",
            under=(V_EXISTS,),
            variables=Records(
                Selection,
                st.one_of(cases.selections(), cases.relaxable(duplicates=True)),
                cases.larger,
                climbed=True,
                lets=cases.SELECTED,
            ),
            conclusion=exists_off_hull,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.RESCUED, cases.DUPLICATE),
            siblings={
                **svm.OTHER_DISTANCES,
                "the shortest difference in place of C": changed(of="row"),
            },
        ),
        "sharp-1": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_shorter",
            under=(V_EXISTS, P_EXISTS),
            conclusion=shorter,
            tight=True,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.ORTHOGONAL),
            siblings={"twice the left side": changed(share=2)},
        ),
        "sharp-2": Reading(
            "proved",
            proof="symbolic.mm.programmes:prove_of_support",
            under=(V_EXISTS, RANKS),
            variables=Records(
                Selection,
                cases.relaxable(duplicates=True),
                cases.larger,
                climbed=True,
                lets=cases.SELECTED,
            ),
            conclusion=by_support,
            examples=(cases.ONE_TOKEN, *cases.PUBLISHED, cases.RESCUED),
            siblings={
                **OTHERS,
                "p_S may rank another token first": changed(
                    drop=[RANKS], under=[Hypothesis(S_EXISTS, lambda case: of_support(case).exists)]
                ),
            },
        ),
    },
    violating={V_EXISTS: [cases.OPPOSED], P_EXISTS: [cases.RESCUED]},
)
