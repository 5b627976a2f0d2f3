"""A selection of tokens as a model of the letters of programmes, in floats."""

from dataclasses import replace

import numpy as np

from attsvm.theory.proof.terms import IS_ZERO, REAL
from properties.mm._support import choice_letters as choices
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support import programme_letters as letters
from properties.mm._support.attended import Attended, mean_margin
from properties.mm._support.token_selections import Rival, chosen
from properties.mm.joint_svm.conclusion import of_support
from properties.mm.p_svm.conclusion import labels
from properties.mm.theorem_2 import letters as joint
from properties.mm.theorem_2 import prompt_limits, ratio_letters
from properties.mm.theorem_2.prompt_limits import at_infinity
from tests.theory.proof.evaluation import Model, nearest


def solution(programme, d):
    """The solution of a programme in floats; 0 if there is none."""
    return np.zeros(d) if programme.vector is None else floats(programme.vector)


def floats(vector):
    return np.array([int(x.p) / int(x.q) for x in vector])


def model_of(case, seed=0):
    """The model of a selection, or of one with a vector q."""
    selection = chosen(case)
    d = selection.X.shape[2]
    p, v = svm.p_programme(selection), svm.v_programme(selection)
    rows, heads = [floats(row) for row in p.rows], [floats(row) for row in v.rows]
    bounds = svm.of_rivals(selection, v.tight)
    relaxed = svm.relaxed(selection)
    square = relaxed.hull_square if relaxed.rows else None
    rests = svm.of_rivals(selection, margins.idle(selection))
    near = np.zeros(len(rows)) if square is None else floats(relaxed.shares)
    far = 0.0 if square is None else floats([square])[0] ** 0.5
    q = case.q if isinstance(case, Rival) else np.zeros(d)
    solved = {
        letters.PROMPT: p,
        letters.HEAD: v,
        letters.RELAXED: relaxed,
        letters.OF_SUPPORT: of_support(selection),
        letters.TIGHT_PROMPT: p.kept("tight") if p.exists and p.rows else p,
        letters.TIGHT_HEAD: v.kept("tight") if v.exists else v,
    }
    signs = labels(case) if isinstance(case, Rival) else np.repeat(selection.y, len(rows))
    functions = {
        letters.PROMPT.rows: rows.__getitem__,
        letters.HEAD.rows: heads.__getitem__,
        letters.BOUND: lambda j: float(bounds[j]),
        letters.NEAREST: lambda j: float(near[j]),
        letters.REST: lambda j: float(rests[j]),
        letters.LABEL: lambda j: float(signs[j]),
        IS_ZERO: lambda x: float(abs(x) < 1e-9),
        "weights of p(alpha)": lambda j: float(nearest(np.array(rows))[j]),
        "weights of v(alpha)": lambda i: float(nearest(np.array(heads))[i]),
    }
    vectors = [solution(one, d) for one in solved.values()]
    for one, vector in [*zip(solved, vectors, strict=True), (None, q)]:
        (atom,) = (letters.Q if one is None else one.solution).atoms
        functions[atom.function] = lambda vector=vector: vector
    (atom,) = letters.DISTANCE.atoms
    functions[atom.function] = lambda: far
    generator = np.random.default_rng(seed)
    samples = [*generator.normal(size=(3, d)), *vectors, *(2 * x for x in vectors), q]
    sets = {letters.RIVAL: range(len(rows)), letters.INPUT: range(len(heads))}
    slow = [solution(one, d + 1) for one in margins.slowest(selection) if one.exists]
    tried = {
        letters.SLOW.name: [x[:d] for x in slow[:1]] or samples,
        letters.TAU.name: [x[d] for x in slow[:1]] or [0.0, 0.5, 1.0],
    }
    return Model(functions, sets, 2, {letters.VECTOR: samples}, tried, floor=1e-9)


def model_of_attended(case):
    """The model of a selection with a prompt and a head."""
    one, n = case.chosen, len(case.chosen.y)
    X, weights = one.X * one.y[:, None, None], softmax(one, case.p)
    v = svm.v_programme(one)
    best, shares, head = (X @ case.h).argmax(axis=1), floats(v.shares), solution(v, X.shape[2])
    gamma, longest = (float(int(x.p) / int(x.q)) ** 0.5 for x in mean_margin(one))
    functions = {
        choices.OWNER: lambda j: j[0],
        choices.SELECTED: lambda i: X[i, one.alpha[i]],
        choices.BEST: lambda i: X[i, best[i]],
        choices.OTHER: X.__getitem__,
        choices.SHARE: shares.__getitem__,
        choices.ATTENTION: lambda i: weights[i, one.alpha[i]],
        choices.WEIGHT: weights.__getitem__,
    }
    constants = {choices.H: case.h, choices.HEAD: head}
    constants |= {choices.GAMMA: gamma, choices.LONGEST: longest}
    rivals = [(i, t) for i in range(n) for t in range(X.shape[1]) if t != one.alpha[i]]
    of_path = letters_of_path(case, X, dict(zip(rivals, svm.p_rows(one), strict=True)))
    functions |= of_path[0]
    for term, value in (constants | of_path[1]).items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value
    sets = {choices.INPUT: range(n), choices.RIVAL: rivals}
    samples = {letters.VECTOR: [head, case.h, *X[:, 0]], REAL: [-100.0, -1.0, 0.0, 1.0]}
    return Model(functions, sets, 2, samples, floor=1e-9)


