"""Gradients and max-margin solutions with tokens left out, as formulas over exact values."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.exact import ExactData, dot
from attsvm.exact.numbers import combine
from attsvm.primitives import programme_letters as letters
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import ExactAttSVM, Token, exact_att_svm, first_optimal, without
from attsvm.primitives.descent import Descent
from attsvm.theory import concludes, gradient, stated
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.sim import LOSS_NAMES
from properties.sim._support.redundant_tokens import Dropped

WHICH = {
    "others": "the rivals that are no support vectors",
    "support": "the support vectors",
    "optimal": "the optimal tokens",
    "first": "the first support vector",
}


def named(data: AttentionData, which: str) -> list[Token]:
    """Return the tokens that `which` names: a key of `WHICH`, or "all".

    Margins are exact. If there is no X^mm, there are neither support vectors nor others.
    """
    if which == "all":
        return [(i, t) for i, kept in enumerate(ExactData.of(data).kept) for t in kept]
    if which == "optimal":
        exact = ExactData.of(data)
        return [(i, exact.kept[i][row]) for i, row in enumerate(first_optimal(exact))]
    margins = solution(data).margins
    tokens = [t for t, margin in margins.items() if (margin == 1) == (which != "others")]
    return tokens[:1] if which == "first" else tokens


def mask(data: AttentionData, tokens: Iterable[Token]) -> Array:
    """Return tokens as a mask (n, T)."""
    chosen = np.zeros((data.n, data.T), dtype=np.bool_)
    for token in tokens:
        chosen[token] = True
    return chosen


def solution(data: AttentionData, dropped: Iterable[Token] = ()) -> ExactAttSVM:
    """Return X^mm of the data without some tokens, in rationals.

    It is 0, without constraints, if none exists.
    """
    svm = exact_att_svm(without(data, mask(data, dropped)))
    zero = [[fmpq(0)] * data.d for _ in range(data.d)]
    return ExactAttSVM(zero, {}, {}, {}) if svm is None else svm


# the gradient of L(X) = sum_i g(u_i) / n, u_i = <softmax(X_i X z_i), gamma_i>


def _slopes(m: Namespace, data: AttentionData, W: Array) -> list[Numbers]:
    """Return dL/d(x_it^T W z_i), one array for the tokens of each input."""
    exact, weights = ExactData.of(data), m.values(W)
    slopes = []
    for tokens, z, gamma in zip(exact.X, exact.Z, exact.gamma, strict=True):
        scores, keys = m.values(gamma), weights @ m.values(z)

        def loss(k: Namespace, logits: Numbers, scores: Numbers = scores) -> Numbers:
            return k.logistic(k.dot(k.softmax(logits), scores))

        slopes.append(gradient(m, loss, m.values(tokens) @ keys) / len(exact.X))
    return slopes


@run_programs.traces
@stated(
    "at any X $which have zero gradients, that is $formula",
    r"\frac{dL}{d(x_t^\top X z)} = 0",
    {**LOSS_NAMES, "which": WHICH},
    where="L is the mean of $loss over the inputs",
)
def coefficients(m: Namespace, run: Descent, which: str = "others") -> Comparison:
    slopes, kept = _slopes(m, run.data, run.start), ExactData.of(run.data).kept
    chosen = named(run.data, which)
    if not chosen:
        return m.equal(m.exact(0), m.exact(0))  # there are no such tokens
    return m.equal(m.array([slopes[i][kept[i].index(t)] for i, t in chosen]), m.exact(0))


@run_programs.traces
@stated(
    "$formula at any X",
    r"\nabla L(X) = \nabla L'(X)",
    {**LOSS_NAMES, "which": WHICH},
    where="L is the mean of $loss over the inputs, and L' is L without $which",
)
def same_gradient(m: Namespace, run: Descent, which: str = "others") -> Comparison:
    """The gradient at X is the same without some tokens; softmax is over the tokens that stay."""
    rest = without(run.data, mask(run.data, named(run.data, which)))
    return m.equal(_gradient(m, run.data, run.start), _gradient(m, rest, run.start))


def _gradient(m: Namespace, data: AttentionData, W: Array) -> Any:
    """Return the gradient sum_it c_it x_it z_i^T of L, with c_it the slopes."""
    exact = ExactData.of(data)
    inputs = zip(exact.X, exact.Z, _slopes(m, data, W), strict=True)
    return sum(m.outer(m.values(tokens).T @ c, m.values(z)) for tokens, z, c in inputs)


# the programme: w_j are the multipliers of X^mm, and A_j = (x_opt - x_t) z^T


@concludes(letters.same_without_others)
@stated("$formula", "X^{mm} = X'", {"which": WHICH}, where="X' is the X^mm without $which")
def same_solution(m: Namespace, data: AttentionData, which: str = "others") -> Comparison:
    if exact_att_svm(data) is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    whole, rest = solution(data), solution(data, named(data, which))
    return m.equal(m.values(whole.W), m.values(rest.W))


@concludes(letters.at_most_lost)
@stated(
    "",
    r"\|X^{mm}\|^2 - \|X'\|^2 \le \|\sum_{j \in J} w_j A_j\|^2",
    where="X' is the X^mm without the rivals J, w are any multipliers of X^mm, and A_j = (x_opt - "
    "x_j) z^T",
)
def at_most_lost(m: Namespace, case: Dropped) -> Comparison:
    if exact_att_svm(case.data) is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    whole = solution(case.data)
    J = [token for token in whole.A if case.dropped[token]]
    lost, bounds = whole.square - solution(case.data, J).square, []
    for w in _multipliers(whole):
        dropped = combine([w[t] for t in J], [whole.A[t] for t in J]) if J else [fmpq(0)]
        bounds.append(dot(dropped, dropped))
    return m.at_most(m.values(lost), m.values(min(bounds)))


def _multipliers(whole: ExactAttSVM) -> list[dict[Token, fmpq]]:
    """Return three lists of multipliers of X^mm: the computed ones, and two sparser ones.

    The sparser ones move the weight of equal constraints to the first of them, or to the last.
    """
    keys = {t: tuple((int(x.p), int(x.q)) for x in a) for t, a in whole.A.items()}
    duals = [dict(whole.duals)]
    for tokens in (list(keys)[::-1], list(keys)):
        bearer = {keys[t]: t for t in tokens}
        moved = dict.fromkeys(keys, fmpq(0))
        for t in keys:
            moved[bearer[keys[t]]] += whole.duals[t]
        duals.append(moved)
    return duals


@concludes(letters.at_least_lost)
@stated(
    "$formula for every rival j",
    r"$factor w_j^2 $of \le \|X^{mm}\|^2 - \|X'\|^2",
    {"of": {"span": r"\mathrm{dist}(A_j, \mathrm{span} \{A_k, k \ne j\})^2", "zero": r"\|A_j\|^2"}},
    where="X' is the X^mm without the rival j, w are any multipliers of X^mm, and A_j = (x_opt - "
    "x_j) z^T",
)
def at_least_lost(
    m: Namespace, data: AttentionData, factor: Number = 1, of: str = "span"
) -> Relation:
    if exact_att_svm(data) is None:
        return m.below(m.exact(0), m.exact(0))  # there is no X^mm
    whole = solution(data)
    if not whole.A:
        return m.equal(m.exact(0), m.exact(0))  # there is no j
    gram = whole.gram(list(whole.A))
    parts = []
    known = _multipliers(whole)
    for j, token in enumerate(whole.A):
        square = _beside(gram, j) if of == "span" else gram[j, j]
        lost = whole.square - solution(data, [token]).square
        most = max(w[token] for w in known)
        parts.append(m.at_most(factor * m.values(most * most * square), m.values(lost)))
    return m.all_of(*parts)


def _beside(gram: fmpq_mat, j: int) -> fmpq:
    """Return the squared distance of vector j from the span of the others, by inner products."""
    basis: list[int] = []
    for k in range(gram.nrows()):
        if k != j and _volume(gram, [*basis, k]) != 0:
            basis.append(k)
    return _volume(gram, [*basis, j]) / _volume(gram, basis)


def _volume(gram: fmpq_mat, rows: list[int]) -> fmpq:
    """Return the squared volume that some of the vectors span, 1 for no vectors."""
    return fmpq_mat([[gram[a, b] for b in rows] for a in rows]).det() if rows else fmpq(1)
