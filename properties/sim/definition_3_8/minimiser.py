"""Both sides of definition 3.8's claims, in floats with their rounding and in rationals."""

from __future__ import annotations

import math

import numpy as np
from flint import arb, fmpq, fmpz

from attsvm.data import AttentionData
from attsvm.errors import present
from attsvm.exact import ExactData, dot, rational, rationals
from attsvm.exact.numbers import combine
from attsvm.exact.svm import ExactProgramme
from attsvm.svm import att_svm_programme
from attsvm.theory import Slack
from properties._support.programmes import (
    EPS,
    OPEN,
    anything,
    best_margin,
    constraints,
    exactly,
    first_optimal,
    flat,
    optimum,
    solve,
)
from properties.sim.definition_3_8.instances import Classified, Pointed, Shared, classified_margins


def unique(case: AttentionData | Pointed | Shared | Classified) -> bool:
    """Optimal tokens are unique."""
    return ExactData.of(case if isinstance(case, AttentionData) else case.data).unique


def meet(case: Pointed) -> bool:
    """All matrices meet the constraints of the optimal tokens."""
    exact = ExactData.of(case.data)
    A = constraints(exact, first_optimal(exact)).values()
    return all(dot(a, flat(V)) >= 1 for V in rationals(case.points) for a in A)


def are_shares(case: Shared) -> bool:
    """No share is negative, and those of constrained tokens are not all 0."""
    return not (case.shares < 0).any() and _constrained(case) > 0


def _constrained(case: Shared) -> float:
    exact = ExactData.of(case.data)
    return float(sum(case.shares[token] for token in constraints(exact, first_optimal(exact))))


def between(case: Pointed, weight: float, lesser: bool) -> Slack:
    """Least margin of weight U + (1 - weight) V less 1, and what its squared norm falls short."""
    U, V = case.points
    point, data = weight * U + (1 - weight) * V, case.data
    squares = float((U**2).sum()), float((V**2).sum())
    bound = min(squares) if lesser else weight * squares[0] + (1 - weight) * squares[1]
    short = bound - float((point**2).sum())
    error = 32 * EPS * (data.d**2 + 8) * weight**2 * sum(squares)
    if not anything(data):
        return Slack(short, error)
    chosen = optimum(data)
    if chosen is None:
        return OPEN
    programme = att_svm_programme(data, chosen)
    sizes = programme.norms * (1 + sum(squares)) * (1 + weight)
    error += 32 * EPS * (data.d + 8) * float(sizes.max())
    return Slack(min(float(programme.margins(point).min()) - 1, short), error)


def exactly_between(case: Pointed, weight: float, lesser: bool) -> arb:
    """The same in rationals."""
    exact, t = ExactData.of(case.data), rational(weight)
    U, V = (flat(matrix) for matrix in rationals(case.points))
    point = [t * a + (1 - t) * b for a, b in zip(U, V, strict=True)]
    squares = dot(U, U), dot(V, V)
    bound = min(squares) if lesser else t * squares[0] + (1 - t) * squares[1]
    short = bound - dot(point, point)
    A = constraints(exact, first_optimal(exact)).values()
    return arb(min([dot(a, point) - 1 for a in A] + [short]))


def unit_margin(data: AttentionData) -> Slack:
    """The largest least margin of unit matrices; 1 where nothing is constrained."""
    if not anything(data):
        return Slack(1.0, 0.0, "strict")
    low, high = best_margin(data, optimum(data))
    if math.isinf(high):
        return Slack(0.0, math.inf, "strict")
    return Slack((low + high) / 2, (high - low) / 2 + 4 * EPS * high, "strict")


def exact_unit_margin(data: AttentionData) -> arb:
    """The same; exactly 0 with a Farkas certificate behind it."""
    found = exactly(data)
    if found is None:
        return arb(0)
    return 1 / arb(found.square).sqrt() if found.A else arb(1)


def sum_margin(data: AttentionData) -> Slack:
    """The least margin of the sum of the constraint matrices; 1 where there are none."""
    if not anything(data):
        return Slack(1.0, 0.0, "strict")
    gram = att_svm_programme(data, optimum(data)).gram
    rounding = 8 * (len(gram) + 2 * data.d) * EPS * float(np.abs(gram).sum(axis=1).max())
    return Slack(float(gram.sum(axis=1).min()), rounding, "strict")


def exact_sum_margin(data: AttentionData) -> arb:
    """The same in rationals."""
    if not anything(data):
        return arb(1)
    rows = ExactProgramme.of(att_svm_programme(data, optimum(data)))
    m = len(rows.bound)
    gram = rows.gram(range(m), range(m))
    return arb(
        fmpq(min(sum(row, fmpz(0)) for row in gram), (rows.unit_left * rows.unit_right) ** 2)
    )