def softmax(one, p):
    """The attention of each input at a prompt."""
    logits = one.X @ one.W.T @ p
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def letters_of_path(case, X, rows):
    """The values of letters of the joint path: of functions, and of constants."""
    one, v, d = case.chosen, svm.v_programme(case.chosen), X.shape[2]
    limit, alpha = solution(at_infinity(one), d), one.alpha
    idle, tight = np.array(margins.idle(one)), np.array(v.tight)
    tilts = margins.tilts(one)
    raised = [solution(tilts[i], d) for i in np.flatnonzero(tight & idle)]
    length, size = np.linalg.norm(case.p), np.linalg.norm(limit)
    attention = softmax(one, length / size * limit if size else limit)
    time = np.abs(case.p).sum()
    there = softmax(one, time * solution(svm.p_programme(one), d))
    multipliers, selected = floats(margins.multipliers(one)), X[np.arange(len(X)), alpha]
    functions = {
        letters.PROMPT.rows: {j: floats(row) for j, row in rows.items()}.__getitem__,
        joint.MULTIPLIER: multipliers.__getitem__,
        joint.COUNTED: lambda i: float(tight[i] and not idle[i]),
        joint.DULL: lambda i: float(tight[i] and idle[i]),
        joint.THEN: lambda i: attention[i, alpha[i]],
        joint.SPENT: attention.__getitem__,
        joint.REACHED: lambda i: there[i, alpha[i]],
        joint.LEFT: there.__getitem__,
    }
    return functions, {
        letters.PROMPT.solution: solution(svm.p_programme(one), d),
        joint.LIMIT.solution: limit,
        joint.U: sum(raised, np.zeros(d)),
        joint.R: length,
        joint.TIME: time,
        joint.LOWER: float(floats([margins.rival_square(one)])[0]) ** 0.5,
        joint.FAR: np.linalg.norm(X - selected[:, None], axis=2).max(),
        joint.RIVALS: X.shape[1] - 1.0,
    }


def model_of_tilted(case):
    """The model of a selection with a prompt q, and of p_tau."""
    one, q, d = case.chosen, case.rival.q, case.chosen.X.shape[2]
    base = model_of_attended(Attended(one, q, q))
    rivals = base.sets[choices.RIVAL]
    changed, risen = [*prompt_limits.changes_support(case)], [*prompt_limits.risen(one)]
    blurred, head = [*prompt_limits.blurred(one)], solution(svm.v_programme(one), d)
    units = []
    for beta in changed:
        vector = solution(svm.v_programme(beta), d)
        units.append(vector / (np.linalg.norm(vector) or 1.0))
    tokens = [[floats(row) for row in svm.v_rows(beta)] for beta in changed]
    above = [
        next(j for j in enumerate(beta.alpha) if j in rivals and score(one, j, head) > 1)
        for beta, _, _ in risen
    ]
    zero = [j for j, row in zip(rivals, svm.p_rows(one), strict=True) if not any(row)]
    sizes = [[*map(floats, pair)] for _, *pair in risen]
    functions = {
        ratio_letters.CHOSEN: lambda c, i: tokens[c][i],
        ratio_letters.UNIT: units.__getitem__,
        ratio_letters.REACHED: lambda c: float(svm.p_programme(changed[c]).exists),
        ratio_letters.MARGIN_OF: lambda c: min(x @ units[c] for x in tokens[c]),
        ratio_letters.ALONG: lambda e: sizes[e][0] @ sizes[e][1],
        ratio_letters.SIZES: lambda e: np.prod([np.linalg.norm(x) for x in sizes[e]]),
        ratio_letters.ABOVE: above.__getitem__,
        ratio_letters.SAME_KEY: lambda e: zero[0],
        ratio_letters.CLEAR: lambda e: floats([blurred[e][0]])[0],
        ratio_letters.BLUR: lambda e: floats([blurred[e][1]])[0],
    }
    constants = {
        letters.Q: q,
        ratio_letters.TAU: case.tau,
        ratio_letters.TILTED.solution: solution(prompt_limits.tilted(case), d),
    }
    for term, value in constants.items():
        (atom,) = term.atoms
        functions[atom.function] = lambda value=value: value
    sorts = zip(
        (ratio_letters.CHANGED, ratio_letters.RISEN, ratio_letters.BLURRED),
        (changed, risen, blurred),
        strict=True,
    )
    sets = {sort: range(len(found)) for sort, found in sorts}
    tilted = constants[ratio_letters.TILTED.solution]
    samples = [*base.samples[letters.VECTOR], q, tilted, 2 * tilted]
    return replace(
        base,
        functions={**base.functions, **functions},
        sets={**base.sets, **sets},
        samples={**base.samples, letters.VECTOR: samples},
    )


def score(one, j, head):
    """The score of a token under a head, times the label."""
    return one.y[j[0]] * (one.X[j] @ head)
