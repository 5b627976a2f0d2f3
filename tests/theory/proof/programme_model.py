"""A selection of tokens as a model of the letters of programmes, in floats."""

import numpy as np

from attsvm.theory.proof.terms import IS_ZERO
from properties.mm._support import max_margin as svm
from properties.mm._support import programme_letters as letters
from properties.mm._support.token_selections import Rival, chosen
from properties.mm.joint_svm.conclusion import of_support
from properties.mm.p_svm.conclusion import labels
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
    q = case.q if isinstance(case, Rival) else np.zeros(d)
    solved = {
        letters.PROMPT: p,
        letters.HEAD: v,
        letters.RELAXED: svm.relaxed(selection),
        letters.OF_SUPPORT: of_support(selection),
        letters.TIGHT_PROMPT: p.kept("tight") if p.exists and p.rows else p,
        letters.TIGHT_HEAD: v.kept("tight") if v.exists else v,
    }
    signs = labels(case) if isinstance(case, Rival) else np.repeat(selection.y, len(rows))
    functions = {
        letters.PROMPT.rows: rows.__getitem__,
        letters.HEAD.rows: heads.__getitem__,
        letters.BOUND: lambda j: float(bounds[j]),
        letters.LABEL: lambda j: float(signs[j]),
        IS_ZERO: lambda x: float(abs(x) < 1e-9),
        "weights of p(alpha)": lambda j: float(nearest(np.array(rows))[j]),
        "weights of v(alpha)": lambda i: float(nearest(np.array(heads))[i]),
    }
    vectors = [solution(one, d) for one in solved.values()]
    for one, vector in [*zip(solved, vectors, strict=True), (None, q)]:
        (atom,) = (letters.Q if one is None else one.solution).atoms
        functions[atom.function] = lambda vector=vector: vector
    generator = np.random.default_rng(seed)
    samples = [*generator.normal(size=(3, d)), *vectors, *(2 * x for x in vectors), q]
    sets = {letters.RIVAL: range(len(rows)), letters.INPUT: range(len(heads))}
    return Model(functions, sets, 2, {letters.VECTOR: samples}, floor=1e-9)
