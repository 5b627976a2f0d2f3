"""Lemmas that linked proofs cite: theorems, as functions that return their instances.

A function takes terms and returns the hypotheses and conclusions of the theorem for these terms.
Its docstring states the theorem. The core trusts lemmas, so each names the place of its proof. If a
theorem says that a constant exists, `named` makes a new function for the constant.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from attsvm.errors import ProofError
from attsvm.theory.proof.facts import K, Proposition, Sequent, eq, ev, ge, gt
from attsvm.theory.proof.terms import (
    ABS,
    EXP,
    FIXED,
    INNER,
    INV,
    IS_ZERO,
    LOG,
    MAXIMUM,
    NORM,
    REAL,
    SQRT,
    VECTOR,
    Function,
    Letter,
    Term,
    as_term,
    derivative,
    extreme,
    fresh,
    letters_of,
    substituted,
    total,
)

Named = Callable[..., Function]
Slopes = Mapping[Function, Function]
"""Functions f with the functions g for which f' = -g."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A hypothesis of a lemma: a proposition under assumptions, for all values of bound letters."""

    proposition: Proposition
    assumptions: frozenset[Proposition] = frozenset()
    binds: frozenset[Letter] = frozenset()


@dataclass(frozen=True, slots=True)
class Instance:
    """A lemma applied to terms: its hypotheses and its conclusions."""

    needed: tuple[Needed, ...]
    concludes: tuple[Sequent, ...]


@dataclass(frozen=True, slots=True)
class Lemma:
    """A theorem: its name, the place of its proof, and the function that returns its instances."""

    name: str
    source: str
    at: Callable[..., Instance]


def lemma(name: str, source: str) -> Callable[[Callable[..., Instance]], Lemma]:
    """Return a decorator that makes a lemma of a function."""
    return lambda at: Lemma(name, source, at)


def _instance(
    needed: Iterable[Needed | Proposition], *concludes: Sequent | Proposition
) -> Instance:
    return Instance(
        tuple(x if isinstance(x, Needed) else Needed(x) for x in needed),
        tuple(x if isinstance(x, Sequent) else Sequent(x) for x in concludes),
    )


def _binds(*letters: Letter, apart: Iterable[Term] = ()) -> frozenset[Letter]:
    """Return the letters that a hypothesis binds.

    Raises:
        ProofError: such a letter occurs in the terms `apart`, which must not depend on it.
    """
    if letters_of(apart) & {*letters}:
        raise ProofError("an instance holds a letter that its lemma binds", value=repr(letters))
    return frozenset(letters)


def _binds_real(letter: Letter, *, apart: Iterable[Term]) -> frozenset[Letter]:
    """Return a real letter that a hypothesis binds.

    Raises:
        ProofError: the letter has fewer values than all reals, such as the positive ones, so that
            the hypothesis would say less.
    """
    if letter.sort != REAL:
        raise ProofError("a lemma about all reals binds another letter", value=repr(letter))
    return _binds(letter, apart=apart)


def falls(f: Function, fall: Function) -> Proposition:
    """Return the proposition that f' = -fall; only lemmas read it. Marks keep names apart."""
    return gt(Function(f"{f.name}'{f.mark} = -{fall.name}'{fall.mark}")(), 0)


def continuous(f: Function) -> Proposition:
    """Return the proposition that f is continuous; only lemmas read it."""
    return gt(Function(f"{f.name}'{f.mark} is continuous")(), 0)


def lipschitz_gradient(f: Term, X: Letter, constant: Term) -> Proposition:
    """Return the proposition that the gradient of f by the vector X is Lipschitz with a constant.

    It is about f as a function, not about the value of f at one X. So X becomes a letter that no
    rule replaces: with 10 X for X, the proposition would be about another function.

    Raises:
        ProofError: X is no vector, or the constant depends on X.
    """
    if X.sort != VECTOR or FIXED in f.letters or {X, FIXED} & constant.letters:
        raise ProofError("a function has no such gradient", value=repr(f))
    at_fixed = substituted(f, {X: FIXED.term})
    return gt(Function("has a Lipschitz gradient", (REAL, REAL))(at_fixed, constant), 0)


def spectral(body: Term, row: Letter, column: Letter) -> Term:
    """Return the spectral norm of the matrix with an entry for each row and column."""
    return extreme("spectral", extreme("row", body, column), row)


