"""tf/svm-rank: ranks of the Frobenius and of the nuclear solution, against n, T and d.

Data are n = 5, 10, 15 inputs of T = 5 tokens and n = 5 inputs of T = 5, 10, 15, in d = 1 to 20
dimensions, with unit-norm Gaussian tokens, queries and head, and random labels. In d = 1 tokens are
1 or -1, and the first of the best tokens is to be selected.

The public code counts a rank by singular values above 1e-7. `rank` counts singular values above
1e-7 times the largest, over the programmes that have a solution (`solved`). It also counts as the
public code does (`as published`): without a solution, the solver of that code returns no matrix,
and numpy gives this result the rank 1. `solvable` counts the programmes with a solution. Programmes
too close to the border between separable and not are `unsettled` and count as without. `tolerance`
is the rank that 1e-7 counts for a nuclear solution with a relative error in the span of the
queries. A solver that stops early has such an error. From an error of 1e-6 on nearly every singular
value counts.
"""

from collections.abc import Sequence

import numpy as np

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import SolverError
from attsvm.plots import Table
from attsvm.reproduce import Numbers, Reproduction
from attsvm.svm.frobenius import solve_programme
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import att_svm_programme
from properties._support.experiments import Curves, means, shares
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

SIZES = ((5, 5), (10, 5), (15, 5), (5, 10), (5, 15))
DIMENSIONS = (1, 2, 3, 4, 5, 10, 15, 20)
NORMS = np.array(["Frobenius", "nuclear"])
TOLERANCE = 1e-7
ERRORS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


def solutions(data: AttentionData) -> tuple[Array, Array] | None:
    """Return the Frobenius and the nuclear solution, None if there is none.

    Raises:
        SolverError: it is numerically undecided whether the programme is separable.
    """
    programme = att_svm_programme(data, data.gamma.argmax(axis=1))
    answer = solve_programme(programme)
    return (answer.W, solve_nuclear(programme, start=answer.W).W) if answer.solved else None


def numbers(
    seed: int,
    sets: int = 100,
    sizes: Sequence[tuple[int, int]] = SIZES,
    dimensions: Sequence[int] = DIMENSIONS,
) -> Numbers:
    """Return mean ranks by size, dimension and norm, solvable programmes, and ranks with errors."""
    ranks, solvable, errors, unsettled = [], [], [], 0
    for n, T in sizes:
        for d in dimensions:
            generator = np.random.default_rng([seed, n, T, d])
            data = [gaussian_protocol(generator, n, T, d) for _ in range(sets)]
            counted = np.full((sets, 2), np.nan)
            noisy = np.full((sets, len(ERRORS)), np.nan)
            solved = np.zeros(sets, dtype=bool)
            for b, one in enumerate(data):
                try:
                    pair = solutions(one)
                except SolverError:
                    unsettled += 1
                    continue
                if pair is None:
                    continue
                solved[b] = True
                counted[b] = [_rank(W, TOLERANCE * float(np.linalg.norm(W, 2))) for W in pair]
                G = generator.normal(size=(d, d)) @ np.linalg.pinv(one.Z) @ one.Z
                G *= np.linalg.norm(pair[1]) / np.linalg.norm(G)
                noisy[b] = [_rank(pair[1] + error * G, TOLERANCE) for error in ERRORS]
            keys = {"size": f"n = {n}, T = {T}", "n": n, "T": T, "d": d}
            published = np.where(np.isnan(counted), 1.0, counted)
            for how, values in (("solved", counted), ("as published", published)):
                lines = [f"{norm}, {how}" for norm in NORMS]
                ranks.append(means(values, **keys, norm=NORMS, counted=how, line=lines))
            solvable.append(shares(solved, **keys))
            errors.append(means(noisy, **keys, error=ERRORS))
    parts = {"rank": ranks, "solvable": solvable, "tolerance": errors}
    tables = {name: Table.join(pieces) for name, pieces in parts.items()}
    return Numbers(tables, {"data_sets": sets, "tolerance": TOLERANCE, "unsettled": unsettled})


def _rank(W: Array, tolerance: float) -> int:
    return int(np.linalg.matrix_rank(W, tol=tolerance))


RANKS = Curves("rank", "d", "size", "line", "dimension d", "rank of the solution")

figure = Reproduction(
    "tf/svm-rank",
    source=SOURCE,
    place="Connections to Core ML 3, low rank",
    shows="ranks of the Frobenius and of the nuclear solution, against n, T and d",
    numbers=numbers,
    pictures={"": RANKS},
    sets=100,
)
