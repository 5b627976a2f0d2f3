"""tf/singular-values: how fast the singular values of K Q^T grow against each other.

For balanced factors, K^T K = Q^T Q, gradient flow moves the singular values s_i of W = K Q^T by
ds_i/dt = 2 s_i <u_i, -grad L v_i>, with singular vectors u_i and v_i. Let S be the sum of the
constraint matrices weighted by the multipliers of the nuclear-norm programme. The direction of
-grad L tends to S if these multipliers are unique and the path follows the solution. S has the
spectral norm 1, attained on the solution. So the law to be measured is d ln s_i / d ln s_1 -> the
i-th singular value of S. It is 1 for as many i as the solution's face is wide, and below 1 for all
others. A singular value of slope c < 1 keeps a share ||W||^(c - 1) of the norm: at c = 0.95 it is
halved once in six decades. Unless slopes have settled, no cosine at such norms shows the limit.

The protocol is that of `tf/parameterisation-bias`, followed in the log domain to norm 1e7 from
Gaussian starts of deviation 0.01. The programme is that of the tokens selected in the end; a run
for which it has no solution is left out. Slopes are taken over a decade of the norm, and shown with
<u_i, S v_i> at its end and the singular values of S.
"""

from collections.abc import Sequence

import numpy as np

from attsvm.errors import SolverError
from attsvm.losses import LOSSES
from attsvm.plots import Table, token_weights
from attsvm.plots.style import PALETTE, dress, key_below, sheet
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.svm.nuclear import solve_nuclear
from attsvm.svm.programme import att_svm_programme
from attsvm.training import follow_kq
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

LOSS, DEVIATION, STEPS = LOSSES["log-loss"], 0.01, 400_000
NORMS = tuple(10.0**k for k in range(1, 8))


def numbers(seed: int, sets: int = 8, norms: Sequence[float] = NORMS) -> Numbers:
    """Return slopes by data set, decade and singular value, and their distances from those of S."""
    generator = np.random.default_rng(seed)
    data = [gaussian_protocol(generator) for _ in range(sets)]
    d = data[0].d
    K, Q = DEVIATION * generator.normal(size=(2, sets, d, d))
    rows, left_out, several = [], 0, 0
    for k, run in enumerate(follow_kq(data, K, Q, LOSS, norms, steps=STEPS)):
        chosen = token_weights(data[k], run.W[0, -1]).argmax(axis=-1)
        try:
            answer = solve_nuclear(att_svm_programme(data[k], chosen))
        except SolverError:
            left_out += 1
            continue
        several += answer.dimension != 0
        U, s, V = np.linalg.svd(run.W[0, 1:])  # from the first norm on
        growth = np.diff(np.log(s), axis=0)
        along = np.einsum("kai,ab,kib->ki", U, answer.certificate, V)[1:]
        sizes = np.linalg.svd(answer.certificate, compute_uv=False)
        rows.append(
            Table.of(
                data_set=k,
                norm=np.array(norms)[1:, None],
                index=np.arange(1, d + 1),
                slope=growth / growth[:, :1],
                along_vectors=along,
                certificate=sizes,
                on_face=(np.arange(d) < answer.face[0].shape[1]).astype(int),
            )
        )
    table = Table.join(rows)
    gaps = [table.where(norm=norm) for norm in norms[1:]]
    on_face = gaps[-1].where(on_face=1)
    facts = {
        "data_sets": sets,
        "left_out": left_out,
        "nuclear_set_not_a_point": several,
        "loss": LOSS.name,
        "median_gap_to_S_by_decade": [
            float(np.median(np.abs(one["slope"] - one["certificate"]))) for one in gaps
        ],
        "largest_gap_on_the_face_in_the_last_decade": float(np.abs(on_face["slope"] - 1.0).max()),
    }
    return Numbers({"slopes": table}, facts)


def picture(n: Numbers) -> Figure:
    """Return slopes of singular values against the norm for the first runs; dashes are of S."""
    table = n.tables["slopes"]
    runs = table.distinct("data_set")[:4]
    figure = sheet(1, len(runs), panel=(3.4, 3.3))
    panels = figure.subplots(1, len(runs), squeeze=False, sharey=True)[0]
    for axes, run in zip(panels, runs, strict=True):
        dress(axes, f"data set {run}", "norm of K Qᵀ", "d ln s_i / d ln s_1")
        for i in range(1, 7):
            cell, colour = table.where(data_set=run, index=i), PALETTE[(i - 1) % len(PALETTE)]
            axes.plot(cell["norm"], cell["slope"], color=colour, marker="o", label=f"i = {i}")
            axes.plot(cell["norm"], cell["certificate"], color=colour, linestyle="--")
        axes.set_xscale("log")
        axes.label_outer()
    key_below(figure, columns=6)
    return figure


figure = Reproduction(
    "tf/singular-values",
    source=SOURCE,
    place="Summary, parameterization matters",
    shows="how fast singular values of K Q^T grow along descent, against those of the dual",
    numbers=numbers,
    pictures={"": picture},
    sets=8,
)
