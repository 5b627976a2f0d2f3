"""Mistakes in mm's three programmes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from flint import arb, fmpq

from attsvm.exact import rationals
from attsvm.exact.numbers import dot, subtract
from attsvm.theory import Slack
from benchmarks.power.planting import by_balls, flipped, plant, strictly
from properties.mm import joint_svm, p_svm, v_svm
from properties.mm._support import programmes
from properties.mm._support.exact_programmes import (
    exact_alone,
    exact_p,
    exact_relaxed,
    exact_v,
    pythagoras,
    root,
    solve_rows,
)
from properties.mm._support.programmes import UNKNOWN, find_joint, find_p
from properties.mm._support.token_selections import Rival, Selection

NEAREST, HEADED, MEETS = p_svm.amended_1, p_svm.amended_2, p_svm.sharp_1


def _longest_entry(case: Rival) -> Slack:
    """The largest entry of q in place of its length."""
    slack, p = HEADED.conclusion(case), find_p(case.chosen)
    if slack.kind == "unknown" or not np.isfinite(slack.value) or p is None:
        return slack
    less = p.margin * (float(np.linalg.norm(case.q)) - float(np.abs(case.q).max()))
    return Slack(slack.value - less, slack.error + 1e-14 * p.margin * float(np.abs(case.q).sum()))


def _longest_entry_ball(case: Rival) -> arb:
    p, least, q = exact_p(case.chosen), p_svm.gap(case), rationals(case.q)
    if least is None:
        return arb("inf")
    if not p.exists:
        return arb(-1)
    square = max(abs(x) for x in q) ** 2 * p.margin_square
    return arb(0) if least >= 0 and least**2 == square else root(square) - arb(least)


headed_norm = plant(
    HEADED,
    "norm",
    "largest-entry",
    statement="for the optimal tokens of a head v = W^T q, unique, all labels equal: ||p(alpha)|| "
    "is at most max |q_k| over the least lead of alpha_i in score",
    why="equal to ||q|| over the lead for one difference along q, which may have two entries",
    conclusion=_longest_entry,
    certify=_longest_entry_ball,
)


def _turned(case: Selection) -> Selection:
    return replace(case, W=np.ascontiguousarray(case.W.T))


def _swapped(case: Rival) -> Slack:
    """Keys W^T x, and scores by the head W^T q."""
    p, least = find_p(_turned(case.chosen)), p_svm.gap(case)
    if p is None or p.margin == 0.0:
        return UNKNOWN
    if p.answer is None or least is None:
        return Slack(np.inf, 0.0)
    left, right = float(arb(least)), p.margin * float(np.linalg.norm(case.q))
    error = p.error * float(np.linalg.norm(case.q)) + 1e-14 * (abs(left) + right)
    return Slack.at_most(left, right, error)


def _swapped_ball(case: Rival) -> arb:
    p, least, q = exact_p(_turned(case.chosen)), p_svm.gap(case), rationals(case.q)
    if least is None:
        return arb("inf")
    if not p.exists:
        return arb(-1)
    square = dot(q, q) * p.margin_square
    return arb(0) if least >= 0 and least**2 == square else root(square) - arb(least)


headed_role = plant(
    HEADED,
    "role",
    "transposed-keys",
    statement="for the optimal tokens of a head v = W^T q, unique, all labels equal, and keys "
    "W^T x: ||p(alpha)|| is at most ||q|| over the least lead of alpha_i in score",
    why="keys are W x: with W^T x the prompt q need not separate, and p(alpha) need not exist",
    conclusion=_swapped,
    certify=_swapped_ball,
)
meets_strict = plant(
    MEETS,
    "strict",
    "pythagoras",
    statement="every q that meets the constraints has ||q - p(alpha)||^2 < ||q||^2 - "
    "||p(alpha)||^2",
    why="equal for q = p(alpha)",
    conclusion=strictly(MEETS),
    certify=p_svm.certify_projection,
)
meets_sign = plant(
    MEETS,
    "sign",
    "reversed",
    statement="every q that meets the constraints has ||q - p(alpha)||^2 >= ||q||^2 - "
    "||p(alpha)||^2",
    why="the angle at p(alpha) is at least a right one",
    **flipped(MEETS),
)


def _across(case: Selection) -> arb:
    """1/||p(alpha)|| less the distance of the hull of k_i,alpha - k_jt over all i, j and t."""
    X, W, alpha = rationals(case.X), rationals(case.W), case.alpha.tolist()
    keys = [[[dot(line, x) for line in W] for x in tokens] for tokens in X]
    rows = [
        subtract(keys[i][best], k)
        for i, best in enumerate(alpha)
        for j, other in enumerate(keys)
        for t, k in enumerate(other)
        if t != alpha[j]
    ]
    own = exact_p(case).margin_square
    found = solve_rows(rows, [fmpq(1)] * len(rows), case.X.shape[2]).margin_square
    return arb(0) if own == found else -abs(root(own) - root(found))


nearest_index = plant(
    NEAREST,
    "index",
    "other-input",
    statement="1/||p(alpha)|| is the distance of the hull of all selected keys from that of all "
    "others, 0 where they meet",
    why="a selected key is compared with the keys of its own input alone",
    **by_balls(_across, Selection, "equality"),
)

BEST, LABELLED = v_svm.PROGRAMME.claim("sharp-1"), v_svm.PROGRAMME.claim("amended")
best_constant = plant(
    BEST,
    "constant",
    "two-percent",
    statement="every head h has min_i Y_i h^T x_i,alpha_i <= 0.98 Gamma ||h||",
    why="v(alpha) has the margin Gamma ||v(alpha)||",
    share=0.98,
)
best_strict = plant(
    BEST,
    "strict",
    "margin",
    statement="every head h has min_i Y_i h^T x_i,alpha_i < Gamma ||h||",
    why="equal for v(alpha), and for h = 0",
    conclusion=strictly(BEST),
    certify=v_svm.certify_best,
)


def _unlabelled(case: Selection) -> arb:
    """1/||v(alpha)|| less the distance of the hull of the x_i,alpha_i from 0."""
    own = exact_v(case).margin_square
    found = exact_v(replace(case, y=np.ones_like(case.y))).margin_square
    return arb(0) if own == found else -abs(root(own) - root(found))


labelled_sign = plant(
    LABELLED,
    "sign",
    "labels",
    statement="1/||v(alpha)|| is the distance of the hull of the x_i,alpha_i from 0",
    why="of the Y_i x_i,alpha_i: labels turn some round",
    **by_balls(_unlabelled, Selection, "equality"),
)

SHORTER, JOINT = joint_svm.sharp_1, joint_svm.amended
shorter_sign = plant(
    SHORTER,
    "sign",
    "reversed",
    statement="||p - p'||^2 >= ||p||^2 - ||p'||^2 for p(alpha) without and p' with relaxation",
    why="relaxing enlarges the set, and the angle at p' is at least a right one",
    **flipped(SHORTER),
)


def _strictly_shorter(case: Selection) -> Slack:
    """||p'||^2 < ||p||^2."""
    found = find_joint(case)
    if found is None:
        return UNKNOWN
    p, plain = found.p, found.plain
    slack = programmes.pythagoras(plain.vector, p.vector, plain.away, p.away, 0.0)
    return replace(slack, kind="strict")


def _some_relaxed(case: Selection) -> bool:
    """Some label margin is not tight."""
    return not all(exact_v(case).tight)


shorter_strict = plant(
    SHORTER,
    "strict",
    "relaxed",
    statement="where some input does not support v, ||p'|| < ||p|| for p(alpha) without and p' "
    "with relaxation",
    why="equal where no relaxed constraint holds p",
    hypotheses={"some label margin is not tight": _some_relaxed},
    conclusion=_strictly_shorter,
    certify=lambda case: pythagoras(exact_p(case).vector, exact_relaxed(case).vector, 0.0),
)


def _supporting(case: Selection) -> arb:
    """1/||p(alpha)|| relaxed, less 1/||p_S||."""
    own, other = exact_relaxed(case).margin_square, exact_alone(case).margin_square
    if own == other:
        return arb(0)
    if own is None or other is None:
        return arb(-1)
    return -abs(root(own) - root(other))


joint_index = plant(
    JOINT,
    "index",
    "support-alone",
    statement="1/||p(alpha)||, relaxed, is the distance of conv{D_it, i in S} from 0",
    why="inputs not in S still ask for a margin of 0",
    **by_balls(_supporting, Selection, "equality"),
)
