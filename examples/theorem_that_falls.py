"""Two inputs that refute a theorem: `python examples/theorem_that_falls.py [PICTURE.svg]`.

In each input all tokens but the best have the same score. Descent from W = 0 nevertheless selects
the worse token of the second input. The margin of an input is the logit of its best token minus the
logit of the other token.
"""

import sys

import numpy as np

from attsvm import AttentionData, att_svm
from attsvm.losses import SIGMOID_LOSS
from attsvm.training import descend_w, follow

X = np.array([[[0.5, 0.0], [-1.0, 0.0]], [[-2.0, 1.0], [0.0, 0.0]]])  # the first token is the best
data = AttentionData(X, np.array([[1.0, 0.0], [1.0, 0.0]]), scores=X @ [4.0, 9.0])
steps = sorted({round(10 ** (k / 10)) for k in range(51)})  # 1 to 100,000
run = descend_w([data], np.zeros((2, 2)), SIGMOID_LOSS, step=1.0, steps=steps[-1], record=steps)
(far,) = follow([data], np.zeros((2, 2)), SIGMOID_LOSS, [1e2, 1e4])


def margins(W: np.ndarray) -> np.ndarray:
    """Return the margin of each input."""
    return (X @ W @ data.Z[0]) @ [1.0, -1.0]


for name, W in {
    "Att-SVM": att_svm(data).W,
    "descent, 100,000 steps": run.W[0, -1],
    "descent to norm 10,000": far.W[0, -1],
}.items():
    print(f"{name:<22} margins {np.round(margins(W), 2)}")

if len(sys.argv) > 1:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 2.8), layout="constrained")
    axes = figure.add_subplot()
    for i, curve in enumerate(np.array([margins(W) for W in run.W[0]]).T, 1):
        axes.plot(run.steps, curve, label=f"input {i}")
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set(xscale="symlog", xlabel="steps of descent", ylabel="margin of the best token")
    axes.legend(frameon=False)
    with rc_context({"svg.hashsalt": "attsvm", "svg.fonttype": "none"}):
        figure.savefig(sys.argv[1], metadata={"Date": None, "Creator": None})
