"""The best nu of Assumption B for arbitrary attention, and certificates of every smaller nu.

Write z_i = Y_i x_i,alpha_i, and z = Y_i x_it for another token t of input i. Let m_it(q) be the
largest label margin of alpha with (1 - q) z_i + q z in place of z_i. Let gamma be the largest label
margin of a choice other than alpha. The best nu is the least of Gamma - gamma and of all (Gamma -
m_it(q))/q for 0 < q <= 1. It is reached at q = 1 or as q tends to 0. So it is the least of Gamma -
gamma and Gamma W_i (1 - <v(alpha), z>), where W_i is the largest multiplier of input i (`Best`).

A certificate of nu uses nothing of this. It names weights w >= 0 of sum 1, since ||sum_j w_j z_j||
is at least the label margin of the z_j. Each choice that differs from alpha in several inputs has
one vector w. Each i and t have a list of knots (q, w), with q from 0 to 1. A mean of two neighbours
(q, w) and (q', w') with shares 1 - l and l is a point of the hull at

    ((1 - l) w_i q + l w'_i q') / ((1 - l) w_i + l w'_i) <= (1 - l) q + l q'  if w'_i <= w_i,

no longer than the mean of both. So m_it(q) <= Gamma - nu q for all q if the weights show it at the
knots and w_i never increases from one q to the next. `certifies` decides this in rationals from the
tokens themselves, and shares no code with the functions that propose the weights.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from attsvm.exact import dot, rational
from attsvm.exact.numbers import Matrix, Number, Vector, combine, rationals
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Comparison, Namespace, Values
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.token_selections import Selection

Knots = list[tuple[Number, Vector]]

_DEPTH, _NEAR = 24, 2**48
"""Maximum number of halvings of an interval of q, and the value of 1/q that stands for q near 0."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that Assumption B holds with nu.

    Attributes:
        head: a vector with <head, z_i> >= 1, so that Gamma is at least 1/||head||.
        rivals: weights for each choice that differs from alpha in two inputs or more.
        knots: knots for each input and each other token of it.
    """

    head: Vector
    rivals: dict[tuple[int, ...], Vector]
    knots: dict[tuple[int, int], Knots]


@dataclass(frozen=True, slots=True)
class Excess:
    """A proof that nu is too large: m_it(q) > Gamma - nu q, with the head of the margin m_it(q)."""

    i: int
    t: int
    q: Number
    head: Vector


# verification of certificates


def certifies(case: Selection, nu: Number, certificate: Certificate) -> bool:
    """Return whether the certificate proves Assumption B with nu for all keys."""
    z = [
        [[y * x for x in token] for token in tokens]
        for y, tokens in zip(case.y.tolist(), rationals(case.X), strict=True)
    ]
    alpha, square = case.alpha.tolist(), 1 / _product(certificate.head, certificate.head)
    best = [tokens[a] for tokens, a in zip(z, alpha, strict=True)]
    if nu <= 0 or any(_product(certificate.head, point) < 1 for point in best):
        return False
    for beta in itertools.product(*map(range, map(len, z))):
        changes = [i for i, (a, b) in enumerate(zip(alpha, beta, strict=True)) if a != b]
        points = [tokens[b] for tokens, b in zip(z, beta, strict=True)]
        if len(changes) > 1:
            if not _reached(points, certificate.rivals.get(beta, []), nu, square):
                return False
        elif changes:
            (i,) = changes
            knots = certificate.knots.get((i, beta[i]), [])
            if not knots or knots[0][0] != 0 or knots[-1][0] != 1:
                return False
            for q, w in knots:
                moved = list(best)
                moved[i] = [(1 - q) * a + q * b for a, b in zip(best[i], points[i], strict=True)]
                if not _reached(moved, w, nu * q, square):
                    return False
            for (q, w), (later, other) in itertools.pairwise(knots):
                if not (q == later or (q < later and other[i] <= w[i])):
                    return False
    return True


def _product(a: Vector, b: Vector) -> Number:
    return sum((x * y for x, y in zip(a, b, strict=True)), fmpq(0))


def _reached(points: Matrix, w: Vector, less: Number, square: Number) -> bool:
    """Return whether the mean of the points with weights w has norm at most sqrt(square) - less."""
    if len(w) != len(points) or min(w) < 0 or sum(w, fmpq(0)) != 1:
        return False
    columns = [list(column) for column in zip(*points, strict=True)]
    mean = [_product(w, column) for column in columns]
    return leaves(_product(mean, mean), less, square)


def leaves(square: Number, less: Number, of: Number) -> bool:
    """Return whether sqrt(square) + less <= sqrt(of), for less >= 0, decided without roots."""
    rest = of - square - less * less
    return bool(rest >= 0 and 4 * less * less * square <= rest * rest)


# proposals


def proposed(case: Selection, nu: Number) -> Certificate | Excess | None:
    """Return a certificate that nu satisfies Assumption B, an instance of the contrary, or None.

    Intervals of q are halved until one of both is reached, which happens unless nu is exactly the
    best one. If a choice differs from alpha in several inputs, `certifies` decides whether Gamma -
    gamma is at least nu.
    """
    v = svm.v_programme(case)
    rivals: dict[tuple[int, ...], Vector] = {}
    knots: dict[tuple[int, int], Knots] = {}
    for beta in margins.others(case):
        tokens = tuple(beta.alpha.tolist())
        changes = [i for i, b in enumerate(tokens) if b != case.alpha[i]]
        if len(changes) > 1:
            rivals[tokens] = svm.v_programme(beta).shares
            continue
        (i,) = changes
        outcome = _Segment(case, beta, nu, i).covered(largest_weight(case, i))
        if not isinstance(outcome, list):
            return outcome
        knots[i, tokens[i]] = outcome
    return Certificate(v.vector, rivals, knots)


class _Segment:
    """The points (1 - q) z_i + q z of one input and one other token of it."""

    def __init__(self, case: Selection, beta: Selection, nu: Number, i: int) -> None:
        self.rows, self.end = svm.v_rows(case), svm.v_rows(beta)[i]
        self.nu, self.i, self.t = nu, i, int(beta.alpha[i])
        self.square = svm.v_programme(case).margin_square

    def at(self, q: Number) -> Matrix:
        """Return the z_j with that of input i moved to q."""
        moved = combine([1 - q, q], [self.rows[self.i], self.end])
        return [moved if j == self.i else row for j, row in enumerate(self.rows)]

    def fits(self, q: Number, w: Vector) -> bool:
        """Return whether these weights show that m_it(q) <= Gamma - nu q."""
        mean = combine(w, self.at(q))
        return leaves(dot(mean, mean), self.nu * q, self.square)

    def covered(self, start: Vector) -> Knots | Excess | None:
        """Return knots from 0 to 1 that start with weights `start`; None if halving goes on."""
        near, there = self.solved(fmpq(1, _NEAR)), self.solved(fmpq(1))
        if isinstance(near, Excess):
            return near
        if isinstance(there, Excess):
            return there
        done: Knots = []
        ahead = [(fmpq(0), start, fmpq(1), there, 0)]
        while ahead:
            low, w, high, other, depth = ahead.pop()
            if other[self.i] <= w[self.i]:
                done += [(low, w), (high, other)]
            elif self.fits(high, w):
                done += [(low, w), (high, w)]
            elif self.fits(low, other):
                done += [(low, other), (high, other)]
            elif depth == _DEPTH:
                return None
            else:
                middle = (low + high) / 2
                weights = self.solved(middle)
                if isinstance(weights, Excess):
                    return weights
                ahead += [(middle, weights, high, other, depth + 1)]
                ahead += [(low, w, middle, weights, depth + 1)]
        return done

    def solved(self, q: Number) -> Vector | Excess:
        """Return the multipliers of m_it(q), of sum 1, or an instance that refutes nu."""
        programme = svm.solve(self.at(q), len(self.end))
        w: Vector = programme.shares
        if self.fits(q, w) or programme.vector is None:
            return w
        return Excess(self.i, self.t, q, programme.vector)


def largest_weight(case: Selection, i: int) -> Vector:
    """Return multipliers of v(alpha) of sum 1 in which that of input i is as large as possible.

    The maximum is at a corner of the set of all multipliers; corners are determined by few tight
    inputs.
    """
    v = svm.v_programme(case)
    tight = [j for j, flag in enumerate(v.tight) if flag]
    best: Vector = v.shares
    nearest = combine(best, v.rows)
    if i not in tight:
        return best
    for size in range(len(tight)):
        for others in itertools.combinations([j for j in tight if j != i], size):
            corner = _weights_of([v.rows[j] for j in (i, *others)], nearest)
            if corner is not None and min(corner) >= 0 and corner[0] > best[i]:
                best = [fmpq(0)] * len(v.rows)
                for j, w in zip((i, *others), corner, strict=True):
                    best[j] = w
    return best


def _weights_of(points: Matrix, at: Vector) -> Vector | None:
    """Return the weights of sum 1 of affinely independent points with this mean, or None."""
    A = fmpq_mat([[*point, fmpq(1)] for point in points])
    gram = A * A.transpose()
    if gram.rank() < len(points):
        return None
    one = fmpq_mat([[x] for x in (*at, fmpq(1))])
    w = gram.solve(A * one)
    return [w[k, 0] for k in range(len(points))] if A.transpose() * w == one else None


@dataclass(frozen=True, slots=True)
class Best:
    """The best nu if attention is arbitrary: min(Gamma - gamma, Gamma steep), both above 0.

    Attributes:
        square, rival: Gamma^2 and gamma^2.
        steep: the least W_i (1 - <v(alpha), z>).
    """

    square: Number
    rival: Number
    steep: Number

    @property
    def at_end(self) -> bool:
        """Whether the best nu is Gamma - gamma."""
        rest = 1 - self.steep
        return bool(rest <= 0 or rest * rest * self.square <= self.rival)

    def __float__(self) -> float:
        """Return the best nu, rounded."""
        gamma = float(arb(self.square).sqrt())
        return min(gamma - float(arb(self.rival).sqrt()), float(arb(self.steep)) * gamma)

    def allows(self, nu: Number) -> bool:
        """Return whether nu is at most the best one."""
        most = self.steep * self.steep * self.square
        return leaves(self.rival, nu, self.square) and bool(nu * nu <= most)


def best_nu(case: Selection, largest: bool = True, counted: bool = False) -> Best | None:
    """Return the best nu of several tokens if attention is arbitrary; None if no nu > 0 suffices.

    Args:
        case: the selection, which has a v(alpha).
        largest: whether W_i is the largest multiplier of an input; otherwise it is one that is
            positive if any can be.
        counted: whether to leave out idle inputs.
    """
    v, rival = svm.v_programme(case), margins.rival_square(case)
    if v.vector is None or rival >= v.margin_square:
        return None
    some, lost = margins.multipliers(case), []
    for beta in margins.others(case):
        changes = [i for i, b in enumerate(beta.alpha) if b != case.alpha[i]]
        if len(changes) == 1 and not (counted and some[changes[0]] == 0):
            (i,) = changes
            weight = largest_weight(case, i)[i] if largest else some[i]
            lost.append(weight * (1 - dot(v.vector, svm.v_rows(beta)[i])))
    steep = min(lost)
    return Best(v.margin_square, rival, steep) if steep > 0 else None


# instances that show that nu is too large


def beyond(m: Namespace, case: Values) -> Comparison:
    """Return that min_i Y_i h^T x_i^p > ||h|| (Gamma - nu max_i (1 - s_i,alpha_i))."""
    h, square = m.values(case.h), svm.v_programme(case.chosen).margin_square
    margin, left = margins.label_margin(m, case)
    off = m.values(case.nu) * m.norm(h) * m.max(m.array(left))
    return m.above(margin, m.sqrt(m.values(square) * (h @ h)) - off)


def too_much(case: Values) -> SimpleNamespace | None:
    """Return a prompt and a head that show that the nu of an instance is too large, or None.

    1. Multiples of p(beta), if attention can reach a beta of label margin above Gamma - nu.
    2. Multiples of a prompt that saturates an idle input last.
    3. Prompts that share attention between alpha_i and one other token, if keys allow any
       attention.
    """
    if svm.v_programme(case.chosen).vector is None:
        return None
    moves = itertools.chain(_rivals(case), _slow_ones(case.chosen), _shared(case))
    instances = (_far_enough(case, *move) for move in moves)
    return next((far for far in instances if far is not None), None)


Way = tuple[Vector, Vector, Callable[[SimpleNamespace], Vector]]
"""A prompt, the direction in which it is moved, and a function of the instance that gives the
head."""


def _rivals(case: Values) -> Iterator[Way]:
    """Yield p(beta) and v(beta) of the reachable choices whose label margin exceeds Gamma - nu."""
    least = arb(svm.v_programme(case.chosen).margin_square).sqrt() - arb(rational(case.nu))
    for beta in margins.others(case.chosen):
        v, p = svm.v_programme(beta).vector, svm.p_programme(beta).vector
        largest = 1 / arb(dot(v, v)).sqrt() if v else arb(0)
        head = v or _orthogonal(svm.v_rows(beta))
        if head and p and largest > least:

            def same(_: object, head: Vector = head) -> Vector:
                return head

            yield [fmpq(0)] * len(p), p, same


def _orthogonal(rows: list[Vector]) -> Vector | None:
    """Return a head under which all of these tokens score 0; None if there is none."""
    basis, nullity = fmpq_mat(rows).numer_denom()[0].nullspace()
    return [fmpq(basis[k, 0]) for k in range(len(rows[0]))] if nullity else None


def _slow_ones(one: Selection) -> Iterator[Way]:
    """Yield prompts that saturate an idle input last, each with a tilt of v(alpha).

    The tilt is a product of two numbers: the weight that attention leaves to other tokens of idle
    inputs, and the largest lead in score of a selected token.
    """
    p, none, v = svm.p_programme(one).vector, margins.idle(one), svm.v_programme(one).vector
    if p is None or v is None:
        return
    heads = [tilt.vector for tilt in margins.tilts(one) if tilt.vector is not None]
    scores = (dot(v, row) for beta in margins.others(one) for row in svm.v_rows(beta))
    steep = 1 - min(scores, default=fmpq(1))

    def tilted(far: SimpleNamespace) -> Vector:
        left = [
            x for x, flag in zip(margins.label_margin(BALLS, far)[1], none, strict=True) if flag
        ]
        most = rational(max(float(arb(x)) for x in left))
        return combine([1, *([steep * most] * len(heads))], [v, *heads])

    flags = np.repeat(none, one.X.shape[1] - 1).tolist()
    rows = [row for row, flag in zip(svm.p_rows(one), flags, strict=True) if flag]
    for row, prompt in zip(rows, margins.slowest(one), strict=True):
        if prompt.vector is not None:
            far = combine([1, 1 / (2 * dot(row, p))], [prompt.vector[:-1], p])
            yield [fmpq(0)] * len(p), far, tilted


def _shared(case: Values) -> Iterator[Way]:
    """Yield a prompt that gives one token attention q, and the selected one of its input 1 - q.

    In every other input all attention is on the selected token.
    """
    one, rows = case.chosen, svm.p_rows(case.chosen)
    if not rows or not margins.independent(one):
        return
    excess = proposed(one, rational(case.nu))
    if not isinstance(excess, Excess) or excess.q == 1:
        return
    other = excess.t - (excess.t > one.alpha[excess.i])
    at = excess.i * (one.X.shape[1] - 1) + other
    D = fmpq_mat(rows)
    inverse = D.transpose() * (D * D.transpose()).inv()
    logit = rational(float(arb((1 - excess.q) / excess.q).log()))
    held = [logit * inverse[k, at] for k in range(len(rows[0]))]
    far = [sum((row[j] for j in range(len(rows)) if j != at), fmpq(0)) for row in inverse.tolist()]
    yield held, far, lambda _: excess.head


def _far_enough(
    case: Values, held: Vector, q: Vector, head: Callable[[SimpleNamespace], Vector]
) -> Any:
    """Return a prompt held + R q and a head that refute nu, for R = 2^k <= 1024, or None."""
    with ctx.workprec(512):
        for k in range(11):
            far = SimpleNamespace(chosen=case.chosen, p=combine([1, 2**k], [held, q]), nu=case.nu)
            far.h = [fmpq(0)] * len(q)
            far.h = head(far)
            excess: Any = beyond(BALLS, far)
            if excess.left < excess.right:
                return far
    return None