def hull(body: Term, index: Letter) -> Term:
    """Return the distance from 0 of the convex hull of vectors."""
    return extreme("hull", body, index)


# numbers and vectors


@lemma("Cauchy and Schwarz", "Horn and Johnson, Matrix Analysis, theorem 5.1.4")
def CAUCHY_SCHWARZ(_: Named, u: Term, v: Term) -> Instance:
    """<u, v> <= ||u|| ||v||."""
    return _instance([], ge(NORM(u) * NORM(v), INNER(u, v)))


@lemma("norm", "Horn and Johnson, Matrix Analysis, section 5.1")
def LENGTH(_: Named, v: Term) -> Instance:
    """||v|| >= 0 and ||v||^2 = <v, v>."""
    return _instance([], ge(NORM(v), 0), eq(NORM(v) ** 2, INNER(v, v)))


@lemma("reciprocal", "Rudin, Principles of Mathematical Analysis, proposition 1.18")
def RECIPROCAL(_: Named, x: Term) -> Instance:
    """If x > 0, then x Inv(x) = 1 and Inv(x) > 0."""
    return _instance([gt(x, 0)], eq(x * INV(x), 1), gt(INV(x), 0))


@lemma("root", "Rudin, Principles of Mathematical Analysis, theorem 1.21")
def ROOT(_: Named, x: Term) -> Instance:
    """If x >= 0, then sqrt(x) >= 0 and sqrt(x)^2 = x."""
    return _instance([ge(x, 0)], ge(SQRT(x), 0), eq(SQRT(x) ** 2, x))


@lemma("size", "Rudin, Principles of Mathematical Analysis, definition 1.25")
def SIZE(_: Named, x: Term) -> Instance:
    """|x| >= 0 and |x|^2 = x^2."""
    return _instance([], ge(ABS(x), 0), eq(ABS(x) ** 2, x**2))


@lemma("indicator of 0", "the definition")
def INDICATOR(_: Named, x: Term) -> Instance:
    """If x = 0, its indicator is 1, else 0; it is at least 0 and at most 1."""
    one = IS_ZERO(x)
    at_zero = Sequent(eq(one, 1), frozenset({eq(x, 0)}))
    elsewhere = (Sequent(eq(one, 0), frozenset({gt(y, 0)})) for y in (x, -x))
    return _instance([], at_zero, *elsewhere, ge(one, 0), ge(1, one))


@lemma("larger of two numbers", "the definition")
def LARGER(_: Named, x: Term, y: Term) -> Instance:
    """max(x, y) is at least x and at least y, and is one of them."""
    top = MAXIMUM(x, y)
    return _instance([], ge(top, x), ge(top, y), eq((top - x) * (top - y), 0))


@lemma("exponential", "Rudin, Principles of Mathematical Analysis, theorem 8.6")
def EXPONENTIAL(_: Named, x: Term) -> Instance:
    """exp(x) > 0 and exp(x) >= 1 + x."""
    return _instance([], gt(EXP(x), 0), ge(EXP(x), x + 1))


@lemma("exponential of a sum", "Rudin, Principles of Mathematical Analysis, theorem 8.6")
def EXPONENTIAL_OF_SUM(_: Named, x: Term, y: Term) -> Instance:
    """exp(x + y) = exp(x) exp(y)."""
    return _instance([], eq(EXP(x + y), EXP(x) * EXP(y)))


@lemma("logarithm", "Rudin, Principles of Mathematical Analysis, equation 8.36")
def LOGARITHM(_: Named, x: Term) -> Instance:
    """If x > 0, then exp(log(x)) = x."""
    return _instance([gt(x, 0)], eq(EXP(LOG(x)), x))


@lemma("discriminant", "Rudin, Principles of Mathematical Analysis, theorem 1.35")
def DISCRIMINANT(_: Named, t: Letter, a: Term, b: Term, c: Term) -> Instance:
    """If a t^2 + 2 b t + c >= 0 for every real t, then b^2 <= a c."""
    everywhere = ge(a * t.term**2 + 2 * b * t.term + c, 0)
    binds = _binds_real(t, apart=[a, b, c])
    return _instance([Needed(everywhere, binds=binds)], ge(a * c, b**2))


