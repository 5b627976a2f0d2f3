"""Parts of an input, and the scores at which each of them rests.

Equal tokens are one, with their mean score gamma_t and their number m_t. A dependency has sum_t b_t
= 0 and sum_t b_t x_t = 0; parts are the least sets of tokens such that each dependency is a sum of
dependencies within them. A part rests at u if for some logits <x_t, p> its tokens have the score u
and do not move it. That is known of three kinds of parts.

- All scores are equal to u, as the score of a single token is.
- It has one dependency b, which is of all its tokens: those with b_t > 0 score above u and the
  others below, or the other way round, and h(u) = sum_t b_t ln(b_t/(m_t (gamma_t - u))) is 0. As h
  rises from -inf to inf between the two sides' scores, there is one such u if they are apart. If
  one token is alone on the upper side u is the largest score that the part can have.
- It is on a line, x_t = x + k_t v: at y = exp(<v, p>) its score has the sign of slope of

      P(y) = sum_{s < t} m_s m_t (k_t - k_s) (gamma_t - gamma_s) y^(k_s + k_t),

  a polynomial where the k_t are whole numbers. It rests at the scores at positive roots of P, which
  are local maxima of it where P changes from + to -.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq, fmpq_mat, fmpq_poly

from attsvm.exact.numbers import Matrix, Vector, dot, subtract
from attsvm.theory import OPEN
from attsvm.theory.arithmetic import BALLS

_HALVINGS = 40
"""How far about a score whose sign is not seen others are looked for, in halvings."""
_POWERS, _DEGREE = 2**10, 128
"""The largest sum of |b_t| for a product of powers, and degree of a polynomial, that is decided."""


@dataclass(frozen=True, slots=True)
class Part:
    """Tokens that are different, how many equal ones each stands for, and their mean scores."""

    tokens: Matrix
    counts: list[int]
    scores: Vector

    def of(self, rows: list[int]) -> "Part":
        """Some of the tokens."""
        return Part(*([values[t] for t in rows] for values in self.columns))

    @property
    def columns(self) -> tuple[Any, Any, Any]:
        """Tokens, numbers and scores."""
        return self.tokens, self.counts, self.scores

    @property
    def mean(self) -> fmpq:
        """The score under uniform attention."""
        counts = [fmpq(count) for count in self.counts]
        return dot(counts, self.scores) / sum(counts, fmpq(0))


@dataclass(frozen=True, slots=True)
class Rest:
    """Where a part rests.

    Attributes:
        score: u, a rational number where it is known to be one, else a ball.
        logits: those of the tokens.
        largest: whether u is a local maximum of the part's score.
        room: by how much logits may move for it to be one; infinite where it is the largest of all.
    """

    score: Any
    logits: list[float]
    largest: bool
    room: float = math.inf


def dependencies(tokens: Matrix) -> list[Vector]:
    """Independent b with sum_t b_t = 0 and sum_t b_t x_t = 0, as many as there are."""
    rows = fmpq_mat([[*x, fmpq(1)] for x in tokens]).transpose()
    basis, nullity = rows.numer_denom()[0].nullspace()
    return [[fmpq(basis[t, k]) for t in range(len(tokens))] for k in range(nullity)]


def merged(tokens: Matrix, gamma: Vector) -> Part:
    """Equal tokens as one."""
    groups: dict[tuple[Any, ...], list[fmpq]] = {}
    for x, score in zip(tokens, gamma, strict=True):
        groups.setdefault(tuple(map(str, x)), []).append(score)
    rows = {tuple(map(str, x)): x for x in tokens}
    means = [sum(scores, fmpq(0)) / len(scores) for scores in groups.values()]
    return Part([rows[key] for key in groups], [len(g) for g in groups.values()], means)


def split(whole: Part) -> list[Part]:
    """The parts: tokens that share a dependency of a basis in echelon form, as that of flint is."""
    label = list(range(len(whole.tokens)))
    for b in dependencies(whole.tokens):
        joined = {label[t] for t, x in enumerate(b) if x != 0}
        label = [min(joined) if own in joined else own for own in label]
    return [
        whole.of([t for t, own in enumerate(label) if own == one]) for one in sorted(set(label))
    ]


def along_line(tokens: Matrix) -> list[int] | None:
    """Whole numbers k_t of no common factor, the least 0, with x_t = x + k_t v; None if none do."""
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
    """The one of b and -b whose positive entries score above its negative ones, if one does."""
    for signed in (b, [-entry for entry in b]):
        above = [g for entry, g in zip(signed, gamma, strict=True) if entry > 0]
        below = [g for entry, g in zip(signed, gamma, strict=True) if entry < 0]
        if min(above) > max(below):
            return signed
    return None


def share(m: Any, b: Any, gamma: Any, u: Any, count: Any = 1) -> Any:
    """What a token, or as many equal ones as `count` says, adds to h(u)."""
    return b * m.log(b / (count * (gamma - u)))


def balance(part: Part, b: Vector, u: fmpq) -> Any:
    """h(u)."""
    rows = zip(b, part.counts, part.scores, strict=True)
    return sum((share(BALLS, arb(x), g, u, count) for x, count, g in rows), arb(0))


def bracket(part: Part, b: Vector) -> tuple[fmpq, fmpq] | None:
    """Two scores, as near as balls can tell, with h below 0 at the first and above 0 at the other.

    None where the precision is too low to find one of them.
    """
    low, high = between(part, b)
    width = high - low
    while True:
        middle = (low + high) / 2
        value = balance(part, b, middle)
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:  # so near that the sign is not seen, or at the root
            break
    for k in reversed(range(2, _HALVINGS)):
        ends = middle - width / 2**k, middle + width / 2**k
        if balance(part, b, ends[0]) < 0 and balance(part, b, ends[1]) > 0:
            return ends
    return None


def between(part: Part, b: Vector) -> tuple[fmpq, fmpq]:
    """The largest score with b_t < 0 and the least with b_t > 0."""
    rows = list(zip(b, part.scores, strict=True))
    return max(g for x, g in rows if x < 0), min(g for x, g in rows if x > 0)


def vanishes(part: Part, b: Vector, u: fmpq) -> Any:
    """Whether h(u) is 0: whether a product of powers of rational numbers is 1; OPEN if unknown."""
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


def weighed(part: Part, b: Vector, u: fmpq, score: Any) -> Rest:
    """The rest of a part of one dependency, whose score is u, as near as can be told."""
    rows = zip(b, part.counts, part.scores, strict=True)
    logits = [float(arb(x / (count * (g - u))).log().mid()) for x, count, g in rows]
    return Rest(score, logits, sum(x > 0 for x in b) == 1)


def polynomial(part: Part, places: list[int], u: fmpq | None = None) -> fmpq_poly:
    """P, or sum_t m_t (gamma_t - u) y^k_t, which is 0 where the score is u."""
    rows = list(zip(places, part.counts, part.scores, strict=True))
    terms = (
        [(k, m * (g - u)) for k, m, g in rows]
        if u is not None
        else [
            (k + j, m * n * (k - j) * (g - f))
            for (j, n, f), (k, m, g) in itertools.combinations(rows, 2)
        ]
    )
    coefficients = [fmpq(0)] * (2 * max(places) + 1)
    for power, coefficient in terms:
        coefficients[power] += coefficient
    return fmpq_poly(coefficients)


def roots_of(part: Part, places: list[int]) -> list[tuple[arb, bool]]:
    """The positive roots of P in order, and whether P changes from + to - there."""
    P = polynomial(part, places)
    found = [(y.real, int(count)) for y, count in P.complex_roots() if y.imag == 0 and y.real > 0]
    found.sort(key=lambda root: root[0].mid())
    positive = next(c for c in P.coeffs() if c != 0) > 0
    roots = []
    for y, count in found:
        roots.append((y, positive and count % 2 == 1))
        positive ^= count % 2 == 1
    return roots


def on_line(part: Part, places: list[int], only: fmpq | None = None) -> Any:
    """The rests of a part on a line, or those of one score; OPEN where that is not decided."""
    if max(places) > _DEGREE:
        return OPEN
    roots = roots_of(part, places)
    at = [math.log(float(y.mid())) for y, _ in roots]
    kept = range(len(roots))
    if only is not None:  # roots of P at which the score is this one
        shared = polynomial(part, places).gcd(polynomial(part, places, only)).complex_roots()
        there = [y.real for y, _ in shared if y.imag == 0 and y.real > 0]
        kept = [k for k in kept if any(root.overlaps(roots[k][0]) for root in there)]
        if len(kept) != len(there):
            return OPEN
    rests = []
    for index in kept:
        y, largest = roots[index]
        weights = [m * y**k for k, m in zip(places, part.counts, strict=True)]
        score = dot(weights, part.scores) / sum(weights, arb(0)) if only is None else only
        room = min((abs(at[index] - x) for k, x in enumerate(at) if k != index), default=math.inf)
        logits = [k * at[index] for k in places]
        rests.append(Rest(part.mean if y == 1 else score, logits, largest, room))
    return rests


def rests(part: Part, only: fmpq | None = None) -> Any:
    """Where a part rests, or where it does with one score; OPEN where that is not decided.

    None of a part of another kind is known.
    """
    if len(set(part.scores)) == 1:
        meets = only is None or only == part.scores[0]
        return [Rest(part.scores[0], [0.0] * len(part.scores), True)] if meets else []
    found = dependencies(part.tokens)
    if len(found) == 1:
        return of_one_dependency(part, found[0], only)
    places = along_line(part.tokens)
    return [] if places is None else on_line(part, places, only)


def of_one_dependency(part: Part, b: Vector, only: fmpq | None) -> Any:
    """The one rest that such a part may have."""
    signed = apart(b, part.scores)
    if signed is None:
        return []
    low, high = between(part, signed)
    u = part.mean if only is None else only
    zero = vanishes(part, signed, u) if low < u < high else False
    if zero is True:
        return [weighed(part, signed, u, u)]
    if only is not None:
        return [] if zero is False else OPEN
    ends = bracket(part, signed)
    if ends is None:
        return OPEN
    return [weighed(part, signed, sum(ends, fmpq(0)) / 2, arb(ends[0]).union(arb(ends[1])))]


def is_known(part: Part) -> bool:
    """Whether all scores are equal, or there is one dependency, or the part is on a line."""
    if len(set(part.scores)) == 1 or len(dependencies(part.tokens)) == 1:
        return True
    return along_line(part.tokens) is not None


def common(found: list[Part], largest: bool = False) -> Any:
    """A rest of each part, all of one score; None if there are none, OPEN if that is not decided.

    With `largest` all of them are local maxima of the parts' scores.
    """
    own = [rests(part) for part in found]
    if any(each is not OPEN and not _fit(each, largest) for each in own):
        return None
    if any(each is OPEN for each in own):
        return OPEN
    if len(own) == 1:
        return [_fit(own[0], largest)[0]]
    exact = next((each for each in own if all(isinstance(r.score, fmpq) for r in each)), None)
    if exact is None:
        several = itertools.product(*(_fit(each, largest) for each in own))
        return OPEN if any(_overlap(each) for each in several) else None
    undecided = False
    for u in {rest.score for rest in exact}:
        there = [rests(part, u) for part in found]
        if all(each is OPEN or _fit(each, largest) for each in there):
            if OPEN not in there:
                return [_fit(each, largest)[0] for each in there]
            undecided = True
    return OPEN if undecided else None


def _fit(found: list[Rest], largest: bool) -> list[Rest]:
    return [rest for rest in found if rest.largest or not largest]


def _overlap(found: tuple[Rest, ...]) -> bool:
    pairs = itertools.combinations((arb(rest.score) for rest in found), 2)
    return all(a.overlaps(b) for a, b in pairs)
