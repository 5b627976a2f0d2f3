"""tf/probabilities: fewer tokens keep weight, and the norm of W grows, as training proceeds.

The talk's "empirical insight" on data of its protocol: n = 6 inputs of T = 8 unit-norm Gaussian
tokens, d = 10; plain descent on W from zero with the log-loss. The figure shows the softmax
probability of every input's optimal token and the largest probability; they differ if descent
selects another token. It also shows the effective number of tokens exp(entropy), 8 at the start,
and the norm.
"""

import numpy as np

from attsvm.losses import LOSSES
from attsvm.plots import Table, effective_tokens, shares, token_weights
from attsvm.plots.style import INK, PALETTE, dress, key_below, sheet
from attsvm.reproduce import Figure, Numbers, Reproduction
from attsvm.tokens import target_tokens
from attsvm.training import descend_w
from properties._support.published_data import gaussian_protocol
from properties.tf import SOURCE

LOSS = LOSSES["log-loss"]
STEPS, STEP = 100_000, 1.0


def numbers(seed: int) -> Numbers:
    """Return weights by step and input."""
    data = gaussian_protocol(np.random.default_rng(seed))
    record = np.unique(np.geomspace(1, STEPS, 100).astype(int)).tolist()
    run = descend_w([data], np.zeros((data.d, data.d)), LOSS, step=STEP, steps=STEPS, record=record)
    weights = token_weights(data, run.W[0])
    best = target_tokens(data)
    table = Table.of(
        input=np.arange(1, data.n + 1)[:, None],
        step=run.steps,
        norm=run.norms[0],
        optimal=weights[:, np.arange(data.n), best].T,
        largest=weights.max(axis=-1).T,
        selected=weights.argmax(axis=-1).T + 1,
        effective=effective_tokens(weights).T,
    )
    facts = {"n": data.n, "T": data.T, "d": data.d, "loss": LOSS.name, "step": STEP}
    hits = int((weights[-1].argmax(axis=-1) == best).sum())
    return Numbers({"weights": table}, {**facts, "inputs_that_select_the_optimal_token": hits})


def picture(n: Numbers) -> Figure:
    """Return probabilities against steps and norm, and effective tokens against the norm."""
    table = n.tables["weights"]
    steps, norm, optimal, largest, effective = table.stack(
        "input", "step", "norm", "optimal", "largest", "effective"
    )
    figure = sheet(1, 3, panel=(4.3, 3.9))
    left, middle, right = figure.subplots(1, 3)
    shares(steps[0], optimal.T, largest.T, title="softmax probabilities", axes=left)
    shares(
        norm[0],
        optimal.T,
        largest.T,
        title="the same against the norm",
        xlabel=r"$\|W\|_F$",
        log=False,
        axes=middle,
    )
    dress(right, "fewer tokens, larger norm", r"$\|W\|_F$", "effective number of tokens")
    for i, row in enumerate(effective):
        right.plot(norm[i], row, color=PALETTE[i % len(PALETTE)], linewidth=1.2, alpha=0.8)
    right.plot(
        norm[0], effective.mean(axis=0), color=INK, linewidth=2.4, label="mean of all inputs"
    )
    right.axhline(1.0, color=INK, linewidth=0.8)
    right.set_ylim(0.8, float(effective.max()) + 0.2)
    key_below(figure, columns=5)
    return figure


figure = Reproduction(
    "tf/probabilities",
    source=SOURCE,
    place="Empirical insights",
    shows="few tokens keep weight while the norm of W grows",
    numbers=numbers,
    pictures={"": picture},
)
