"""Ranks of the solutions of the Att-SVM: bounds of that of W^mm, and those of nuclear solutions."""

import numpy as np
from flint import arb, fmpq, fmpq_mat

from attsvm.data import AttentionData
from attsvm.errors import NotExpressible, SolverError
from attsvm.exact import ExactData
from attsvm.exact.numbers import remembered, subtract
from attsvm.primitives import run_programs
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.svm import att_svm_programme, solve_programme
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.theory import Hypothesis, Measured, Slack, concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from attsvm.theory.types import Comparison, Namespace
from properties.tf._support.solution_ranks import beyond_rank, nuclear_proposal
from properties.tf.svm_rank import rank_letters


def _pairs() -> AttentionData:
    """Return three inputs in the plane with two solutions, and pairs that only one meets."""
    D = [(0.0, -1.0, 0.0), (-2.0, 1.5, 0.0), (-0.25, -1.0, 0.0)]
    z = [(1.25, 1.5, 0.0), (-1.0, -1.5, 0.0), (-0.5, -1.5, 0.0)]
    for u, v in (((-2.125, -4.0625), (-4.75, -5.0625)), ((-1.0625, 1.9375), (-1.25, -9.6875))):
        for sign in (8.0, -8.0):
            D.append((*u, sign))
            z.append((*v, sign))
    X = np.zeros((7, 2, 3))
    X[:, 0] = D
    head = np.array([1.0, -4.0, 2.0])
    return AttentionData(X, np.array(z), y=np.sign(X[:, 0] @ head), v=head)


MIRRORED = _pairs()
"""Frobenius rank 2, nuclear rank 3."""


def protocol(generator: np.random.Generator) -> AttentionData:
    """Return Gaussian tokens and queries of sizes up to (6, 5, 8), separable by a drawn matrix."""
    n, T, d = (int(generator.integers(low, high + 1)) for low, high in ((1, 6), (2, 5), (1, 8)))
    X, Z = generator.normal(size=(n, T, d)), generator.normal(size=(n, d))
    W = generator.normal(size=(d, d))
    return AttentionData(X, Z, scores=np.einsum("ntr,rc,nc->nt", X, W, Z))


def compare(data: AttentionData, less: int = 0, most: int | None = None) -> Slack:
    """Return the slack of "a nuclear solution has at most the Frobenius rank", with its options.

    The nuclear rank counts singular values above 1e-8 of the largest. The slack is uncertain by 1
    if some singular value lies near that share.
    """
    if data.present.sum() == data.n:
        return Slack.at_most(0.0, -float(less), 0.0)  # both solutions are 0
    answer, bound = nuclear_solution(data), _bound(data, less, most)
    if answer is None or bound is None:
        return Slack.unknown("no answer with a bracket was reached")
    sizes = np.linalg.svd(answer.W, compute_uv=False)
    relative = sizes / sizes.max()
    unclear = bool(((relative > 1e-12) & (relative < 1e-5)).any())
    slack = Slack.at_most(float((relative > 1e-8).sum()), float(bound), float(unclear))
    if slack.violated and not answer.unique:
        return Slack.unknown("the solution is one of many, another may have a smaller rank")
    return slack


def certified(data: AttentionData, less: int = 0, most: int | None = None) -> arb | fmpq | None:
    """Return minus the distance of all solutions from the matrices of the bounding rank, or None.

    The distance is a singular value over the nuclear norm. None if some solution may have that
    rank.
    """
    if data.present.sum() == data.n:
        return fmpq(-less)
    candidate = nuclear_proposal(data, lambda: nuclear_solution(data))
    bound = _bound(data, less, most)
    least = None if candidate is None or bound is None else beyond_rank(candidate, bound)
    return None if least is None else -least


