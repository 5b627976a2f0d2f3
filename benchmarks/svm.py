"""The Att-SVM solvers against others: `python -m benchmarks.svm [SECTION ...] [--json FILE]`.

Sections: frobenius, sizes, middle, large, nuclear, soft, separability, growth, batch; all but
`sizes`, `middle` and `large`, which take minutes, run by default. Every figure is the median of
several problems (in `sizes` of one, in processor time), ours and the rival's on the same problems
in the same process on one thread; ratios are medians of ratios. Needs
`pip install -c constraints.txt -e '.[bench]'`.
"""

from __future__ import annotations

from attsvm._threads import single_threaded

single_threaded()

import math
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from attsvm import AttentionData, solve
from attsvm.svm import att_svm, att_svm_programme, solve_programme
from attsvm.svm.batch import att_svm_batch
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import Programme
from attsvm.svm.separability import separability
from attsvm.svm.soft import solve_soft
from benchmarks.timing import Row, asked, keep, seconds, shown
from properties._support.published_data import gaussian_protocol


def row(
    problem: str, shape: tuple[int, ...], rival: str, ours: float, theirs: float, ratio: float,
    accuracy: str,
) -> Row:  # fmt: skip
    """One line of the table, with the seconds of ours and of the rival."""
    times = {"ours_ms": 1e3 * ours, "rival_ms": 1e3 * theirs, "ratio": ratio}
    return {"problem": problem, "shape": shape, "rival": rival, **times, "accuracy": accuracy}


def versus(
    problem: str,
    shape: tuple[int, int, int],
    rival: str,
    cases: list[Any],
    ours: Callable[[Any], Any],
    theirs: Callable[[Any], Any],
    accuracy: Callable[[Any, Any], float],
    what: str,
    runs: tuple[int, int] = (20, 3),
) -> Row:
    """Time both on every case; the worst accuracy over the cases is reported."""
    ours(cases[0])
    mine, others, worst = [], [], 0.0
    for case in cases:
        time_ours, answer = seconds(lambda case=case: ours(case), runs[0], of=min)
        time_theirs, reply = seconds(lambda case=case: theirs(case), runs[1], of=min)
        mine.append(time_ours)
        others.append(time_theirs)
        worst = max(worst, accuracy(answer, reply))
    ratio = statistics.median(b / a for a, b in zip(mine, others, strict=True))
    ours_s, theirs_s = statistics.median(mine), statistics.median(others)
    return row(problem, shape, rival, ours_s, theirs_s, ratio, f"{what} {worst:.1e}")


def problems(shape: tuple[int, int, int], count: int, *, separable: bool = True) -> list[Programme]:
    """Programmes of the sources' protocol, all separable or all not."""
    found: list[Programme] = []
    seed = 0
    while len(found) < count:
        programme = att_svm_programme(gaussian_protocol(np.random.default_rng(seed), *shape))
        if solve_programme(programme).solved == separable:
            found.append(programme)
        seed += 1
    return found


def separable(n: int, T: int, d: int, seed: int = 0) -> AttentionData:
    """Return Gaussian tokens and queries, scored by the logits of a Gaussian W."""
    draw = np.random.default_rng(seed)
    X, Z, W = (draw.standard_normal(shape) for shape in ((n, T, d), (n, d), (d, d)))
    return AttentionData(X, Z, scores=np.einsum("ntd,de,ne->nt", X, W, Z))


