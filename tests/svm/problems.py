"""Strategies for small problems of integers, whose comparisons are either ties or clear."""

import functools
from dataclasses import replace

import numpy as np
from hypothesis import assume, reject
from hypothesis import strategies as st

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.svm.programme import (
    att_svm_programme,
    finite_part_programme,
    generalised_programme,
    joint_programme,
    p_svm_programme,
    subset,
    v_svm_programme,
)


def two_tokens(D, Z, scores=(1, 0)):
    """Inputs of two tokens: input i has one constraint, with the difference D_i and query z_i."""
    D = np.array(D, dtype=float)
    X = np.stack([D, np.zeros_like(D)], axis=1)
    return AttentionData.of(X, Z, scores=np.tile(scores, (len(D), 1)))


def of_rows(kept, rival, Z, bound, equal):
    """The programme with these rows, bounds and equalities."""
    base = att_svm_programme(AttentionData.of([[[1.0], [0.0]]], [[1.0]], scores=[[1, 0]]))
    kept, rival, Z, bound = (np.array(x, dtype=float) for x in (kept, rival, Z, bound))
    index = np.zeros(len(bound), dtype=np.int64)
    return replace(
        base, D=kept - rival, Z=Z, bound=bound, equal=np.full(len(bound), equal), input=index,
        token=index + 1, kept=kept, rival=rival,
    )  # fmt: skip


@functools.cache
def blocks(*shape, top=3):
    """Arrays of integers of at most `top` in absolute value, drawn as bytes; 0 is simplest."""
    table = np.array([(k + 1) // 2 * (-1.0) ** (k + 1) for k in range(2 * top + 1)]) + 0.0
    size = int(np.prod(shape))
    return st.binary(min_size=size, max_size=size).map(
        lambda raw: table[np.frombuffer(raw, dtype=np.uint8) % len(table)].reshape(shape)
    )


@st.composite
def problems(draw, top=3, n=3, T=3, d=3):
    """Integer data with labels and sometimes a mask, and a target for each input, not masked."""
    n, T, d = draw(st.integers(1, n)), draw(st.integers(2, T)), draw(st.integers(1, d))
    targets = np.frombuffer(draw(st.binary(min_size=n, max_size=n)), np.uint8).astype(int) % T
    mask = None
    if draw(st.booleans()):
        mask = draw(blocks(n, T, top=1)) >= 0
        mask[np.arange(n), targets] = True
    y = np.where(draw(blocks(n, top=1)) < 0, -1.0, 1.0)
    data = AttentionData(
        draw(blocks(n, T, d, top=top)),
        draw(blocks(n, d, top=top)),
        y=y,
        v=draw(blocks(d, top=top)),
        mask=mask,
    )
    return data, targets


@st.composite
def selections(draw, data, targets):
    """A selection that contains the targets, and weights 1 or 2 of the tokens."""
    selected = (draw(blocks(data.n, data.T, top=1)) >= 0) & data.present
    selected[np.arange(data.n), targets] = True
    return selected, np.where(draw(blocks(data.n, data.T, top=1)) < 0, 2.0, 1.0)


KINDS = ("Att-SVM", "p-SVM", "keys", "v-SVM", "joint p-SVM", "Gen-SVM", "W_fin")


@st.composite
def programmes(draw, kinds=KINDS):
    """A programme of the SVM family on integer data, with at least one constraint."""
    data, targets = draw(problems())
    kind = draw(st.sampled_from(kinds))
    selected, probabilities = draw(selections(data, targets))
    make = {
        "Att-SVM": lambda: att_svm_programme(data, targets),
        "p-SVM": lambda: p_svm_programme(data, targets),
        "keys": lambda: p_svm_programme(data, targets, draw(blocks(2, data.d, top=2))),
        "v-SVM": lambda: v_svm_programme(data, targets),
        "joint p-SVM": lambda: joint_programme(data, draw(blocks(data.n)) >= 0, targets),
        "Gen-SVM": lambda: generalised_programme(data, selected),
        "W_fin": lambda: finite_part_programme(data, selected, probabilities),
    }
    try:
        return make[kind]()
    except DataError:  # nothing is constrained
        reject()


def without_zero_rows(programme):
    """The programme without rows that are zero; at least one row must remain."""
    keep = programme.D.any(axis=1) & programme.Z.any(axis=1)
    assume(keep.any())
    return subset(programme, keep)


SPOILT = {
    "zeros": lambda x, draw: np.zeros_like(x),
    "ones": lambda x, draw: np.ones_like(x),
    "nan": lambda x, draw: np.full_like(x, np.nan),
    "one nan": lambda x, draw: np.where(np.arange(x.size).reshape(x.shape) == 0, np.nan, x),
    "infinite": lambda x, draw: np.full_like(x, np.inf),
    "negative": lambda x, draw: -x,
    "one negative": lambda x, draw: np.where(x == x.max(), -x, x),
    "tiny negative": lambda x, draw: x - 1e-12,
    "largest lost": lambda x, draw: np.where(x == x.max(), 0.0, x),
    "random": lambda x, draw: draw.random(x.shape),
    "sparse": lambda x, draw: draw.random(x.shape) * (draw.random(x.shape) < 0.5),
    "scaled": lambda x, draw: x * 1.001,
    "huge": lambda x, draw: x * 1e200,
    "tiny": lambda x, draw: x * 1e-300,
    "perturbed": lambda x, draw: x * (1.0 + 1e-5 * draw.normal(size=x.shape)),
    "shuffled": lambda x, draw: draw.permutation(x.ravel()).reshape(x.shape),
}


def spoilt(kind, array):
    """A wrong array of the same shape, as a faulty solver might return it; see `SPOILT`."""
    with np.errstate(over="ignore"):
        return SPOILT[kind](array, np.random.default_rng(7))
