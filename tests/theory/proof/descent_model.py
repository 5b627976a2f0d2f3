"""A run of descent as a model of the letters of linked proofs, in floats.

Facts of a proof are evaluated in this model. A fact that is false there reveals a fault; see
`tests.theory.proof.evaluation`.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import ctx
from scipy.optimize import linprog

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, rational
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import smoothness
from attsvm.losses import LOSSES, Loss
from attsvm.paths import path_kq, path_w
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent, Keys
from attsvm.primitives.hypotheses import feasible, labellings
from attsvm.primitives.programme_letters import WEIGHT
from attsvm.primitives.query_hypotheses import balance
from attsvm.svm import att_svm
from attsvm.svm.nuclear import distance
from attsvm.theory import Claim
from attsvm.theory.proof.terms import POSITIVE, REAL, VECTOR
from properties._support import token_letters
from properties.mm.loss_choice.gradient_letters import OF_MINUS
from properties.mm.normalised_descent import paced_letters as paced
from properties.mm.w_p_equivalence import run_letters as pairs
from properties.mm.w_p_equivalence.models import Weighted
from properties.sim import REPAIRED
from properties.sim.orientation import conclusion as orientation
from properties.sim.printed_loss import conclusion as printed_loss
from properties.tf._support import path_letters as path
from properties.tf._support.regularisation_paths import Path, nuclear
from properties.tf.global_initial_gradient import letters as first_step
from properties.tf.global_initial_gradient.first_steps import Step as FirstStep
from properties.tf.linear_head_landscape import letters as rest
from properties.tf.theorem_2 import near_letters as near
from properties.tf.theorem_2.near_optimal_points import Candidate
from properties.tf.vanishing_regularisation.penalised_minima import Path as Penalised
from tests.theory.proof.evaluation import Model, nearest

_SLACK = 1e-3
"""Relative distance of the bounds of |l'| to its extreme values on a grid."""