def hair_thin(scaled: bool, n: int = 569, d: int = 31) -> AttentionData:
    """Labelled measurements that nearly depend on each other, separable by a narrow margin.

    Columns have sizes from 1e-3 to 1e3, or at most 1 where scaled, and one is constant. A label y
    of features f is an input with the tokens y f and 0 and one query for all inputs.
    """
    draw = np.random.default_rng(0)
    latent = draw.standard_normal((n, 6)) @ draw.standard_normal((6, d - 1))
    F = np.exp(0.3 * (latent + 0.002 * draw.standard_normal((n, d - 1))))
    y = np.where((F - F.mean(axis=0)) @ draw.standard_normal(d - 1) > 0.0, 1.0, -1.0)
    F = F / F.max(axis=0) if scaled else F * 10.0 ** draw.uniform(-3, 3, d - 1)
    X, Z = np.zeros((n, 2, d)), np.zeros((n, d))
    X[:, 0], Z[:, 0] = y[:, None] * np.column_stack([F, np.ones(n)]), 1.0
    return AttentionData(X, Z, scores=np.tile([1.0, 0.0], (n, 1)))


def dense_rows(programme: Programme) -> Any:
    """The constraint matrices as rows."""
    D, Z = programme.D, programme.Z
    return (D[:, :, None] * Z[:, None, :]).reshape(len(D), -1)


def cvxpy_norm(programme: Programme, norm: str, C: float | None = None) -> float:
    """The formulation with one constraint at a time that published code uses."""
    import cvxpy

    W = cvxpy.Variable((programme.D.shape[1], programme.Z.shape[1]))
    pairs = zip(programme.D, programme.Z, strict=True)
    if C is None:
        constraints = [D @ W @ z >= 1 for D, z in pairs]
        objective = cvxpy.norm(W, norm)
    else:
        slack = cvxpy.Variable(len(programme.D), nonneg=True)
        constraints = [D @ W @ z >= 1 - slack[j] for j, (D, z) in enumerate(pairs)]
        objective = cvxpy.norm(W, norm) + C * cvxpy.sum(slack)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    problem.solve()
    return float(problem.value)


def daqp_primal(programme: Programme) -> float:
    """DAQP on min 1/2 |W|^2 with the rows written out."""
    import daqp

    A = dense_rows(programme)
    m, k = A.shape
    reply = daqp.solve(
        np.eye(k), np.zeros(k), A, np.full(m, 1e30), np.ones(m), np.zeros(m, dtype=np.int32)
    )
    return float(np.linalg.norm(reply[0]))


def daqp_solver(programme: Programme) -> Callable[[], float]:
    """DAQP alone, its arrays made beforehand."""
    import daqp

    A = dense_rows(programme)
    m, k = A.shape
    parts = (np.eye(k), np.zeros(k), A, np.full(m, 1e30), np.ones(m), np.zeros(m, dtype=np.int32))
    return lambda: float(np.linalg.norm(daqp.solve(*parts)[0]))


def quadprog_dual(programme: Programme) -> float:
    """Solve with quadprog on the rows written out."""
    import quadprog

    A = dense_rows(programme)
    k = A.shape[1]
    return float(np.linalg.norm(quadprog.solve_qp(np.eye(k), np.zeros(k), A.T, np.ones(len(A)))[0]))


def piqp_dual(programme: Programme) -> float:
    """PIQP on the dual: multipliers as variables, the Gram matrix as objective."""
    import piqp

    gram = programme.gram
    m = len(gram)
    solver = piqp.DenseSolver()
    solver.setup(P=gram, c=-np.ones(m), x_l=np.zeros(m))
    solver.solve()
    return float(np.sqrt(max(2.0 * -solver.result.info.primal_obj, 0.0)))


