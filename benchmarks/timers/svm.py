"""The solvers of the Att-SVM beside general solvers; rows are medians over several problems."""

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from attsvm import AttentionData, solve
from attsvm.svm import att_svm, att_svm_programme, solve_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import Programme
from attsvm.svm.separability import separability as decide
from attsvm.svm.soft import solve_soft
from benchmarks.hard_margins import hair_thin
from benchmarks.hard_margins import separable as separable_data
from benchmarks.timers.timing import Timer, Way
from properties._support.published_data import gaussian_protocol

Shape = tuple[int, int, int]


def data_sets(shape: Shape, count: int) -> list[AttentionData]:
    """Return Gaussian data sets of the sources' protocol, with seeds 0, 1, ..."""
    return [gaussian_protocol(np.random.default_rng(seed), *shape) for seed in range(count)]


def problems(shape: Shape, count: int, *, separable: bool = True) -> list[Programme]:
    """Return programmes of the sources' protocol, all separable or all not."""
    results: list[Programme] = []
    seed = 0
    while len(results) < count:
        programme = att_svm_programme(gaussian_protocol(np.random.default_rng(seed), *shape))
        if solve_programme(programme).solved == separable:
            results.append(programme)
        seed += 1
    return results


def dense_rows(programme: Programme) -> Any:
    """Return the constraint matrices as rows."""
    D, Z = programme.D, programme.Z
    return (D[:, :, None] * Z[:, None, :]).reshape(len(D), -1)


def cvxpy_norm(programme: Programme, norm: str = "fro", C: float | None = None) -> float:
    """Return the optimum by cvxpy, with one constraint per row, as published code does."""
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


def daqp_parts(programme: Programme) -> tuple[Any, ...]:
    """Return the arrays that DAQP takes, with the rows written out."""
    A = dense_rows(programme)
    m, k = A.shape
    return np.eye(k), np.zeros(k), A, np.full(m, 1e30), np.ones(m), np.zeros(m, dtype=np.int32)


def daqp_solved(parts: tuple[Any, ...]) -> float:
    """Return the least norm by DAQP."""
    import daqp

    return float(np.linalg.norm(daqp.solve(*parts)[0]))


def daqp_primal(programme: Programme) -> float:
    """Return the least norm of a programme by DAQP."""
    return daqp_solved(daqp_parts(programme))


def quadprog_primal(programme: Programme) -> float:
    """Return the least norm by quadprog, on the constraint matrices as rows."""
    import quadprog

    A = dense_rows(programme)
    k = A.shape[1]
    return float(np.linalg.norm(quadprog.solve_qp(np.eye(k), np.zeros(k), A.T, np.ones(len(A)))[0]))


def piqp_dual(programme: Programme) -> float:
    """Return the least norm by PIQP on the dual, with the Gram matrix as objective."""
    import piqp

    gram = programme.gram
    m = len(gram)
    solver = piqp.DenseSolver()
    solver.setup(P=gram, c=-np.ones(m), x_l=np.zeros(m))
    solver.solve()
    return float(np.sqrt(max(2.0 * -solver.result.info.primal_obj, 0.0)))


def linear_programme(programme: Programme) -> bool:
    """Return whether HiGHS calls the constraints separable; it gives no certificate."""
    from scipy.optimize import linprog

    A = dense_rows(programme)
    free: dict[str, Any] = {"bounds": (None, None), "method": "highs"}
    reply = linprog(np.zeros(A.shape[1]), A_ub=-A, b_ub=-np.ones(len(A)), **free)
    return bool(reply.status == 0)


def _gap(cases: Sequence[Any], ours: Sequence[Any], others: Any) -> str:
    return f"gap {max(max(float(a.gap), float(a.primal_residual)) for a in ours):.1e}"


def _width(cases: Sequence[Any], ours: Sequence[Any], others: Any) -> str:
    return f"bracket {max(a.bracket[1] / a.bracket[0] - 1.0 for a in ours):.1e}"


def _from_data(solver: Callable[[Programme], float]) -> Callable[[AttentionData], float]:
    return lambda data: solver(att_svm_programme(data))