@lemma("spectral norm", "Horn and Johnson, Matrix Analysis, definition 5.6.1")
def SPECTRAL(_: Named, A: Term, row: Letter, column: Letter, v: Term) -> Instance:
    """If A and v are given by entries, then ||A v||^2 <= ||A||^2 ||v||^2, and ||A|| >= 0."""
    _binds(row, apart=[v])
    size, image = spectral(A, row, column), total(total(A * v, column) ** 2, row)
    return _instance([], ge(size, 0), ge(size**2 * total(v**2, column), image))


@lemma("spectral norm, attained", "Horn and Johnson, Matrix Analysis, definition 5.6.1")
def STRETCHED(named: Named, name: str, A: Term, row: Letter, column: Letter) -> Instance:
    """If A has a column, ||A v|| = ||A|| for some v of length 1, a function of A's letters."""
    v = named(name, [*sorted(A.letters - {row, column}, key=repr), column])
    entry = v(*sorted(A.letters - {row, column}, key=repr), column)
    image = total(total(A * entry, column) ** 2, row)
    return _instance(
        [gt(total(1, column), 0)],
        eq(total(entry**2, column), 1),
        eq(image, spectral(A, row, column) ** 2),
    )


@lemma("nearest point of a hull", "Rockafellar, Convex Analysis, theorems 2.3 and 27.4")
def NEAREST(named: Named, name: str, body: Term, index: Letter) -> Instance:
    """If there are vectors D_j, their hull has a point Z = sum_j w_j D_j that is nearest to 0.

    The w_j are at least 0 and add up to 1, ||Z|| is the distance of the hull from 0, and
    <Z, D_j> >= ||Z||^2 for all j. The w_j are functions of the letters of D_j.
    """
    own = sorted(body.letters - {index}, key=repr)
    w = named(name, [*own, index])(*own, index)
    Z, distance = total(w * body, index), hull(body, index)
    return _instance(
        [gt(total(1, index), 0)],
        ge(w, 0),
        eq(total(w, index), 1),
        eq(NORM(Z), distance),
        ge(INNER(Z, body), INNER(Z, Z)),
    )


@lemma("least squares", "Trefethen and Bau, Numerical Linear Algebra, theorem 11.1")
def LEAST_SQUARES(named: Named, name: str, body: Term, value: Term, index: Letter) -> Instance:
    """For all vectors x_t and numbers a_t there is a p with sum_t (a_t - <x_t, p>) x_t = 0.

    This p minimises sum_t (a_t - <x_t, p>)^2. It is a function of the letters in x_t and a_t.
    """
    own = sorted(letters_of([body, value]) - {index}, key=repr)
    p = named(name, own, VECTOR)(*own)
    rest = total((value - body @ p) * body, index)
    return _instance([], eq(rest @ rest, 0))


# functions


@lemma("extreme values", "Rudin, Principles of Mathematical Analysis, theorem 4.16")
def EXTREMES(named: Named, f: Function, x: Letter, low: Term, high: Term) -> Instance:
    """If f is continuous and above 0 on [low, high], it lies between two constants c > 0 and C."""
    binds, letters = _binds_real(x, apart=[low, high]), sorted(letters_of([low, high]), key=repr)
    on = frozenset({ge(x, low), ge(high, x)})
    c, C = (named(f"{path} {f.name}", letters)(*letters) for path in ("least", "most"))
    return _instance(
        [continuous(f), Needed(gt(f(x), 0), on, binds)],
        gt(c, 0),
        Sequent(ge(f(x), c), on),
        Sequent(ge(C, f(x)), on),
    )


@lemma("continuity at a point", "Rudin, Principles of Mathematical Analysis, definition 4.5")
def CONTINUITY(named: Named, name: str, f: Function, x: Letter, point: Term, off: Term) -> Instance:
    """If f is continuous and off > 0, some d > 0 has |f(x) - f(a)| <= off where |x - a| <= d.

    The number d is a function of the letters of the point a and of off.
    """
    _binds_real(x, apart=[point, off])
    own, change = sorted(letters_of([point, off]), key=repr), f(x) - f(point)
    d = named(name, own)(*own)
    near = frozenset({ge(x, point - d), ge(point + d, x)})
    bounds = (Sequent(ge(off, one), near) for one in (change, -change))
    return _instance([continuous(f), gt(off, 0)], gt(d, 0), *bounds)