def frobenius() -> Iterator[Row]:
    """Small problems: from data to an answer with recomputed proof."""
    shape = (6, 8, 10)
    data = [gaussian_protocol(np.random.default_rng(s), *shape) for s in range(9)]
    gap = "gap"

    def own_gap(answer: Any, _: float) -> float:
        return max(float(answer.gap), float(answer.primal_residual))

    yield versus(
        "Frobenius, from data", shape, "cvxpy", data, att_svm,
        lambda d: cvxpy_norm(att_svm_programme(d), "fro"), own_gap, gap,
    )  # fmt: skip
    yield versus(
        "Frobenius, from data", shape, "daqp", data, att_svm,
        lambda d: daqp_primal(att_svm_programme(d)), own_gap, gap, (50, 50),
    )  # fmt: skip
    ready = [(att_svm_programme(d), daqp_solver(att_svm_programme(d))) for d in data]
    yield versus(
        "Frobenius, from arrays", shape, "daqp", ready, lambda r: solve_programme(r[0]),
        lambda r: r[1](), own_gap, gap, (50, 50),
    )  # fmt: skip
    yield versus(
        "Frobenius, from data", shape, "quadprog", data, att_svm,
        lambda d: quadprog_dual(att_svm_programme(d)), own_gap, gap, (50, 50),
    )  # fmt: skip
    shape = (15, 15, 20)
    yield versus(
        "Frobenius", shape, "cvxpy", problems(shape, 3), solve_programme,
        lambda p: cvxpy_norm(p, "fro"), own_gap, gap, (20, 1),
    )  # fmt: skip
    yield versus(
        "Frobenius", shape, "daqp", problems(shape, 3), solve_programme, daqp_primal, own_gap, gap
    )
    yield versus(
        "Frobenius", shape, "piqp, dual", problems(shape, 3), solve_programme, piqp_dual, own_gap,
        gap,
    )  # fmt: skip


def middle() -> Iterator[Row]:
    """950 constraints: the rival takes minutes."""
    shape = (50, 20, 100)
    for name, rival in (
        ("piqp, dual", piqp_dual),
        ("cvxpy", lambda p: cvxpy_norm(p, "fro")),
    ):
        yield versus(
            "Frobenius", shape, name, problems(shape, 1), solve_programme, rival,
            lambda a, _: float(a.gap), "gap", (5, 1),
        )  # fmt: skip


def large() -> Iterator[Row]:
    """9,800 constraints: the rival gets the dual, whose Gram matrix takes 768 MB."""
    shape = (200, 50, 256)
    programme = att_svm_programme(gaussian_protocol(np.random.default_rng(0), *shape))
    yield versus(
        "Frobenius", shape, "piqp, dual", [programme], solve_programme, piqp_dual,
        lambda a, _: float(a.gap), "gap", (2, 1),
    )  # fmt: skip


def sizes() -> Iterator[Row]:
    """Time one `solve`, with certificate, for large and for nearly inseparable problems.

    The rival gets the constraint rows written out; if they would not fit into memory, there is no
    rival. Its error is the relative difference of the two norms.
    """
    cases: tuple[tuple[str, AttentionData, bool], ...] = (
        ("labels by a hair", hair_thin(False), True),
        ("labels by a hair, scaled", hair_thin(True), True),
        ("aligned", separable(60, 30, 16), True),
        ("aligned", separable(250, 40, 40), False),
        ("aligned", separable(500, 50, 64), False),
        ("aligned", separable(2000, 32, 128), False),
    )
    for problem, data, has_rival in cases:
        programme = att_svm_programme(data)
        took, answer = seconds(lambda data=data: solve(data), 1, time.process_time)
        shape = (data.n, data.T, data.d)
        low, high = answer.bracket
        what = f"m {len(programme.bound)}, {answer.status}, {answer.kind}, "
        what += f"bracket {high / low - 1.0:.0e}, peak {peak_megabytes():.0f} MB"
        if not has_rival:
            yield row(problem, shape, "none", took, math.nan, math.nan, what)
            continue
        theirs, norm = seconds(
            lambda programme=programme: daqp_primal(programme), 1, time.process_time
        )
        off = abs(norm / answer.value - 1.0)
        yield row(
            problem, shape, "daqp", took, theirs, theirs / took, f"{what}; rival off {off:.0e}"
        )