def bounded(case: Classified, share: float) -> Slack:
    """||X^mm|| p at most share ||u|| ||v||, both squared; p the least margin of v u^T."""
    data, u = case.data, case.u
    chosen = optimum(data)
    found = solve(data, chosen)
    if found is None or chosen is None:
        return OPEN
    v = present(data.v, "the head v")
    right = share**2 * float(u @ u) * float(v @ v)
    if found.answer is None:
        return Slack.at_most(0.0, right, 8 * EPS * data.d * right)
    programme = found.answer.programme
    points = np.outer(v, u)
    p = max(float(programme.margins(points).min()), 0.0)
    lost = 32 * EPS * (data.d + 8) * float(programme.norms.max()) * float(np.linalg.norm(points))
    error = (found.high - found.low) * (p + lost) ** 2 + found.high * (2 * p + lost) * lost
    return Slack.at_most(found.square * p * p, right, error + 16 * EPS * data.d * right)


def exactly_bounded(case: Classified, share: float) -> arb:
    """The same from scores and labels; -1 where there is no X^mm."""
    found, exact = exactly(case.data), ExactData.of(case.data)
    if found is None:
        return arb(-1)
    u, v = rationals(case.u), rationals(present(case.data.v, "the head v"))
    rows = zip(exact.gamma, exact.optimal, classified_margins(case), strict=True)
    products = [
        (max(scores) - score) * q
        for scores, tied, q in rows
        for t, score in enumerate(scores)
        if t != tied[0]
    ]
    p = max(min(products, default=fmpq(0)), fmpq(0))
    return arb(rational(share) ** 2 * dot(u, u) * dot(v, v) - found.square * p * p)


def nearer(case: Pointed, factor: float, squared: bool) -> Slack:
    """How far factor ||V - X^mm||^2 stays below ||V||^2 - ||X^mm||^2."""
    found = solve(case.data, optimum(case.data))
    if found is None:
        return OPEN
    (V,) = case.points
    size, distance = float(np.linalg.norm(V)), float(np.linalg.norm(V - found.W))
    norm, e = math.sqrt(max(found.low, 0.0)), found.error
    rounding = 16 * EPS * (case.data.d**2 + 8)
    if not squared:
        error = factor * e + math.sqrt(found.high) - norm + rounding * (factor + 1) * (size + norm)
        return Slack.at_most(factor * distance, size - norm, error)
    error = factor * e * (2 * distance + e) + found.high - found.low
    error += rounding * (factor + 1) * (size + norm) ** 2
    return Slack.at_most(factor * distance**2, size**2 - found.square, error)


def exactly_nearer(case: Pointed, factor: float, squared: bool) -> arb | None:
    """The same in rationals, or as a ball of norms where they are not squared."""
    found = exactly(case.data)
    if found is None:
        return None
    V, X = flat(rationals(case.points)[0]), flat(found.W)
    apart = sum(((a - b) ** 2 for a, b in zip(V, X, strict=True)), fmpq(0))
    if squared:
        return arb(dot(V, V) - found.square - rational(factor) * apart)
    if apart == 0:
        return arb(0)
    norms = arb(dot(V, V)).sqrt() - arb(found.square).sqrt()
    return norms - arb(rational(factor)) * arb(apart).sqrt()


def hull_point(case: Shared, factor: float) -> Slack:
    """||sum_j s_j A_j||^2 ||X^mm||^2 over factor, for shares of sum 1, against 1."""
    found = solve(case.data, optimum(case.data))
    if found is None or found.answer is None:
        return OPEN
    programme = found.answer.programme
    s = case.shares[programme.input, programme.token]
    total = float(s.sum())
    if total == 0.0:
        return OPEN
    size = float(np.linalg.norm(programme.combine(s))) / abs(total)
    lost = 8 * EPS * (len(s) + 8) * float(np.abs(s) @ programme.norms) / abs(total)
    lost += 8 * EPS * len(s) * size * float(np.abs(s).sum()) / abs(total)
    error = (found.high - found.low) * (size + lost) ** 2 + found.high * (2 * size + lost) * lost
    error /= factor**2
    return Slack.at_most(1.0, found.square * (size / factor) ** 2, error + 8 * EPS)


def exact_hull_point(case: Shared, factor: float) -> arb | None:
    """The same in rationals."""
    found = exactly(case.data)
    if found is None or not found.A:
        return None
    shares = [rational(case.shares[token].item()) for token in found.A]
    total = sum(shares, fmpq(0))
    if total == 0:
        return None
    point = combine(shares, list(found.A.values()))
    return arb(dot(point, point) * found.square / (total * rational(factor)) ** 2 - 1)
