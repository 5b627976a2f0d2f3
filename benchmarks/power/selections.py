"""Planted mistakes in mm's three programmes."""

from types import SimpleNamespace
from typing import Any

from attsvm.exact import rationals
from attsvm.exact.numbers import dot, subtract
from benchmarks.power.planting import flipped, plant, strictly
from properties.mm._support import max_margin
from properties.mm._support.max_margin import exceeds, relaxed, solve, solved, v_programme
from properties.mm._support.token_selections import Selection, chosen
from properties.mm.joint_svm import PROGRAMMES
from properties.mm.joint_svm.conclusion import of_support
from properties.mm.p_svm import PROGRAMME as P_SVM
from properties.mm.p_svm.conclusion import least_lead
from properties.mm.v_svm import PROGRAMME as V_SVM

NEAREST, HEADED, MEETS = (P_SVM.claim(name) for name in ("amended-1", "amended-2", "sharp-1"))


def with_fields(case: Any, **fields: Any) -> Any:
    """Return a selection, or a batch of selections, with some fields replaced."""
    whole = {name: getattr(chosen(case), name) for name in ("X", "y", "alpha", "W")}
    return SimpleNamespace(**{**whole, **fields})


def longest_entry(m: Any, case: Any) -> Any:
    """Return the bound with the largest entry of q in place of its norm."""
    p = max_margin.p_svm(m, case)
    if p.margin is None:
        return exceeds(m, p)
    bound = p.margin * m.largest(m.values(case.q))
    return m.all_of(exceeds(m, p), m.at_most(least_lead(m, case, p), bound))


headed_norm = plant(
    HEADED,
    "norm largest-entry",
    statement="for the optimal tokens of a head v = W^T q, unique, all labels equal: ||p(alpha)|| "
    "is at most max |q_k| over the least lead of alpha_i in score",
    why="equal to ||q|| over the lead for one difference along q, which may have two entries",
    conclusion=longest_entry,
)


def transposed_keys(m: Any, case: Any) -> Any:
    """Return the bound for keys W^T x, with scores by the head W^T q."""
    p = max_margin.p_svm(m, case)
    if p.margin is None:
        return exceeds(m, p)
    turned = max_margin.p_svm(m, with_fields(case, W=chosen(case).W.swapaxes(-1, -2)))
    bound = turned.margin * m.norm(m.values(case.q))
    return m.all_of(exceeds(m, turned), m.at_most(least_lead(m, case, p), bound))


headed_role = plant(
    HEADED,
    "role transposed-keys",
    statement="for the optimal tokens of a head v = W^T q, unique, all labels equal, and keys "
    "W^T x: ||p(alpha)|| is at most ||q|| over the least lead of alpha_i in score",
    why="keys are W x: with W^T x the prompt q need not separate, and p(alpha) need not exist",
    conclusion=transposed_keys,
)
meets_strict = plant(
    MEETS,
    "strict pythagoras",
    statement="every q that meets the constraints has ||q - p(alpha)||^2 < ||q||^2 - "
    "||p(alpha)||^2",
    why="equal for q = p(alpha)",
    conclusion=strictly(MEETS),
)
meets_sign = plant(
    MEETS,
    "sign reversed",
    statement="every q that meets the constraints has ||q - p(alpha)||^2 >= ||q||^2 - "
    "||p(alpha)||^2",
    why="the angle at p(alpha) is at least a right one",
    **flipped(MEETS),
)


def across(m: Any, case: Selection) -> Any:
    """Return the false equation of 1/||p(alpha)|| with the distance of a larger hull from 0.

    It is the hull of k_i,alpha_i - k_jt over all inputs i and j, and not only over i = j.
    """
    X, W, alpha = rationals(case.X), rationals(case.W), case.alpha.tolist()
    keys = [[[dot(line, x) for line in W] for x in tokens] for tokens in X]
    rows = [
        subtract(keys[i][best], k)
        for i, best in enumerate(alpha)
        for j, other in enumerate(keys)
        for t, k in enumerate(other)
        if t != alpha[j]
    ]
    if not rows:
        return m.equal(m.exact(0), m.exact(0))
    everywhere = solved(m, solve(rows, case.X.shape[2]))
    return m.equal(max_margin.p_svm(m, case).margin, everywhere.margin)


nearest_index = plant(
    NEAREST,
    "index other-input",
    statement="1/||p(alpha)|| is the distance of the hull of all selected keys from that of all "
    "others, 0 where they meet",
    why="a selected key is compared with the keys of its own input alone",
    conclusion=across,
)

BEST, LABELLED = V_SVM.claim("sharp-1"), V_SVM.claim("amended")
best_constant = plant(
    BEST,
    "constant two-percent",
    statement="every head h has min_i Y_i h^T x_i,alpha_i <= 0.98 Gamma ||h||",
    why="v(alpha) has the margin Gamma ||v(alpha)||",
    share="0.98",
)
best_strict = plant(
    BEST,
    "strict margin",
    statement="every head h has min_i Y_i h^T x_i,alpha_i < Gamma ||h||",
    why="equal for v(alpha), and for h = 0",
    conclusion=strictly(BEST),
)


def unlabelled(m: Any, case: Selection) -> Any:
    """Return the false equation of 1/||v(alpha)|| with the distance of conv{x_i,alpha_i} from 0."""
    plain = max_margin.v_svm(m, with_fields(case, y=case.y * case.y))
    return m.equal(max_margin.v_svm(m, case).margin, plain.margin)


labelled_sign = plant(
    LABELLED,
    "sign labels",
    statement="1/||v(alpha)|| is the distance of the hull of the x_i,alpha_i from 0",
    why="of the Y_i x_i,alpha_i: labels turn some round",
    conclusion=unlabelled,
)

SHORTER, JOINT = PROGRAMMES.claim("sharp-1"), PROGRAMMES.claim("amended")
shorter_sign = plant(
    SHORTER,
    "sign reversed",
    statement="||p - p'||^2 >= ||p||^2 - ||p'||^2 for p(alpha) without and p' with relaxation",
    why="relaxing enlarges the set, and the angle at p' is at least a right one",
    **flipped(SHORTER),
)


def strictly_shorter(m: Any, case: Selection) -> Any:
    """Return the comparison ||p'||^2 < ||p||^2."""
    p, plain = solved(m, relaxed(case)).vector, max_margin.p_svm(m, case).vector
    return m.below(p @ p, plain @ plain)


shorter_strict = plant(
    SHORTER,
    "strict relaxed",
    statement="where some input does not support v, ||p'|| < ||p|| for p(alpha) without and p' "
    "with relaxation",
    why="equal where no relaxed constraint holds p",
    hypotheses={"some label margin is not tight": lambda case: not all(v_programme(case).tight)},
    conclusion=strictly_shorter,
)


def support_alone(m: Any, case: Selection) -> Any:
    """Return the false equation of 1/||p(alpha)||, relaxed, with 1/||p_S||."""
    p, alone = solved(m, relaxed(case)), solved(m, of_support(case))
    if p.margin is None:  # inputs have one token, and nothing is demanded of either
        return m.equal(m.exact(0), m.exact(0))
    return m.equal(p.margin, alone.margin)


joint_index = plant(
    JOINT,
    "index support-alone",
    statement="1/||p(alpha)||, relaxed, is the distance of conv{D_it, i in S} from 0",
    why="inputs not in S still ask for a margin of 0",
    conclusion=support_alone,
)
