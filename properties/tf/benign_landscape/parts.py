"""Parts of an input, and the scores at which each of them rests.

Equal tokens count as one, with their mean score gamma_t and their number m_t. A dependency is a
vector b with sum_t b_t = 0 and sum_t b_t x_t = 0. Parts are the smallest sets of tokens such that
each dependency is a sum of dependencies within parts. A part rests at u if for some logits <x_t, p>
its score is u and its tokens exert no force: sum_t c_t x_t = 0. Three kinds of parts are decided.

- All scores of the part are equal to u; a single token is such a part.
- It has one dependency b, which involves all its tokens. Tokens with b_t > 0 score above u and the
  others below, or the other way round, and h(u) = sum_t b_t ln(b_t/(m_t (gamma_t - u))) is 0.
  Between the scores of both sides h rises from -inf to inf, so there is one such u if they are
  apart. If one token is alone on the upper side, u is the largest score of the part.
- It is on a line, x_t = x + k_t v. As a function of y = exp(<v, p>), the derivative of its score
  has the sign of

      P(y) = sum_{s < t} m_s m_t (k_t - k_s) (gamma_t - gamma_s) y^(k_s + k_t),

  a polynomial if the k_t are whole numbers. The part rests at positive roots of P. Its score has a
  local maximum where P changes from + to -.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat, fmpq_poly

from attsvm.exact.numbers import Matrix, Vector, dot, subtract
from attsvm.theory import OPEN
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Namespace, Number, Numbers

_HALVINGS = 96
"""Number of halvings of the distance from a root to scores at which the sign of h is evaluated."""
_POWERS, _LONGEST = 2**10, 32
"""Largest sum of |b_t|, and largest k_t, for which roots are computed in rationals."""
_NEXT = 2.0**-20
"""Maximum change of logits that keeps a maximum if further roots may have been missed."""


@dataclass(frozen=True, slots=True)
class Part:
    """Different tokens, the number of equal ones that each stands for, and their mean scores."""

    tokens: Matrix
    counts: list[int]
    scores: Vector

    def of(self, rows: list[int]) -> "Part":
        """Return the part with only the tokens in these rows."""
        tokens, counts, scores = self.columns
        return Part([tokens[t] for t in rows], [counts[t] for t in rows], [scores[t] for t in rows])

    @property
    def columns(self) -> tuple[Matrix, list[int], Vector]:
        """Tokens, numbers and scores."""
        return self.tokens, self.counts, self.scores

    @property
    def mean(self) -> fmpq:
        """The score under uniform attention."""
        counts = [fmpq(count) for count in self.counts]
        return dot(counts, self.scores) / sum(counts, fmpq(0))


@dataclass(frozen=True, slots=True)
class Rest:
    """A point at which a part rests.

    Attributes:
        score: u, a rational number if it is known to be one, else a ball.
        logits: the logits of the tokens, up to rounding.
        largest: whether u is a local maximum of the part's score.
        room: the maximum change of logits that keeps u one; infinite for a global maximum.
    """

    score: Any
    logits: Vector
    largest: bool
    room: float = math.inf


def dependencies(tokens: Matrix) -> list[Vector]:
    """Return a basis of the b with sum_t b_t = 0 and sum_t b_t x_t = 0."""
    rows = fmpq_mat([[*x, fmpq(1)] for x in tokens]).transpose()
    basis, nullity = rows.numer_denom()[0].nullspace()
    return [[fmpq(basis[t, k]) for t in range(len(tokens))] for k in range(nullity)]


def merged(tokens: Matrix, gamma: Vector) -> Part:
    """Return the tokens with equal ones merged into one."""
    groups: dict[tuple[str, ...], list[fmpq]] = {}
    for x, score in zip(tokens, gamma, strict=True):
        groups.setdefault(tuple(map(str, x)), []).append(score)
    rows = {tuple(map(str, x)): x for x in tokens}
    means = [sum(scores, fmpq(0)) / len(scores) for scores in groups.values()]
    return Part([rows[key] for key in groups], [len(g) for g in groups.values()], means)


def split(whole: Part) -> list[Part]:
    """Return the parts: tokens that share a dependency of a basis in echelon form."""
    label = list(range(len(whole.tokens)))
    for b in dependencies(whole.tokens):
        joined = {label[t] for t, x in enumerate(b) if x != 0}
        label = [min(joined) if own in joined else own for own in label]
    return [
        whole.of([t for t, own in enumerate(label) if own == one]) for one in sorted(set(label))
    ]


def along_line(tokens: Matrix) -> list[int] | None:
    """Return integers k_t with x_t = x + k_t v, the least 0, without common factor, or None."""
    rows = [subtract(x, tokens[0]) for x in tokens]
    if fmpq_mat(rows).rank() != 1:
        return None
    v = next(row for row in rows if any(row))
    places = [dot(row, v) / dot(v, v) for row in rows]
    scale = math.lcm(*(int(k.q) for k in places))
    whole = [int((k * scale).p) for k in places]
    factor = math.gcd(*whole)
    return [(k - min(whole)) // factor for k in whole]


def apart(b: Vector, gamma: Vector) -> Vector | None:
    """Return b or -b if its positive entries score above its negative ones, else None."""
    for signed in (b, [-entry for entry in b]):
        above = [g for entry, g in zip(signed, gamma, strict=True) if entry > 0]
        below = [g for entry, g in zip(signed, gamma, strict=True) if entry < 0]
        if min(above) > max(below):
            return signed
    return None


def share(m: Namespace, b: Number, gamma: Number, u: Number, count: Number = 1) -> Numbers:
    """Return the term of h(u) of a token, or of `count` equal tokens."""
    return b * m.log(b / (count * (gamma - u)))


def balance(part: Part, b: Vector, u: fmpq) -> Any:
    """Return h(u)."""
    rows = zip(b, part.counts, part.scores, strict=True)
    return sum((share(BALLS, arb(x), g, u, count) for x, count, g in rows), arb(0))


def bracket(part: Part, b: Vector) -> tuple[fmpq, fmpq] | None:
    """Return two scores with h < 0 at the first and h > 0 at the second, as close as balls decide.

    None if the precision is too low to find one of them.
    """
    low, high = least, most = between(part, b)
    u = (low + high) / 2
    while True:
        value = balance(part, b, u)
        if value > 0:
            high = u
        elif value < 0:
            low = u
        else:  # the sign is undecided: u is at the root, or too close to it
            break
        rows = zip(b, part.scores, strict=True)
        newton = u - (value / sum((x / (g - u) for x, g in rows), fmpq(0))).mid().fmpq()
        u = newton if low < newton < high else (low + high) / 2
    width = min(u - least, most - u)
    for k in reversed(range(_HALVINGS - 16, _HALVINGS)):
        ends = u - width / 2**k, u + width / 2**k
        if balance(part, b, ends[0]) < 0 and balance(part, b, ends[1]) > 0:
            return ends
    return None


def between(part: Part, b: Vector) -> tuple[fmpq, fmpq]:
    """Return the largest score with b_t < 0 and the least with b_t > 0."""
    rows = list(zip(b, part.scores, strict=True))
    return max(g for x, g in rows if x < 0), min(g for x, g in rows if x > 0)


def vanishes(part: Part, b: Vector, u: fmpq) -> Any:
    """Return whether h(u) = 0, that is, whether a product of rational powers is 1.

    OPEN if unknown.
    """
    if not balance(part, b, u).contains(0):
        return False
    scale = math.lcm(*(int(x.q) for x in b))
    whole = [int((x * scale).p) for x in b]
    powers = [k // math.gcd(*whole) for k in whole]
    if sum(map(abs, powers)) > _POWERS:
        return OPEN
    product = fmpq(1)
    for x, count, g, k in zip(b, part.counts, part.scores, powers, strict=True):
        product *= (x / (count * (g - u))) ** k
    return product == 1


def weighed(part: Part, b: Vector, u: fmpq, score: fmpq | arb) -> Rest:
    """Return the point of rest at u of a part of one dependency, with logits up to rounding."""
    rows = zip(b, part.counts, part.scores, strict=True)
    logits = [arb(x / (count * (g - u))).log().mid().fmpq() for x, count, g in rows]
    return Rest(score, logits, sum(x > 0 for x in b) == 1)


def terms_of(part: Part, places: list[int]) -> dict[int, fmpq]:
    """Return the nonzero coefficients of P by power, in increasing order."""
    terms: dict[int, fmpq] = {}
    rows = zip(places, part.counts, part.scores, strict=True)
    for (j, n, f), (k, m, g) in itertools.combinations(rows, 2):
        terms[j + k] = terms.get(j + k, fmpq(0)) + m * n * (k - j) * (g - f)
    return {power: terms[power] for power in sorted(terms) if terms[power] != 0}


def polynomial(terms: dict[int, fmpq]) -> fmpq_poly:
    """Return the polynomial with these coefficients, divided by the largest possible power of y."""
    least = min(terms)
    return fmpq_poly([terms.get(k, 0) for k in range(least, max(terms) + 1)])


def roots_of(part: Part, places: list[int]) -> tuple[list[tuple[arb, bool]], bool]:
    """Return the positive roots of P in order, and whether these are all.

    Each root comes with whether P changes from + to - there. All roots are found if the degree is
    small. Otherwise they are sign changes of P between powers of y at which two terms have one
    size. By Descartes' rule these are all if they are as many as the sign changes of the
    coefficients.
    """
    terms = terms_of(part, places)
    signs = [coefficient > 0 for coefficient in terms.values()]
    changes = sum(a != b for a, b in itertools.pairwise(signs))
    if max(places) > _LONGEST:
        crossings = sign_changes(terms) if changes else []
        return crossings, len(crossings) == changes
    positive, roots = signs[0], []
    complex_roots: Any = polynomial(terms).complex_roots() if changes else []
    exact = [(y.real, int(count)) for y, count in complex_roots if y.imag == 0 and y.real > 0]
    for y, count in sorted(exact, key=lambda root: root[0].mid()):
        roots.append((y, positive and count % 2 == 1))
        positive ^= count % 2 == 1
    return roots, True


def sign_changes(terms: dict[int, fmpq]) -> list[tuple[arb, bool]]:
    """Return the roots of P with a visible change of sign, between points of two equal terms."""

    def sign(x: arb) -> int:
        value = sum((arb(c) * (k * x).exp() for k, c in terms.items()), arb(0))
        return 1 if value > 0 else -1 if value < 0 else 0

    sizes = {k: float(abs(arb(c)).log()) for k, c in terms.items()}
    even = {(sizes[j] - sizes[k]) / (k - j) for j, k in itertools.combinations(sizes, 2)}
    marks = sorted({min(even) - 1, *even, max(even) + 1})
    steps = [np.linspace(a, b, 4, endpoint=False) for a, b in itertools.pairwise(marks)]
    at = [arb(float(x)) for x in np.concatenate(steps)]
    seen = [(x, side) for x in at if (side := sign(x))]
    crossings = []
    for (low, before), (high, after) in itertools.pairwise(seen):
        if before != after:
            for _ in range(_HALVINGS + max(terms).bit_length()):
                middle = ((low + high) / 2).mid()
                side = sign(middle)
                low = middle if side == before else low
                high = middle if side == after else high
            crossings.append((low.union(high).exp(), before > 0))
    return crossings


def on_line(part: Part, places: list[int], only: fmpq | None = None) -> tuple[list[Rest], bool]:
    """Return points of rest of a part on a line, and whether these are all.

    With `only`, the points are those of this score.
    """
    roots, whole = roots_of(part, places)
    at = [y.log().mid().fmpq() for y, _ in roots]
    kept = list(range(len(roots)))
    if only is not None:  # roots of P at which the score is this one
        if max(places) > _LONGEST:
            return [], False
        less = {k: m * (g - only) for k, m, g in zip(places, part.counts, part.scores, strict=True)}
        shared = polynomial(terms_of(part, places)).gcd(polynomial(less))
        common_roots: Any = shared.complex_roots()
        there = [y.real for y, _ in common_roots if y.imag == 0 and y.real > 0]
        kept = [k for k in kept if any(root.overlaps(roots[k][0]) for root in there)]
        whole = len(kept) == len(there)
    listed = []
    for index in kept:
        y, largest = roots[index]
        weights = [m * y**k for k, m in zip(places, part.counts, strict=True)]
        score = dot(weights, part.scores) / sum(weights, arb(0)) if only is None else only
        others = [float(abs(at[index] - x)) for k, x in enumerate(at) if k != index]
        room = min(others, default=math.inf) if whole else _NEXT
        logits = [k * at[index] for k in places]
        listed.append(Rest(part.mean if y == 1 else score, logits, largest, room))
    return listed, whole


def rests(part: Part, only: fmpq | None = None) -> tuple[list[Rest], bool]:
    """Return the points of rest of a part, and whether these are all.

    With `only`, the points are those of this score. None is known for a part of another kind.
    """
    if len(set(part.scores)) == 1:
        meets = only is None or only == part.scores[0]
        return ([Rest(part.scores[0], [fmpq(0)] * len(part.scores), True)] if meets else []), True
    relations = dependencies(part.tokens)
    if len(relations) == 1:
        return of_one_dependency(part, relations[0], only)
    places = along_line(part.tokens)
    return ([], True) if places is None else on_line(part, places, only)


def of_one_dependency(part: Part, b: Vector, only: fmpq | None) -> tuple[list[Rest], bool]:
    """Return the only possible point of rest of such a part, and whether the answer is certain."""
    signed = apart(b, part.scores)
    if signed is None:
        return [], True
    low, high = between(part, signed)
    u = part.mean if only is None else only
    zero = vanishes(part, signed, u) if low < u < high else False
    if zero is True:
        return [weighed(part, signed, u, u)], True
    if only is not None:
        return [], zero is False
    ends = bracket(part, signed)
    if ends is None:
        return [], False
    u = sum(ends, fmpq(0)) / 2
    return [weighed(part, signed, u, arb(ends[0]).union(arb(ends[1])))], True


def is_known(part: Part) -> bool:
    """Return whether all scores are equal, or there is one dependency, or the part is on a line."""
    if len(set(part.scores)) == 1 or len(dependencies(part.tokens)) == 1:
        return True
    return along_line(part.tokens) is not None


def common(parts: list[Part], largest: bool = False) -> Any:
    """Return a point of rest of each part, all of one score; None if none, OPEN if undecided.

    With `largest` all of them are local maxima of the parts' scores.
    """

    def fit(only: fmpq | None = None) -> tuple[list[list[Rest]], bool, bool]:
        """Return points of rest by part, whether some part has none, and whether all are known."""
        own = [rests(part, only) for part in parts]
        fits = [[rest for rest in each if rest.largest or not largest] for each, _ in own]
        none = any(whole and not fit for fit, (_, whole) in zip(fits, own, strict=True))
        return fits, none, all(whole for _, whole in own)

    fits, none, whole = fit()
    if none:
        return None
    if len(parts) == 1 and fits[0]:
        return [fits[0][0]]
    if not whole:
        return OPEN
    exact = next((each for each in fits if all(isinstance(r.score, fmpq) for r in each)), None)
    if exact is None:
        return OPEN if any(map(_overlap, itertools.product(*fits))) else None
    undecided = False
    for u in {rest.score for rest in exact}:
        fits, none, _ = fit(u)
        if all(fits):
            return [each[0] for each in fits]
        undecided |= not none
    return OPEN if undecided else None


def _overlap(chosen: tuple[Rest, ...]) -> bool:
    pairs = itertools.combinations((arb(rest.score) for rest in chosen), 2)
    return all(a.overlaps(b) for a, b in pairs)
