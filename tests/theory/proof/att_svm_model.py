"""Data of the Att-SVM as a model of the letters of linked proofs about programmes, in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rationals
from attsvm.exact.numbers import Matrix, subtract
from attsvm.losses import LOSSES
from attsvm.primitives import descent_letters as runs
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.att_svm import Token, exact_att_svm, exact_constraints, flat, without
from attsvm.primitives.sentences import Sentences
from attsvm.theory.proof.terms import POSITIVE, REAL, VECTOR, Term
from properties._support import single_letters as single
from properties._support import token_letters as tokens
from properties._support.token_choices import Choice, every, locally_optimal, rivals
from properties.sim._support.dropping import mask
from properties.sim._support.redundant_tokens import Dropped
from properties.sim.definition_3_8.instances import Classified, Pointed, Shared
from properties.sim.definition_4_1.instances import Queried, Soft, shares, soft_of
from properties.sim.few_support_tokens.conclusion import carriers
from properties.tf.generalised_svm import growth_letters, hidden_letters
from properties.tf.generalised_svm import parts_letters as kept_letters
from properties.tf.generalised_svm.kept_tokens import KeptTokens, parts
from properties.tf.generalised_svm.log_growth import Hidden, Several
from properties.tf.svm_rank import rank_letters as ranks
from tests.theory.proof.evaluation import Model


def model_of_programme(case: Any, seed: int = 0) -> Model:
    """Return the model of an instance; matrices are flattened, rivals are (input, token)."""
    data: AttentionData = getattr(case, "data", case)
    exact, alpha = ExactData.of(data), getattr(case, "alpha", None)
    rows = None if alpha is None else [*map(list.index, exact.kept, map(int, alpha))]
    A = {j: _fractions(a) for j, a in exact_constraints(exact, rows).items()}
    V, duals = _solution(data, alpha)
    generator = np.random.default_rng(seed)
    constants: dict[Term, Any] = {runs.V: V}
    functions: dict[Any, Any] = {
        runs.OWNER: lambda j: j[0],
        runs.A: A.__getitem__,
        letters.WEIGHT: duals.__getitem__,
        letters.SAME: lambda j, k: float(j == k),
    }
    sets: dict[Any, Any] = {runs.INPUT: range(data.n), runs.RIVAL: [*A]}
    drawn = generator.integers(-8, 9, size=(4, V.size)) / 4
    vectors = [*map(_exact, drawn), V, 2 * V]
    functions |= {**planes(data), **scores(data)}
    if isinstance(case, AttentionData):
        functions |= _chosen(case)
        constants[runs.SIDE] = _solved(exact.Z, [1] * data.n, data.d)
        sets[tokens.CHOICE] = [*map(tuple, every(case))]
        sets[tokens.TOKEN] = [(i, t) for i, row in enumerate(exact.kept) for t in row]
    if isinstance(getattr(case, "inputs", None), Sentences):
        around = _circle(case.inputs, exact)
        best = (x[tied[0]] for x, tied in zip(exact.X, exact.optimal, strict=True))
        placed = [
            np.outer(_fractions(x), _fractions(z)).ravel()
            for x, z in zip(best, exact.Z, strict=True)
        ]
        sets[letters.PLACE] = range(len(around))
        functions |= {
            letters.AFTER: lambda p: (p + 1) % len(around),
            letters.ASKED: lambda p: around[p],
            letters.PLACED: lambda p: placed[around[p][0]],
        }
    if isinstance(case, Pointed):
        points = [*map(_exact, case.points)]
        constants |= {letters.FIRST: points[0], letters.LAST: points[-1]}
        vectors += [*points, *(2 * p for p in points)]
    if isinstance(case, Classified):
        u, v = _exact(case.u), _exact(data.v)
        labels, queries = _exact(data.y), [*map(_exact, data.Z)]
        constants |= {
            letters.OUTER: np.outer(v, u).ravel(),
            letters.LENGTHS: float(u @ u) ** 0.5 * float(v @ v) ** 0.5,
        }
        functions[letters.ALONG] = lambda i: labels[i] * (queries[i] @ u)
    if isinstance(case, Shared):
        functions[letters.SHARE] = lambda j: Fraction(float(case.shares[j]))
    if isinstance(case, Shared | Classified):
        there = exact_att_svm(data) is not None
        distance = 1 / float(V @ V) ** 0.5 if A and there else float(there)
        constants[letters.DISTANCE] = distance
    if isinstance(case, Soft | Queried):
        _priced(case, A, V, duals, constants, functions, sets)
    if isinstance(case, Choice):
        others = rivals(case)
        functions[letters.DROPPED] = lambda j: float(others[j])
        functions[letters.GONE_RIVAL] = lambda c: c
        sets[letters.GONE] = [j for j in A if others[j]]
        constants[letters.REST] = _solution(without(data, others), alpha)[0]
        vectors.append(constants[letters.REST])
    elif isinstance(case, Dropped):
        functions[letters.DROPPED] = lambda j: float(case.dropped[j])
        rest = [j for j in A if case.dropped[j]]
        constants[letters.REST] = _solution(without(data, mask(data, rest)))[0]
    else:
        beside = {j: _beside(A, j) for j in A}
        rest_of = {j: _solution(without(data, mask(data, [j])))[0] for j in A}
        functions |= {letters.BESIDE: beside.__getitem__, letters.WITHOUT: rest_of.__getitem__}
        vectors += [*rest_of.values()]
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    samples = {
        REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0],
        POSITIVE: [0.125, 1.0, 4.0],
        VECTOR: vectors,
    }
    aside = {name: [*generator.normal(size=(3, data.d))] for name in "wq"}
    return Model(functions, sets, 2, samples, aside, strict=True)


def model_of_kept(case: KeptTokens, seed: int = 0) -> Model:
    """Return the model of an instance with kept tokens, in rationals."""
    X, Z, found = rationals(case.X), rationals(case.Z), parts(case)
    A: dict[Token, Array] = {}
    E: dict[Token, Array] = {}
    for i, (own, z, kept) in enumerate(zip(X, Z, case.kept.tolist(), strict=True)):
        first = kept.index(1.0)
        for t, x in enumerate(own):
            row = [a * b for a in subtract(own[first], x) for b in z]
            if t != first:
                (E if kept[t] else A)[i, t] = _fractions(row)
    W, fin = _fractions(found.W), _fractions(found.fin)
    svm = 0 * W if found.svm is None else _fractions(found.svm)
    weights = _combination([*A.values(), *E.values()], W)
    of = dict(zip([*A, *E], weights, strict=True))
    drawn = np.random.default_rng(seed).integers(-8, 9, size=(4, W.size)) / 4
    constants = {kept_letters.W: W, kept_letters.FIN: fin, kept_letters.SVM: svm}
    functions: dict[Any, Any] = {
        runs.A: A.__getitem__,
        kept_letters.E: E.__getitem__,
        kept_letters.OF_RIVAL: of.__getitem__,
        kept_letters.OF_KEPT: of.__getitem__,
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    vectors = [*map(_exact, drawn), W, fin, svm, 2 * svm, 0 * W]
    samples = {REAL: [-2.0, 0.0, 0.25, 1.0], VECTOR: vectors}
    sets = {runs.RIVAL: [*A], kept_letters.KEPT: [*E]}
    return Model(functions, sets, 2, samples, strict=True)


def model_of_hidden(case: Hidden) -> Model:
    """Return the model of a step on the data of `HIDDEN`, by the formula of the slope."""
    loss, w = LOSSES[case.loss], case.start[:, 0]
    odds = np.array([1.0, np.exp(-w[0]), np.exp(-w[0] - w[1])])
    s = odds / odds.sum()
    fall = -loss.slope(np.array([2 * s[0] - s[1] - s[2]])).item()
    moved = w + case.size * fall * 3 * s[0] * np.array([s[1] + s[2], s[2]])
    values = {
        hidden_letters.FIRST: w[0],
        hidden_letters.SECOND: w[1],
        hidden_letters.AFTER: moved[0],
        hidden_letters.LATER: moved[1],
        runs.RATE: case.size,
        runs.LOW: -1.0,
        runs.HIGH: 2.0,
    }
    functions: dict[Any, Any] = {
        runs.LOSS: lambda u: loss.value(np.array([u])).item(),
        runs.FALL: lambda u: -loss.slope(np.array([u])).item(),
    }
    for term, value in values.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=float(value): value  # type: ignore[attr-defined]
    return Model(functions, {}, 2, {REAL: [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]})


def model_of_several(case: Several, steps: int = 5) -> Model:
    """Return the model of descent from 0 on inputs of two tokens."""
    data, loss = case.data, LOSSES[case.loss]
    A = [np.outer(x[0] - x[1], z).ravel() for x, z in zip(data.X, data.Z, strict=True)]
    best, lower = data.gamma.T
    W = [np.zeros(data.d**2)]
    for _ in range(steps):
        s = np.array([1 / (1 + np.exp(-a @ W[-1])) for a in A])
        falls = -loss.slope(s * best + (1 - s) * lower)
        pulls = falls * (best - lower) * s * (1 - s) / data.n
        W.append(W[-1] + case.size * sum(p * a for p, a in zip(pulls, A, strict=True)))
    values = {runs.RATE: case.size, runs.LOW: data.gamma.min(), runs.HIGH: data.gamma.max()}
    functions: dict[Any, Any] = {
        runs.LOSS: lambda u: loss.value(np.array([u])).item(),
        runs.FALL: lambda u: -loss.slope(np.array([u])).item(),
        runs.BEST: lambda i: float(best[i]),
        growth_letters.LOWER: lambda i: float(lower[i]),
        growth_letters.A: A.__getitem__,
        runs.W: W.__getitem__,
        runs.COUNT: float,
    }
    for term, value in values.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=float(value): value  # type: ignore[attr-defined]
    vectors = [*np.random.default_rng(0).normal(size=(3, data.d**2)), *A, *W[1:3]]
    samples = {REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0], VECTOR: vectors}
    sets = {runs.INPUT: range(data.n)}
    return Model(functions, sets, steps, samples, floor=1e-12)


def model_of_carriers(data: AttentionData) -> Model:
    """Return the model of data with the rivals that are kept, in floats."""
    found, whole, svm = model_of_programme(data), ExactData.of(data), exact_att_svm(data)
    kept = [] if svm is None else carriers(svm)
    A, rivals_ = found.functions[runs.A], found.sets[runs.RIVAL]
    V, _ = _solution(data)
    weights = _combination([A(j) for j in kept], V)
    aside, coefficients = _orthogonal([A(j) for j in kept])
    span = _unit([A(j) for j in rivals_ if A(j) @ V == 1])
    queries = _unit([*map(_fractions, whole.Z)], keep=True)
    axes = np.eye(data.d, dtype=int)
    points = [dict(zip(*pair, strict=True)) for pair in zip(whole.kept, whole.X, strict=True)]
    best = [x[tied[0]] for x, tied in zip(whole.X, whole.optimal, strict=True)]
    leads = {(i, t): _fractions(best[i]) - _fractions(points[i][t]) for i, t in rivals_}
    gone = mask(data, [j for j in rivals_ if j not in kept])
    rest, _ = _solution(without(data, gone))
    (name,) = letters.REST.atoms
    functions = {
        letters.CARRIED: kept.__getitem__,
        letters.PART: weights.__getitem__,
        letters.ASIDE: aside.__getitem__,
        letters.COMBINED: lambda one, two: coefficients[one][two],
        letters.UNIT: span.__getitem__,
        letters.LEAD: lambda j, a: leads[j][a],
        letters.WITH_QUERY: lambda a, i: np.outer(axes[a], _fractions(whole.Z[i])).ravel(),
        letters.OF_QUERY: lambda a, i: np.outer(axes[a], queries[i]).ravel(),
        letters.OF_AXES: lambda a, e: np.outer(axes[a], axes[e]).ravel(),
        name.function: lambda: rest,  # type: ignore[attr-defined]
    }
    sets = {
        letters.CARRIER: range(len(kept)),
        letters.BASIS: range(len(span)),
        letters.AXIS: range(data.d),
    }
    return replace(
        found,
        functions={**found.functions, **functions},
        sets={**found.sets, **sets},
        floor=1e-9,
    )


def model_of_single(data: AttentionData) -> Model:
    """Return the model of data with the choice of each rival, and best tokens elsewhere."""
    found, whole = model_of_programme(data), ExactData.of(data)
    best = [kept[tied[0]] for kept, tied in zip(whole.kept, whole.optimal, strict=True)]

    def choice(r: Token | None) -> Array:
        return np.array([r[1] if r and r[0] == i else t for i, t in enumerate(best)])

    places = [None, *found.sets[runs.RIVAL]]
    answers = {r: _solution(data, choice(r)) for r in places}
    solved = {r: float(exact_att_svm(data, choice(r)) is not None) for r in places}
    local = {r: float(locally_optimal(data, choice(r))) for r in places}
    functions = {
        single.SOLUTION: lambda r: answers[r][0],
        single.TO_RIVAL: lambda r, s: answers[r][1].get(s, Fraction(0)),
        single.TO_BEST: lambda r: answers[r][1].get((r[0], best[r[0]]), Fraction(0)),
        single.SOLVED: solved.__getitem__,
        single.LOCAL: local.__getitem__,
    }
    for term, values in ((single.BEST_SOLVED, solved), (single.BEST_LOCAL, local)):
        (atom,) = term.atoms
        functions[atom.function] = lambda values=values: values[None]  # type: ignore[attr-defined]
    samples = {**found.samples, VECTOR: [*found.samples[VECTOR], *(x for x, _ in answers.values())]}
    return replace(found, functions={**found.functions, **functions}, samples=samples)


def model_of_ranks(data: AttentionData) -> Model:
    """Return the model of data with bases of the queries and leads of positive multiplier."""
    found, whole, d = model_of_programme(data), ExactData.of(data), data.d
    points = [dict(zip(*pair, strict=True)) for pair in zip(whole.kept, whole.X, strict=True)]
    best = [x[tied[0]] for x, tied in zip(whole.X, whole.optimal, strict=True)]
    leads = {
        (i, t): _fractions(best[i]) - _fractions(points[i][t]) for i, t in found.sets[runs.RIVAL]
    }
    V, duals = _solution(data)
    used = [j for j, weight in duals.items() if weight > 0]
    queries = _unit([_fractions(whole.Z[i]) for i, _ in used])
    differences, axes = _unit([leads[j] for j in used]), np.eye(d, dtype=int)
    u, s, v = np.linalg.svd(V.astype(float).reshape(d, d))
    constants = {ranks.LEFT: u[:, 0] * s[0], ranks.RIGHT: v[0]}
    functions: dict[Any, Any] = {
        # a sum over no rivals is the number 0
        runs.OUTER: lambda w, q: np.outer(w * np.ones(d), q).ravel(),
        ranks.IMAGE: lambda X, q: X.reshape(d, d) @ q,
        ranks.TURNED: lambda X, w: X.reshape(d, d).T @ w,
        ranks.LEAD: leads.__getitem__,
        ranks.UNIT: axes.__getitem__,
        ranks.QUERY_UNIT: queries.__getitem__,
        ranks.LEAD_UNIT: differences.__getitem__,
        ranks.NUCLEAR: lambda X: np.linalg.norm(X.astype(float).reshape(d, d), "nuc"),
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    sets = {
        letters.AXIS: range(d),
        ranks.OF_QUERIES: range(len(queries)),
        ranks.OF_LEADS: range(len(differences)),
    }
    return replace(
        found,
        functions={**found.functions, **functions},
        sets={**found.sets, **sets},
        floor=1e-9,
    )


def _orthogonal(rows: list[Array]) -> tuple[list[Array], list[list[Fraction]]]:
    """Return the orthogonal rows that Gram-Schmidt makes, and their coefficients in the rows."""
    made: list[Array] = []
    coefficients: list[Array] = []
    for k, row in enumerate(rows):
        own = np.array([Fraction(int(k == m)) for m in range(len(rows))], dtype=object)
        shares = [(row @ g) / (g @ g) if g.any() else Fraction(0) for g in made]
        made.append(row - sum((s * g for s, g in zip(shares, made, strict=True)), start=0 * row))
        less = (s * c for s, c in zip(shares, coefficients, strict=True))
        coefficients.append(own - sum(less, start=0 * own))
    return made, [[*c] for c in coefficients]


def _unit(rows: list[Array], *, keep: bool = False) -> list[Array]:
    """Return the rows of length 1 that Gram-Schmidt makes; zeros are left out unless kept."""
    made = [g.astype(float) for g in _orthogonal(rows)[0]]
    return [g / (np.linalg.norm(g) or 1.0) for g in made if keep or g.any()]


def _circle(asked: Sentences, exact: ExactData) -> list[Token]:
    """Return rivals of a shortest circle of words that one query asks for; [] if there is none.

    The optimal word of the first rival's problem is the word of the last rival, and so on.
    """
    problems, E = asked.sentences.shape[1] - 1, len(asked.embeddings)
    edges: dict[int, dict[tuple[int, int], Token]] = {}
    for i, (kept, tied) in enumerate(zip(exact.kept, exact.optimal, strict=True)):
        row = asked.sentences[i // problems].tolist()
        words = [*range(E)] if asked.whole else row
        own = edges.setdefault(row[i % problems], {})
        own |= {(words[kept[tied[0]]], words[t]): (i, t) for t in kept if t != kept[tied[0]]}
    for own in edges.values():
        paths = [[edge] for edge in own]
        for _ in range(E):
            for path in paths:
                if path[-1][1] == path[0][0]:
                    return [own[edge] for edge in path]
            paths = [[*path, edge] for path in paths for edge in own if edge[0] == path[-1][1]]
    return []


def _combination(rows: list[Array], W: Array) -> list[Fraction]:
    """Return coefficients with which rows add up to W; zeros if W is not in their span."""
    columns = [[fmpq(x.numerator, x.denominator) for x in row] for row in [*rows, W]]
    reduced, rank = fmpq_mat([list(row) for row in zip(*columns, strict=True)]).rref()
    result = [Fraction(0)] * len(rows)
    for r in range(rank):
        pivot = next(c for c in range(len(columns)) if reduced[r, c] != 0)
        if pivot == len(rows):
            return [Fraction(0)] * len(rows)
        result[pivot] = _fraction(reduced[r, len(rows)])
    return result


def _priced(
    case: Soft | Queried,
    A: dict[Token, Array],
    V: Array,
    duals: dict[Token, float],
    constants: dict[Term, Any],
    functions: dict[Any, Any],
    sets: dict[Any, Any],
) -> None:
    """Add the price, the slacks and the rival of X^mm."""
    soft = soft_of(case)
    moved = _exact(soft.move) + (V if soft.keep else 0)
    groups = dict(zip(A, shares(case), strict=True))
    own = {j: max(Fraction(0), 1 - a @ moved) for j, a in A.items()}
    named = sorted(set(groups.values()))
    xi = {g: max(own[j] for j in A if groups[j] == g) for g in named}
    sums = [sum(duals[j] for j in A if groups[j] == g) for g in named]
    constants |= {
        letters.MOVED: moved,
        letters.PRICE: float(soft.C),
        letters.LARGEST: max(sums, default=0.0),
    }
    functions |= {
        letters.GROUP: groups.__getitem__,
        letters.XI: xi.__getitem__,
        letters.OWN_XI: own.__getitem__,
    }
    sets[letters.SLACK] = named


def scores(data: AttentionData) -> dict[Any, Any]:
    """Return the scores of rivals, and the best one of each input, by their letters."""
    exact = ExactData.of(data)
    inputs = zip(exact.kept, exact.gamma, strict=True)
    rows = [dict(zip(kept, map(_fraction, gamma), strict=True)) for kept, gamma in inputs]
    return {
        runs.GAMMA: lambda j: rows[j[0]][j[1]],
        runs.BEST: lambda i: max(rows[i].values()),
    }


def planes(data: AttentionData) -> dict[Any, Any]:
    """Return the optimal token, w = X^mm z and the threshold c of each input, by their letters."""
    exact, svm = ExactData.of(data), exact_att_svm(data)
    d = data.d
    V = np.zeros((d, d), dtype=object) if svm is None else _fractions(flat(svm.W)).reshape(d, d)
    w = [V @ _fractions(z) for z in exact.Z]
    best = [_fractions(x[tied[0]]) for x, tied in zip(exact.X, exact.optimal, strict=True)]
    margins = {} if svm is None else {j: _fraction(m) for j, m in svm.margins.items()}
    lowest = [min((m for (n, _), m in margins.items() if n == i), default=0) for i in range(data.n)]
    offsets = [w[i] @ best[i] - Fraction(lowest[i]) / 2 for i in range(data.n)]
    queries = [*map(_fractions, exact.Z)]
    (turned,) = letters.TURNED.atoms
    return {
        runs.QUERY: queries.__getitem__,
        turned.function: lambda i, h: V.T @ (best[i] - best[h]),  # type: ignore[attr-defined]
        letters.OPTIMAL: best.__getitem__,
        letters.NORMAL: w.__getitem__,
        letters.OFFSET: offsets.__getitem__,
    }


def _chosen(data: AttentionData) -> dict[Any, Any]:
    """Return the tokens, queries and solutions of all choices of tokens, by their letters.

    The vectors q and w have their meanings only if queries and tokens are independent.
    """
    exact = ExactData.of(data)
    points = [dict(zip(*pair, strict=True)) for pair in zip(exact.kept, exact.X, strict=True)]
    taken = {alpha: _solution(data, np.array(alpha))[0] for alpha in map(tuple, every(data))}
    queries = [*map(_fractions, exact.Z)]

    def apart(alpha: tuple[int, ...], t: Token) -> Array:
        own = points[t[0]]
        return _fractions(own[alpha[t[0]]]) - _fractions(own[t[1]])

    def spread(alpha: tuple[int, ...], i: int) -> Array:
        others = [subtract(points[i][alpha[i]], x) for t, x in points[i].items() if t != alpha[i]]
        return _solved(others, [1] * len(others), data.d)

    best = [min(ts[k] for k in tied) for ts, tied in zip(exact.kept, exact.optimal, strict=True)]

    def margin(alpha: tuple[int, ...], t: Token) -> Fraction:
        answer = exact_att_svm(data, alpha)
        return Fraction(0) if answer is None else _fraction(answer.margins.get(t, fmpq(0)))

    return {
        tokens.TAKEN: lambda alpha, j: float(alpha[j[0]] == j[1]),
        tokens.RIVAL_MARGIN: margin,
        tokens.BEST_MARGIN: lambda alpha, i: margin(alpha, (i, best[i])),
        tokens.SOLVED: lambda alpha: float(exact_att_svm(data, alpha) is not None),
        tokens.LOCAL: lambda alpha: float(locally_optimal(data, np.array(alpha))),
        tokens.OF: lambda t: t[0],
        tokens.OTHER: lambda alpha, t: float(alpha[t[0]] != t[1]),
        tokens.DIFFERENCE: apart,
        tokens.ROW: lambda alpha, t: np.outer(apart(alpha, t), queries[t[0]]).ravel(),
        tokens.SOLUTION: taken.__getitem__,
        tokens.SPREAD: spread,
        runs.QUERY: queries.__getitem__,
        runs.LABEL: lambda _: 1,
        runs.DUAL: lambda i: _solved(exact.Z, [k == i for k in range(data.n)], data.d),
        runs.OUTER: lambda w, q: np.outer(w, q).ravel(),
    }


def _solved(rows: Matrix, values: Sequence[int], d: int) -> Array:
    """Return the shortest vector with these products with the rows; zeros if rows are dependent."""
    if not rows or fmpq_mat(rows).rank() < len(rows):
        return _fractions([fmpq(0)] * d)
    whole = fmpq_mat(rows)
    column = fmpq_mat([[fmpq(int(value))] for value in values])
    vector = whole.transpose() * (whole * whole.transpose()).inv() * column
    return _fractions([row[0] for row in vector.tolist()])


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _fractions(values: Any) -> Array:
    return np.array([*map(_fraction, values)], dtype=object)


def _exact(array: Array) -> Array:
    """Return an array of floats as a flat array of rationals."""
    return np.array([Fraction(float(x)) for x in np.ravel(array)], dtype=object)


def _solution(data: AttentionData, alpha: Array | None = None) -> tuple[Array, dict[Token, float]]:
    """Return X^mm of chosen tokens, the optimal ones unless given; zeros if it does not exist."""
    svm = exact_att_svm(data, alpha)
    if svm is None:
        zero = np.array([Fraction(0)] * data.d**2, dtype=object)
        return zero, dict.fromkeys(exact_constraints(ExactData.of(data)), Fraction(0))
    return _fractions(flat(svm.W)), {j: _fraction(w) for j, w in svm.duals.items()}


def _beside(A: dict[Token, Array], j: Token) -> Array:
    """Return A_j minus its projection on the span of the others, by Gram-Schmidt."""
    basis: list[Array] = []
    for a in (*(a for k, a in A.items() if k != j), A[j]):
        rest = a - sum(((a @ b) / (b @ b) * b for b in basis), start=0 * a)
        if a is A[j]:
            return rest
        basis += [rest] if rest.any() else []
    raise KeyError(j)