def model_of(
    run: Descent,
    steps: int = 40,
    seed: int = 0,
    pace: float = 0.0,
    *,
    rising: bool = False,
    best: Array | None = None,
) -> Model:
    """Return the model of a run; of tied optimal tokens the first counts, and V may be 0.

    Args:
        run: the run; its loss is one of `attsvm.losses`.
        steps: number of steps.
        seed: seed of the generator that draws vectors.
        rising: whether steps go up the gradient.
        pace: the length of a step of normalised descent; 0 for plain descent.
        best: the tokens that stand for the optimal ones, if these are others.

    Returns:
        The model. Its rivals are pairs of input and token, and its matrices are flattened.
    """
    data, loss = run.data, LOSSES[run.loss]
    gamma = np.where(data.present, data.gamma, -np.inf)
    own = best is None
    best = gamma.argmax(axis=1) if best is None else best
    rivals = [
        (i, t) for i in range(data.n) for t in range(data.T) if data.present[i, t] and t != best[i]
    ]
    A = {(i, t): np.outer(data.X[i, best[i]] - data.X[i, t], data.Z[i]).ravel() for i, t in rivals}
    L = float(smoothness(ExactData.of(data), run.loss))
    rate = run.step / L if L > 0 else run.step
    iterates = _iterates(run, gamma, best, A, -rate if rising else rate, steps, pace)
    known = gamma[data.present]
    low, high = float(known.min()), float(known.max())
    grid = -loss.slope(np.linspace(low, high, 2001))
    V = np.zeros(data.d**2)
    if own and rivals and feasible(run):
        V = att_svm(data, targets=best).W.ravel()
    generator = np.random.default_rng(seed)
    margins = [min(a @ W for a in A.values()) for W in iterates if A]
    vectors = [
        *generator.normal(size=(4, V.size)),
        *(V, 2 * V, *iterates[:2]),
        *(W / m for W, m in zip(iterates, margins, strict=False) if m > 0),
    ]

    functions: dict[Any, Any] = {
        letters.OWNER: lambda j: j[0],
        letters.TWIN: lambda j: rivals[rivals.index(j) - 1],
        letters.MATE: lambda j: next((r for r in rivals if r[0] == j[0] and r != j), j),
        letters.RUNNER_UP: lambda j: _runner_up(rivals, gamma, A, V, j),
        letters.A: A.__getitem__,
        letters.GAMMA: lambda j: float(gamma[j]),
        letters.BEST: lambda i: float(gamma[i, best[i]]),
        letters.LEAST_SCORE: lambda i: float(data.gamma[i][data.present[i]].min()),
        letters.LOSS: lambda u: loss.value(np.array([float(u)])).item(),
        letters.FALL: lambda u: -loss.slope(np.array([float(u)])).item(),
        letters.W: iterates.__getitem__,
        letters.GRADIENT: lambda X: -_pull(run, gamma, best, A, X),
        OF_MINUS: lambda X: -_pull(replace(run, loss="correlation"), gamma, best, A, X),
        letters.QUERY: lambda i: np.asarray(data.Z[i], dtype=float),
        letters.RANGE: lambda i: float(np.ptp(data.gamma[i, data.present[i]])),
        **_headed(data, gamma, A),
        **_words(run, best),
        **_moved_alone(data, gamma, best),
        **_at_rest(data),
        "least fall": lambda: float(grid.min()) * (1 - _SLACK),
        "most fall": lambda: float(grid.max()) * (1 + _SLACK),
        letters.COUNT: float,
        letters.OTHER: lambda j: float(A[j] @ V > 1 + 1e-9),
    }
    leads = [float(gamma[i].max() - gamma[j]) for j in rivals for i in j[:1]]
    ends = np.array([low, high, *np.clip([0.0, 1.0], low, high)])  # |l'| is extreme at one of them
    falls = -loss.slope(ends)
    constants = {
        letters.LOW: low,
        letters.HIGH: high,
        letters.RATE: rate,
        letters.SMOOTHNESS: max(L, 0.0),
        letters.V: V,
        letters.MULTIPLE: float(np.linalg.norm(run.W) / (np.linalg.norm(V) or 1.0)),
        letters.GAP: min((x for x in leads if x > 0), default=1.0),
        letters.FLAT: float(ends[falls.argmin()]),
        letters.STEEP: float(ends[falls.argmax()]),
        paced.PACE: pace,
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    return Model(
        functions=functions,
        sets={
            letters.INPUT: range(data.n),
            letters.RIVAL: rivals,
            letters.WORD: range(data.T),
        },
        steps=steps,
        samples={
            REAL: [-2.0, -0.5, 0.0, 0.25, 1.0, 3.0],
            POSITIVE: [0.125, 0.5, 1.0, 4.0],
            VECTOR: vectors,
        },
        letters={
            "x": [*np.linspace(low, high, 9), low - 1.0, high + 1.0],
            "b": [0.25, 1.0, 4.0, 7.0],
            "q": [*generator.normal(size=(3, data.d)), _side(data)],
            "w": [*generator.normal(size=(3, data.d))],
        },
    )


RISING = "sim/theorem-3.15:amended-3"
"""A reading on runs of the printed loss, in letters of the other one."""


def model_for(claim: Claim, run: Descent, steps: int) -> Model:
    """Return the model of a run of a reading."""
    return model_of(run_of(claim, run), steps, rising=claim.id == RISING)


def run_of(claim: Claim, run: Descent) -> Descent:
    """Return the run that the letters of a reading are about; see its proposition."""
    if claim.statement_id == "sim/orientation":
        return orientation.turned(run)
    if claim.id in {"sim/printed-loss:amended-5", RISING}:
        return replace(run, loss=REPAIRED)
    return printed_loss.turned(run) if claim.statement_id == "sim/printed-loss" else run


def _runner_up(
    rivals: list[tuple[int, int]],
    gamma: Array,
    A: dict[tuple[int, int], Array],
    V: Array,
    j: tuple[int, int],
) -> tuple[int, int]:
    """Return the second-best token of the input of a rival whose margin under V is the least."""
    own = [r for r in rivals if r[0] == j[0]]
    top = max(gamma[r] for r in own)
    return min((r for r in own if gamma[r] == top), key=lambda r: float(A[r] @ V))


def _words(run: Descent, best: Array) -> dict[Any, Any]:
    """Return embeddings, and the words that problems over a whole vocabulary are about."""
    E: Array = getattr(run.inputs, "embeddings", np.eye(1))
    return {
        letters.EMBEDDING: lambda v: E[v],
        letters.ASKED: lambda i: int((run.data.Z[i] == E).all(axis=1).argmax()),
        letters.NEXT: lambda i: int(best[i]),
        letters.WORD_OF: lambda j: j[1],
    }


def model_of_runs(case: Weighted, trained: str, steps: int = 6) -> Model:
    """Return the model of descent on W beside descent on q or p, by rescaled steps.

    Its letters are those of `properties.mm.w_p_equivalence.run_letters`.
    """
    n, T, d = case.X.shape
    loss, best = LOSSES[case.loss], case.scores.argmax(axis=1)
    rivals = [(i, t) for i in range(n) for t in range(T) if t != best[i]]
    square, W = float(case.p @ case.p), case.W
    turned = np.linalg.qr(np.column_stack([case.p, np.eye(d)]))[0].T
    P = turned * np.sqrt(square) * np.sign(turned[0] @ case.p)
    c = float((W**2).sum()) / d if trained == "p" and W.any() else 1.0
    first = np.eye(d)[0]
    D = {(i, t): np.outer(case.X[i, best[i]] - case.X[i, t], first).ravel() for i, t in rivals}

    def lifted(y: Array) -> Array:
        return (y.reshape(d, d) @ P).ravel()

    def turned_back(y: Array) -> Array:
        return (W.T @ y.reshape(d, d)).ravel() if trained == "p" else y

    def iterates(start: Array, A: dict[tuple[int, int], Array], rate: float) -> list[Array]:
        keys = Descent(Keys(case.X, case.scores), np.zeros(d), case.loss)
        result = [start.ravel()]
        for _ in range(steps):
            result.append(result[-1] + rate * _pull(keys, case.scores, best, A, result[-1]))
        return result

    own = iterates(W, {j: lifted(x) for j, x in D.items()}, case.step)
    start = P.T if trained == "p" else W @ P.T
    other_rate = case.step * square / c
    other = iterates(start, {j: turned_back(x) for j, x in D.items()}, other_rate)
    functions: dict[Any, Any] = {
        letters.OWNER: lambda j: j[0],
        letters.GAMMA: lambda j: float(case.scores[j]),
        letters.BEST: lambda i: float(case.scores[i, best[i]]),
        letters.LOSS: lambda u: loss.value(np.array([u])).item(),
        letters.FALL: lambda u: -loss.slope(np.array([u])).item(),
        letters.W: own.__getitem__,
        pairs.OTHER: other.__getitem__,
        pairs.D: D.__getitem__,
        pairs.F: lifted,
        pairs.G: turned_back,
    }
    rates = {letters.RATE: case.step, pairs.OTHER_RATE: other_rate, pairs.SCALE: square}
    for term, value in {**rates, pairs.PACE: c}.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    drawn = [*np.random.default_rng(0).normal(size=(4, d * d)), *own[:2], *other[:2]]
    samples = {REAL: [0.0, 1.0], VECTOR: drawn}
    return Model(functions, {letters.INPUT: range(n), letters.RIVAL: rivals}, steps, samples)


def model_of_candidate(case: Candidate) -> Model:
    """Return the model of a point W beside rho W^mm; see `properties.tf.theorem_2.near_letters`."""
    model = model_of(Descent(case.data, case.W, case.loss), steps=2)
    (atom,) = letters.V.atoms
    solved = exact_att_svm(case.data)
    svm = model.functions[atom.function]()  # type: ignore[attr-defined]
    loss, data = LOSSES[case.loss], case.data
    scores = [data.gamma[i, data.present[i]] for i in range(data.n)]
    ends = ((g.min(), g.max()) for g in scores)
    at = [np.array([*pair, *np.clip([0.0, 1.0], *pair)]) for pair in ends]
    falls = [-loss.slope(ends) for ends in at]
    points = [np.asarray(case.W, dtype=float).ravel(), case.rho * svm]
    (rho,), (cost,) = near.RHO.atoms, near.COST.atoms
    G = 0.0
    if solved is not None:
        with ctx.workprec(256):
            rows = [[rational(case.rho) * x for x in row] for row in solved.W]
            G = float((risk_gap(ExactData.of(data), rows, case.loss) * data.n).mid())

    def near_best(i: int) -> float:
        """Return the score of the least |l'| from the best score down to G/m below it."""
        best = float(np.max(scores[i]))
        low = best - G / float(falls[i].min())
        found = np.array([low, best, *np.clip([0.0, 1.0], low, best)])
        return float(found[np.argmin(-loss.slope(found))])

    functions = {
        **model.functions,
        letters.W: points.__getitem__,
        near.WORST: lambda i: float(np.min(scores[i])),
        near.FLAT: lambda i: float(at[i][falls[i].argmin()]),
        near.STEEP: lambda i: float(at[i][falls[i].argmax()]),
        WEIGHT: lambda j: 0.0 if solved is None else float(Fraction(str(solved.duals[j]))),
        rho.function: lambda: case.rho,  # type: ignore[attr-defined]
        cost.function: lambda: G,  # type: ignore[attr-defined]
        near.NEAR: near_best,
    }
    vectors = [*model.samples[VECTOR], *points]
    return replace(model, functions=functions, samples={**model.samples, VECTOR: vectors})


def model_of_first_step(case: FirstStep, steps: int = 6) -> Model:
    """Return the model of descent after a first step along the gradient."""
    data, loss, W = case.data, LOSSES[case.loss], np.asarray(case.start, dtype=float)
    before = model_of(Descent(data, W, case.loss), steps=2)
    slope = before.functions[letters.GRADIENT](W.ravel())
    unit = -slope / np.linalg.norm(slope)
    after = (W.ravel() + case.length * unit).reshape(W.shape)
    model = model_of(Descent(data, after, case.loss, step=case.step), steps)
    scores = [data.gamma[i, data.present[i]] for i in range(data.n)]
    at = [np.array([*pair, *np.clip([0.0, 1.0], *pair)]) for pair in map(_ends, scores)]
    steepest = [float((-loss.slope(points)).max()) for points in at]
    constants = {
        first_step.START: W.ravel(),
        first_step.UNIT: unit,
        first_step.LENGTH: case.length,
    }
    functions = {**model.functions, first_step.STEEPEST: steepest.__getitem__}
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    vectors = [*model.samples[VECTOR], W.ravel(), unit, slope]
    samples = {**model.samples, VECTOR: vectors}
    return replace(model, functions=functions, samples=samples, floor=1e-12)


RHOS = (1.0, 8.0, 64.0, 480.0, 560.0, 600.0)
"""Radii of a path in units of ||W^mm||, if exponentials stay within floats."""


def model_of_path(case: Path) -> Model:
    """Return the model of minimisers over balls; see `properties.tf._support.path_letters`.

    Minimisers are computed if a proof speaks of them: matrices, or factors.
    """
    data, loss, shape = case.data, LOSSES[case.loss], (case.data.d, case.data.d)
    model = model_of(Descent(data, np.zeros(shape), case.loss), steps=2)
    (atom,) = letters.V.atoms
    V, solved, star = model.functions[atom.function](), exact_att_svm(data), nuclear(data)  # type: ignore[attr-defined]
    gamma, starts = np.where(data.present, data.gamma, -np.inf), ("svm", "gradient")
    U, values, Q = np.linalg.svd(star.W)
    rivals, N = model.sets[letters.RIVAL], float(np.linalg.norm(V))
    longest = max((float(np.linalg.norm(model.functions[letters.A](j))) for j in rivals), default=1)
    # no margin in these balls has an exponential that floats cannot tell from 0
    largest = min(RHOS[-1] * N, 690 / longest)
    root, radii = np.sqrt(values), [rho / RHOS[-1] * largest for rho in RHOS]

    @functools.cache
    def minima() -> list[Array]:
        return [m.W.ravel() for m in path_w(data, loss, radii, starts=starts)]

    @functools.cache
    def factors() -> list[tuple[Array, Array]]:
        return [(m.K.ravel(), m.Q.ravel()) for m in path_kq(data, loss, radii, starts=starts)]

    def matrix(X: Array) -> Array:
        return np.broadcast_to(X, data.d**2).reshape(shape)

    functions = {
        **model.functions,
        letters.W: lambda k: minima()[k],
        path.RADIUS: radii.__getitem__,
        WEIGHT: lambda j: 0.0 if solved is None else float(Fraction(str(solved.duals[j]))),
        "near": lambda i: _near(loss, float(gamma[i].max())),
        path.KEYS: lambda k: factors()[k][0],
        path.QUERIES: lambda k: factors()[k][1],
        path.PRODUCT: lambda K, Q: (matrix(K) @ matrix(Q).T).ravel(),
        path.LEFT: lambda t: (U * root * np.sqrt(t)).ravel(),
        path.RIGHT: lambda t: (Q.T * root * np.sqrt(t)).ravel(),
        path.NUCLEAR: lambda X: float(np.linalg.norm(matrix(X), "nuc")),
        path.DISTANCE: lambda X: distance(star, matrix(X) * star.value)[0] / star.value,
    }
    # rounding leaves this a solution, and so it does the next one times C_*
    W = star.W.ravel() * (1 + 1e-12)
    over = (1 - 1e-13) / float(np.linalg.norm(matrix(W), "nuc")) * W
    for term, value in ((path.STAR, W), (path.WIDTH, float(np.sqrt(data.d)))):
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    vectors = [*model.samples[VECTOR], W, over]
    samples = {**model.samples, VECTOR: vectors}
    values_ = {
        **model.letters,
        "y": model.letters["x"],
        "off": [0.125, 0.5, 1.0],
        "M": [*vectors[:2], W, over],
    }
    return replace(
        model, functions=functions, samples=samples, letters=values_, steps=len(RHOS), floor=1e-9
    )


def model_of_penalised(case: Penalised, factored: bool) -> Model:
    """Return the model of minimisers with a penalty, points of the path at their own radii.

    The penalties are those for which the slope of the objective is 0 at these points.
    """
    model = model_of_path(case)
    shape, f = (case.data.d, case.data.d), model.functions
    name = path.PRODUCT if factored else letters.W

    @functools.cache
    def radius(k: int) -> float:
        ours = [f[path.KEYS](k), f[path.QUERIES](k)] if factored else [f[letters.W](k)]
        square = float(sum(x @ x for x in ours))
        return square / 2 if factored else float(np.sqrt(square))

    @functools.cache
    def penalty(k: int) -> float:
        ours = f[name](f[path.KEYS](k), f[path.QUERIES](k)) if factored else f[name](k)
        slope = f[letters.GRADIENT](ours)
        unit = float(np.abs(slope).max()) or 1.0  # squares of entries underflow
        if factored:
            return unit * float(np.linalg.norm(slope.reshape(shape) / unit, 2))
        return unit * float(np.linalg.norm(slope / unit)) / radius(k)

    functions = {**f, path.RADIUS: radius, path.PENALTY: penalty}
    return replace(model, functions=functions)


def _ends(scores: Array) -> tuple[float, float]:
    return float(scores.min()), float(scores.max())


def _near(loss: Loss, score: float) -> float:
    """Return a distance from a score within which l' differs by half of it at most."""
    distance, slope = 1.0, loss.slope(np.array([score])).item()
    while (
        np.abs(loss.slope(score + distance * np.linspace(-1, 1, 65)) - slope).max() > abs(slope) / 2
    ):
        distance /= 2
    return distance


def _headed(data: AttentionData, gamma: Array, A: dict[tuple[int, int], Array]) -> dict[Any, Any]:
    """Return labels, v q^T, q, and a matrix whose margins are leads of scores.

    They have these meanings only if scores are those of labels and a head, if independent queries
    have a q, or if scores are linear in the tokens.
    """
    labels = _labels(data)
    scores = np.where(data.present, data.gamma * labels[:, None], 0.0)
    v = _solved(np.where(data.present[..., None], data.X, 0.0).reshape(-1, data.d), scores.ravel())
    side = _side(data)
    leads = np.array([gamma[i].max() - gamma[i, t] for i, t in A])
    head = _solved(np.array([*A.values()]), leads) if A else np.zeros(data.d**2)
    named = {letters.HEAD: head, letters.SIDE: side}
    functions: dict[Any, Any] = {
        letters.LABEL: lambda i: float(labels[i]),
        letters.LIFT: lambda q: np.outer(v, q).ravel(),
    }
    for term, value in named.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    return functions


def _moved_alone(data: AttentionData, gamma: Array, best: Array) -> dict[Any, Any]:
    """Return tokens, w q^T, vectors q that move one input alone, and w, b that separate its tokens.

    The q and w have these meanings only if queries are independent, or if tokens are separable.
    """
    inverse, kept = np.linalg.pinv(data.Z), data.present[0]
    functions: dict[Any, Any] = {
        letters.OPTIMAL: lambda i: np.asarray(data.X[i, best[i]], dtype=float),
        letters.TOKEN: lambda j: np.asarray(data.X[j], dtype=float),
        letters.OUTER: lambda w, q: np.outer(w, q).ravel(),
        letters.DUAL: lambda i: inverse[:, i],
        token_letters.SEPARATOR: lambda x: _separator(data.X[0][kept], gamma[0][kept] > x)[:-1],
        token_letters.CUT: lambda x: float(_separator(data.X[0][kept], gamma[0][kept] > x)[-1]),
    }
    for term, value in ((token_letters.FIRST, 0), (token_letters.OWN_QUERY, inverse[:, 0])):
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    return functions


def _labels(data: AttentionData) -> Array:
    return np.array(next(labellings(data), [1] * data.n), dtype=float)


def _side(data: AttentionData) -> Array:
    """Return a q with Y_i <z_i, q> = 1 for all inputs, if there is one."""
    return _solved(_labels(data)[:, None] * data.Z, np.ones(data.n))


def _at_rest(data: AttentionData) -> dict[Any, Any]:
    """Return the letters of tokens that rest at W = 0 if no q is on one side of all inputs."""
    labels, (e_1, e_2) = _labels(data), np.eye(2, data.d)
    parts = balance(data, [*map(int, labels)])
    if parts is None:
        weights = nearest(labels[:, None] * data.Z)
    else:
        weights = np.array([int(x.p) / int(x.q) for x in parts])
    place = np.sqrt(2.0) ** np.arange(data.d)
    functions: dict[Any, Any] = {
        rest.PART: lambda i: float(weights[i] / weights.sum()),
        rest.SIGN: lambda i: float(np.sign(data.Z[i] @ place)),
        rest.COLUMN: lambda M: M[: data.d],
    }
    for term, value in ((rest.PLACE, place), (rest.E_1, e_1), (rest.E_2, e_2)):
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value  # type: ignore[attr-defined]
    return functions


def _separator(tokens: Array, above: Array) -> Array:
    """Return w and b with <w, x> >= b + 1 for the tokens above, and <= b - 1 for the rest."""
    sign = np.where(above, -1.0, 1.0)
    rows = np.concatenate([tokens, -np.ones((len(tokens), 1))], axis=1) * sign[:, None]
    found = linprog(np.zeros(rows.shape[1]), rows, -np.ones(len(rows)), bounds=(None, None))
    return np.zeros(rows.shape[1]) if found.x is None else np.asarray(found.x)


def _solved(rows: Array, values: Array) -> Array:
    """Return a vector with these products with the rows, if there is one."""
    return np.asarray(np.linalg.lstsq(rows, values, rcond=None)[0])


def _iterates(
    run: Descent,
    gamma: Array,
    best: Array,
    A: dict[tuple[int, int], Array],
    rate: float,
    steps: int,
    pace: float = 0.0,
) -> list[Array]:
    """Return W at each step, by softmax over the margins of rivals."""
    W = np.asarray(run.W, dtype=float).ravel().copy()
    result = []
    for _ in range(steps):
        result.append(W)
        move = _pull(run, gamma, best, A, W)
        W = W + (pace / (np.linalg.norm(move) or 1.0) if pace else rate) * move
    return result


def _pull(
    run: Descent, gamma: Array, best: Array, A: dict[tuple[int, int], Array], W: Array
) -> Array:
    """Return the sum of the p_j A_j at W."""
    loss, n = LOSSES[run.loss], run.data.n
    move = np.zeros_like(W)
    for i in range(n):
        own = [j for j in A if j[0] == i]
        powers = np.array([1.0, *(np.exp(-A[j] @ W) for j in own)])
        shares = powers / powers.sum()
        scores = np.array([gamma[i, best[i]], *(gamma[j] for j in own)])
        u = float(shares @ scores)
        for j, s in zip(own, shares[1:], strict=True):
            p = -loss.slope(np.array([u])).item() * s * (u - gamma[j]) / n
            move = move + p * A[j]
    return move
