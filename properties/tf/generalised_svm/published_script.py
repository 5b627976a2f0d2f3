"""The published experiment as a script: the same draws and runs in numpy, and a count of the hits.

W_fin comes from a pseudo-inverse. W_svm = sum_j v_j M_j over the differences M_j to the first kept
token, where v_j is free within the kept set and found by active sets elsewhere. From d = 4 on
differences are independent, so that there is a solution. The two parts are orthogonal.
"""

from attsvm.theory import Claim
from attsvm.theory.report.script import Writer
from attsvm.theory.types import Values
from properties.tf.generalised_svm.published_runs import RUNS, Published

TEXT = """\
# {id}: in the published experiment, d = {d}, the correlation of W with
#   W_fin + c W_svm is above {above} for some c >= 0 with a probability of at least {share}
import numpy as np
rng, size, data, told = np.random.default_rng([{seed}, {d}, 0, {runs}]), np.linalg.norm, [], []
unit = lambda *shape: (lambda a: a / size(a, axis=-1, keepdims=True))(rng.normal(size=shape))
while len(data) < {runs}:  # labels, tokens, queries, and a head that is not used
    drawn = np.where(rng.random(3) < 0.5, -1.0, 1.0), unit(3, 4, {d}), unit(3, {d}), unit({d})
    data += [drawn] if drawn[0].min() < 0 else []
y, X, Z, _ = map(np.stack, zip(*data))
A, W = rng.normal(size=({runs}, {d}, {d})), rng.uniform(-1, 1, ({runs}, {d}, {d})) / {d}**0.5
A, G = X @ (A / size(A, axis=(1, 2), keepdims=True))[:, None], 0 * A
for k in range(2002):  # normalised descent under a ReLU head; the first step is 0
    W = W - 0.1 * G / (size(G, axis=(1, 2), keepdims=True) + 2.0**-52)
    s = np.exp(np.einsum("bntd,bnd->bnt", X @ W[:, None], Z))
    s = s / s.sum(-1, keepdims=True)
    h = np.einsum("bnt,bntd->bnd", s, A)
    c = s * np.einsum("bntd,bnd->bnt", A, h > 0) * (y / (1 + np.exp(y * np.maximum(h, 0).sum(-1))))[..., None]
    G = np.swapaxes(np.einsum("bnt,bntd->bnd", s * c.sum(-1, keepdims=True) - c, X), 1, 2) @ Z / 3
for x, z, w, free, v in zip(X, Z, W.reshape({runs}, -1), (s > 1e-3).reshape(-1, 12), np.zeros(({runs}, 12))):
    M = np.concatenate([np.kron(x[i, k] - x[i], z[i]) for i, k in enumerate(free.reshape(3, 4).argmax(1))])
    for _ in range(20):
        on = free | (v + 1 - free > M @ M.T @ v)
        v = np.linalg.pinv(M @ M.T * np.outer(on, on)) @ (on & ~free)
    told += [np.hypot(size(np.linalg.pinv(M[free]) @ M[free] @ w), max(v @ M @ w, 0) / max(size(v @ M), 1e-300)) / size(w)]
print(sum(x > {above} for x in told), "of", {runs}, "runs are above; the median correlation is", np.median(told))
"""  # noqa: E501  # 25 lines at most, some of them long


def written(claim: Claim, case: Values) -> str | None:
    """Return a script with the first draw that the claim counts, else None."""
    if not isinstance(case, Published):
        return None
    constants = {"above": "0.99", "share": "1/2", **claim.formula.constants}
    return TEXT.format(id=claim.id, seed=case.seed, d=case.d, runs=RUNS, **constants)


COUNTED = Writer(written)