@lemma("rising function", "Rudin, Principles of Mathematical Analysis, theorem 5.11")
def RISES(_: Named, f: Term, x: Letter, slopes: Slopes, low: Term, high: Term) -> Instance:
    """If f' >= 0 on [low, high], then f(high) >= f(low); g' = -slopes[g] for functions g in f."""
    on = frozenset({ge(x, low), ge(high, x)})
    slope = Needed(ge(derivative(f, x, slopes), 0), on, _binds_real(x, apart=[low, high]))
    change = substituted(f, {x: high}) - substituted(f, {x: low})
    known = (falls(one, fall) for one, fall in slopes.items())
    return _instance([*known, ge(high, low), slope], ge(change, 0))


@lemma("descent", "Nesterov, Introductory Lectures on Convex Optimization, section 1.2.3")
def DESCENT(
    _: Named, f: Term, X: Letter, slopes: Slopes, W: Term, after: Term, e: Term, L: Term, M: Letter
) -> Instance:
    """If grad f is L-Lipschitz, 0 < e and e L <= 1, then f(W - e grad f(W)) <= f(W).

    Raises:
        ProofError: the letter `M` of a direction occurs in f.
    """
    t, binds = fresh(REAL), _binds(X, M, FIXED, apart=[W, after, e, L])
    if M in f.letters:
        raise ProofError("the direction occurs in the function", value=repr(M))
    along = derivative(substituted(f, {X: W + M.term * t}), t, slopes)
    slope = substituted(along, {t: as_term(0)})
    return _instance(
        [
            *(falls(one, fall) for one, fall in slopes.items()),
            Needed(lipschitz_gradient(f, X, L), binds=binds),
            gt(e, 0),
            ge(1, e * L),
            Needed(eq(after @ M.term, W @ M.term - e * slope), binds=binds),
        ],
        ge(substituted(f, {X: W}), substituted(f, {X: after})),
    )


# sequences


@lemma("finitely often", "Rudin, Principles of Mathematical Analysis, theorem 1.20")
def FINITELY_OFTEN(_: Named, f: Term, gain: Term, bound: Term, near: Proposition) -> Instance:
    """If f never falls, and rises by a gain > 0 and stays below a bound while near: not near.

    More exactly, `near` is false in the end. Otherwise f would rise by the gain infinitely often,
    and exceed the bound at a step at which `near` is true.
    """
    after, k, when = substituted(f, {K: K.term + 1}), _binds(K, apart=[gain, bound]), {near}
    return _instance(
        [
            Needed(ge(after, f), binds=k),
            gt(gain, 0),
            Needed(ge(after, f + gain), frozenset(when), k),
            Needed(ge(bound, f), frozenset(when), k),
        ],
        ev(near.denied()),
    )


@lemma("settled", "the value at the step from which on f does not rise is a bound")
def SETTLED(named: Named, name: str, f: Term) -> Instance:
    """If f(k + 1) <= f(k) in the end, then f(k) <= B in the end; B depends on the letters of f."""
    letters = sorted(f.letters - {K}, key=repr)
    after = substituted(f, {K: K.term + 1})
    return _instance([ev(ge(f, after))], ev(ge(named(name, letters)(*letters), f)))


@lemma("Heine and Borel", "Rudin, Principles of Mathematical Analysis, theorem 2.41")
def HEINE_BOREL(
    _: Named, X: Term, e: Term, off: Letter, P: Letter, r: Term, goal: Proposition
) -> Instance:
    """If each point has a ball in which a goal on k holds at late steps, it holds in the end.

    X(k) is a sequence of vectors of length at most 1, and the numbers e(k) are below every positive
    number in the end. Each point P has a radius r(P) > 0 such that the goal holds at all k with
    ||X(k) - P|| < r(P) and e(k) < r(P). Finitely many of these balls cover the vectors of length at
    most 1, and e(k) is below the radii of these balls in the end.
    """
    near = frozenset({gt(r**2, (X - P.term) @ (X - P.term)), gt(r, e)})
    k, point = _binds(K, apart=[r]), _binds(P, apart=[X, e, goal.term])
    size, late = Needed(ge(1, X @ X), binds=k), Needed(ev(gt(off, e)), binds=_binds(off, apart=[e]))
    cover = Needed(goal, near, k | point)
    return _instance([size, late, Needed(gt(r, 0), binds=point), cover], ev(goal))