def written(
    m: Programs, data: AttentionData, less: int = 0, most: int | None = None
) -> Proposition:
    """Return the checker's claim that nuclear solutions have at most the Frobenius solution's rank.

    Raises:
        NotExpressible: nothing is constrained, there is no solution, or another rank is named.
    """
    candidate = nuclear_proposal(data, lambda: nuclear_solution(data))
    if candidate is None or less or most is not None:
        raise NotExpressible("a bound of a rank of which the checker has no proof")
    run_programs.write(m, data)
    m.sources.add("attsvm.primitives.law_checker")
    W = np.array([[float(arb(x)) for x in row] for row in candidate.W])
    _, sizes, turn = np.linalg.svd(W)
    m.lines["root"] = nested((np.sqrt(sizes)[:, None] * turn).tolist())
    m.lines["near"] = nested(W.ravel().tolist())
    text = f"rows(data, data.optimal), near, root, {nested(list(candidate.weights))}"
    return Proposition(f"fact(nuclear_rank({text}) <= rank(matrix(target)))", run_programs.CHECKER)


def _bound(data: AttentionData, less: int, most: int | None) -> int | None:
    """Return the rank of the Frobenius solution minus `less`, at most `most`; None without one."""
    solved = exact_att_svm(data)
    if solved is None or not solved.A:
        return None
    rank = solved.rank - less
    return rank if most is None else min(rank, most)


@remembered
def nuclear_solution(data: AttentionData) -> NuclearAnswer | None:
    """Return the nuclear-norm solution for the first optimal tokens; None without a bracket."""
    programme = att_svm_programme(data, np.where(data.present, data.gamma, -np.inf).argmax(axis=1))
    try:
        return solve_nuclear(programme, start=solve_programme(programme).W)
    except SolverError:
        return None


def rank_one(data: AttentionData) -> bool:
    """Return whether the Frobenius solution has rank 1."""
    svm = exact_att_svm(data)
    return svm is not None and svm.rank == 1


@concludes(rank_letters.by_size)
@stated(
    "",
    r"\mathrm{rank} W^{mm} \le $most - $less",
    {"most": {None: r"\min(n, d)", 2: r"\min(n, d, 2)", 1: r"\min(n, d, 1)"}},
)
def by_size(
    m: Namespace, data: AttentionData, less: int = 0, most: int | None = None
) -> Comparison:
    sizes = [data.n, data.d] if most is None else [data.n, data.d, most]
    return at_most(m, data, min(sizes) - less)


@concludes(rank_letters.by_carriers)
@stated(
    "",
    r"\mathrm{rank} W^{mm} \le r - $less",
    where="r is the lesser rank of the queries z_i and of the differences x_opt - x_t, of tokens "
    "of positive multiplier alone",
)
def by_carriers(m: Namespace, data: AttentionData, less: int = 0) -> Comparison:
    solved, exact = exact_att_svm(data), ExactData.of(data)
    if solved is None or not solved.A:
        return at_most(m, data, 0)
    rows = [
        (subtract(tokens[best[0]], token), z)
        for tokens, z, best in zip(exact.X, exact.Z, exact.optimal, strict=True)
        for t, token in enumerate(tokens)
        if t != best[0]
    ]
    used = [row for row, dual in zip(rows, solved.duals.values(), strict=True) if dual != 0]
    ranks = [fmpq_mat([list(row) for row in side]).rank() for side in zip(*used, strict=True)]
    return at_most(m, data, min(ranks) - less)


def at_most(m: Namespace, data: AttentionData, bound: int) -> Comparison:
    """Return that the rank of W^mm, which is 0 if nothing is constrained, is at most a bound."""
    solved = exact_att_svm(data)
    if solved is None:
        return m.below(m.exact(0), m.exact(0))  # there is no W^mm
    return m.at_most(m.exact(solved.rank), m.exact(bound))


NUCLEAR = Measured(
    "some nuclear-norm solution W_* has $formula",
    notation=r"\mathrm{rank} W_* \le $most - $less",
    symbols={
        "most": {
            None: r"\mathrm{rank} W^{mm}",
            1: r"\min\left(1, \mathrm{rank} W^{mm}\right)",
        }
    },
    floats=compare,
    balls=certified,
    proposition=rank_letters.no_larger,
    checked=written,
)

RANK_ONE = Hypothesis(
    "the Frobenius solution has rank 1", rank_one, proposition=rank_letters.rank_one
)