def frobenius() -> Iterator[Timer]:
    """Yield timers of small problems: from data, from arrays, and from programmes."""
    shape = (6, 8, 10)
    data = partial(data_sets, shape, 9)
    fast = {"daqp": daqp_primal, "quadprog": quadprog_primal}
    from_data = {name: Way(_from_data(solver), runs=50) for name, solver in fast.items()}
    from_data["cvxpy"] = Way(_from_data(cvxpy_norm))
    yield Timer("Frobenius, from data", str(shape), data, Way(att_svm, runs=50), from_data, _gap)
    yield Timer(
        "Frobenius, from arrays", str(shape),
        lambda: [(p, daqp_parts(p)) for p in map(att_svm_programme, data_sets(shape, 9))],
        Way(lambda case: solve_programme(case[0]), runs=50),
        {"daqp": Way(lambda case: daqp_solved(case[1]), runs=50)}, _gap,
    )  # fmt: skip
    shape = (15, 15, 20)
    others = {"cvxpy": Way(cvxpy_norm, runs=1), "daqp": Way(daqp_primal)}
    others["piqp, dual"] = Way(piqp_dual)
    ours = Way(solve_programme, runs=20)
    yield Timer("Frobenius", str(shape), lambda: problems((15, 15, 20), 3), ours, others, _gap)


def causal_head(T: int, d: int) -> AttentionData:
    """Return data of a causal head whose tokens, of Gaussian entries, a Gaussian W selects."""
    generator = np.random.default_rng(0)
    X, W = generator.normal(size=(T, d)), generator.normal(size=(d, d))
    seen = np.tri(T, dtype=np.bool_)
    best = np.where(seen, X @ W.T @ X.T, -np.inf).argmax(axis=1)
    return AttentionData(np.broadcast_to(X, (T, T, d)), X, scores=np.eye(T)[best], mask=seen)


def sizes() -> Iterator[Timer]:
    """Yield timers of one `solve`, with certificate, of large and of nearly inseparable problems.

    The alternative needs the constraint matrices as rows, and is left out if they exceed memory.
    """
    cases: tuple[tuple[str, AttentionData, bool], ...] = (
        ("narrow margin", hair_thin(False), True),
        ("narrow margin, scaled", hair_thin(True), True),
        ("aligned", separable_data(60, 30, 16), True),
        ("aligned", separable_data(250, 40, 40), False),
        ("aligned", separable_data(500, 50, 64), False),
        ("aligned", separable_data(2000, 32, 128), False),
        ("causal head, tokens once", causal_head(256, 64), False),
        ("causal head, tokens once", causal_head(512, 64), False),
    )

    def note(cases: Sequence[Any], ours: Sequence[Any], others: Any) -> str:
        (answer,) = ours
        low, high = answer.bracket
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        words = f"m {len(answer.programme.bound)}, {answer.status}, {answer.kind}, "
        words += f"bracket {high / low - 1.0:.0e}, peak {peak:.0f} MB"
        off = [f"; {n} off {abs(x[0] / answer.value - 1.0):.0e}" for n, x in others.items()]
        return words + "".join(off)

    for name, data, fits in cases:
        others = {"daqp": Way(_from_data(daqp_primal), runs=1)} if fits else {}
        shape = f"{data.n, data.T, data.d}"
        one = partial(list, [data])
        yield Timer(name, shape, one, Way(solve, runs=1), others, note, time.process_time)


def nuclear() -> Iterator[Timer]:
    """Yield timers of the nuclear norm, to a bracket of relative width 1e-9."""
    others = {"cvxpy": Way(partial(cvxpy_norm, norm="nuc"), runs=1)}
    for shape in ((6, 8, 10), (10, 5, 50), (10, 5, 100)):
        ours = Way(solve_nuclear, runs=5)
        yield Timer("nuclear", str(shape), partial(problems, shape, 5), ours, others, _width)
    large = (200, 50, 256)
    cases = lambda: [separable_data(*large)]  # noqa: E731
    ours = Way(partial(solve, norm="nuc"), runs=1)
    yield Timer("nuclear, certified", str(large), cases, ours, {}, _width, time.process_time)


def soft() -> Iterator[Timer]:
    """Yield timers of the soft margin, at a price that gives the hard one and at a lower one."""
    shape = (10, 5, 100)
    for C in (10.0, 0.5):
        ours = Way(partial(solve_soft, C=C), runs=20)
        others = {"cvxpy": Way(partial(cvxpy_norm, C=C), runs=1)}
        name = f"soft margin, C = {C:g}"
        yield Timer(name, str(shape), partial(problems, shape, 3), ours, others, _gap)


def _disagreements(cases: Sequence[Any], ours: Sequence[Any], others: Any) -> str:
    (replies,) = others.values()
    return f"{sum(a.separable != b for a, b in zip(ours, replies, strict=True))} disagreements"


SEPARABLE = {(6, 8, 10): True, (15, 15, 20): True, (10, 8, 2): False, (20, 12, 4): False}


def separability() -> Iterator[Timer]:
    """Yield timers of decisions of separability with an exact certificate."""
    others = {"linprog (HiGHS)": Way(linear_programme)}
    for shape, known in SEPARABLE.items():
        name = "separable" if known else "unseparable"
        cases = partial(problems, shape, 5, separable=known)
        yield Timer(name, str(shape), cases, Way(decide, runs=10), others, _disagreements)