def peak_megabytes() -> float:
    """Return the peak memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def nuclear() -> Iterator[Row]:
    """The nuclear norm, to a bracket."""

    def width(answer: Any, _: float) -> float:
        low, high = answer.bracket
        return (high - low) / low

    for shape in ((6, 8, 10), (10, 5, 50), (10, 5, 100)):
        yield versus(
            "nuclear", shape, "cvxpy", problems(shape, 5), solve_nuclear,
            lambda p: cvxpy_norm(p, "nuc"), width, "bracket", (5, 1),
        )  # fmt: skip


def soft() -> Iterator[Row]:
    """The soft margin where it equals the hard one, and where it does not."""
    shape = (10, 5, 100)
    for C in (10.0, 0.5):
        yield versus(
            f"soft margin, C = {C:g}", shape, "cvxpy", problems(shape, 3),
            lambda p, C=C: solve_soft(p, C), lambda p, C=C: cvxpy_norm(p, "fro", C),
            lambda a, _: float(a.gap), "gap", (20, 1),
        )  # fmt: skip


def separability_rows() -> Iterator[Row]:
    """Separable or not, with an exact certificate; the rival's answer has none."""
    from scipy.optimize import linprog

    def linear_programme(programme: Programme) -> bool:
        A = dense_rows(programme)
        reply = linprog(
            np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), bounds=(None, None),
            method="highs",
        )  # fmt: skip
        return bool(reply.status == 0)

    for shape, separable in (
        ((6, 8, 10), True),
        ((15, 15, 20), True),
        ((10, 8, 2), False),
        ((20, 12, 4), False),
    ):
        yield versus(
            "separable" if separable else "unseparable", shape, "linprog (HiGHS)",
            problems(shape, 5, separable=separable), separability, linear_programme,
            lambda a, reply: float(a.separable != reply), "disagreements", (10, 3),
        )  # fmt: skip


def growth() -> Iterator[Row]:
    """How the cost of one solve grows with n, T and d; the rival is the first of each series."""
    base = (6, 8, 10)
    for axis, sizes in ((0, (6, 12, 24, 48)), (1, (8, 16, 32)), (2, (10, 40, 160, 640))):
        first = None
        for size in sizes:
            shape = tuple(size if k == axis else base[k] for k in range(3))
            cases = problems((shape[0], shape[1], shape[2]), 3)
            took = statistics.median(
                seconds(lambda case=case: solve_programme(case), 10, of=min)[0] for case in cases
            )
            first = first or took
            what = f"Frobenius, growth with {'nTd'[axis]}"
            yield row(what, shape, "the first of the series", took, first, first / took, "")


def batch() -> Iterator[Row]:
    """500 programmes in one call against one at a time."""
    shape = (6, 8, 10)
    sets = [gaussian_protocol(np.random.default_rng(s), *shape) for s in range(500)]
    yield versus(
        "500 programmes in one call", shape, "one at a time", [sets], att_svm_batch,
        lambda sets: [att_svm(s) for s in sets],
        lambda many, each: max(
            float(np.abs(many.W[b] - a.W).max()) for b, a in enumerate(each)
        ),
        "difference", (3, 3),
    )  # fmt: skip


SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "frobenius": frobenius,
    "sizes": sizes,
    "nuclear": nuclear,
    "soft": soft,
    "separability": separability_rows,
    "growth": growth,
    "batch": batch,
    "middle": middle,
    "large": large,
}


def main() -> None:
    """Measure, print a table as it grows, write JSON where asked."""
    options = asked(__doc__, SECTIONS)
    chosen = options.parts or [
        name for name in SECTIONS if name not in ("sizes", "middle", "large")
    ]
    columns = {"problem": "<28", "shape": "<16", "rival": "<24", "ours_ms": ">10.3f"}
    columns |= {"rival_ms": ">12.3f", "ratio": ">10.3g", "accuracy": "<"}
    keep(options.json, rows=shown(columns, (row for name in chosen for row in SECTIONS[name]())))


if __name__ == "__main__":
    main()
