"""Train a one-layer causal transformer twice and look at its head: `python transformer_head.py`.

The language has 8 tokens, each of which is always followed by the same token, so it has only 8
sentences of 6 tokens.

The first time, only queries and keys are trained, and the output of attention is read by the
embedding of the next token: the setting of the theory. It predicts that each query comes to select
one token, so that the entropy of its attention tends to 0. That token is optimal or, from some
starts, only locally optimal. The norm of W grows, and its margin and direction improve as slowly as
the logarithm of the number of steps. `cosine` compares W with the Att-SVM of least Frobenius norm.
The theory expects this direction if W itself is trained. `nuclear` compares it with that of least
nuclear norm, which the theory expects if queries and keys are trained. Both cannot tend to 1: at
step 3000 the cosine between the two solutions is 0.86.

The second time, everything is trained by cross-entropy, as usual. Then the theory predicts nothing,
as the scores of the tokens change with the values. The script takes about half a minute and needs
PyTorch. `--plot FILE` draws the figures of both trainings side by side, and dashed lines mark the
limits that the theory predicts.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

from attsvm import capture
from attsvm.language import Language, next_tokens, prefix_data, random_language

STEPS = (0, 100, 300, 1000, 3000)
CAUSAL = torch.nn.Transformer.generate_square_subsequent_mask
COLUMNS = ("loss", "optimal", "entropy", "norm", "margin", "cosine", "nuclear", "price")
EXPECTED = {"entropy": 0.0, "nuclear": 1.0, "price": 0.0}
VALUES = 2  # the third block of the projections, after queries and keys


def sentences(language: Language, length: int = 6) -> np.ndarray:
    """Return the sentence that begins with each token, if each token has one successor."""
    rows = [np.arange(language.size)]
    while len(rows) < length:
        rows.append(language.follow.argmax(axis=1)[rows[-1]])
    return np.stack(rows, axis=1)


class Transformer(torch.nn.Module):
    """A model with fixed embeddings, one causal head, and a linear map of its output to scores."""

    def __init__(self, language: Language, *, fixed: bool) -> None:
        super().__init__()
        self.embeddings = torch.tensor(language.embeddings)
        d = language.d
        self.attention = torch.nn.MultiheadAttention(d, 1, bias=False, batch_first=True).double()
        self.read = torch.nn.Linear(d, language.size, bias=False).double()
        with torch.no_grad():
            blocks = self.attention.in_proj_weight.view(3, d, d)
            blocks[:VALUES] *= 0.1
            if fixed:
                blocks[VALUES] = self.attention.out_proj.weight[:] = torch.eye(d)
                self.read.weight[:] = self.embeddings
        self.trained = [self.attention.in_proj_weight] if fixed else list(self.parameters())
        if fixed:
            keep = torch.ones(3, d, d).index_fill(0, torch.tensor([VALUES]), 0.0).view(3 * d, d)
            self.attention.in_proj_weight.register_hook(lambda gradient: gradient * keep)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores of the tokens that may follow."""
        x = self.embeddings[tokens]
        mask = CAUSAL(tokens.shape[1], dtype=x.dtype)
        seen, _ = self.attention(x, x, x, attn_mask=mask, need_weights=False)
        return self.read(seen)


def main(steps: tuple[int, ...] = STEPS) -> list[tuple[float, ...]]:
    """Train both ways; print and return the figures at these steps."""
    language = random_language(np.random.default_rng(0), V=8, d=16, successors=1)
    every = sentences(language)
    data = prefix_data(language, every)
    tokens, follow = torch.tensor(every[:, :-1]), torch.tensor(next_tokens(every))
    torch.set_num_threads(1)  # the tensors are small
    rows = []
    for fixed, step_size in ((True, 10.0), (False, 1.0)):
        print("only queries and keys are trained" if fixed else "everything is trained")
        print("    step" + "".join(f"{name:>9}" for name in COLUMNS))
        torch.manual_seed(0)
        model = Transformer(language, fixed=fixed)
        descent = torch.optim.SGD(model.trained, lr=step_size)
        for step in range(steps[-1] + 1):
            scores = model(tokens).flatten(0, 1)
            loss = torch.nn.functional.cross_entropy(scores, follow)
            if fixed:  # the logistic loss of the theory, which falls with the score
                loss = torch.nn.functional.softplus(-scores.gather(1, follow[:, None])).mean()
            if step in steps:
                (head,) = capture(model, tokens)
                gamma = data.gamma[np.arange(data.n), head.targets]
                optimal = np.isclose(gamma, np.where(data.present, data.gamma, -1.0).max(axis=1))
                near, nuclear = head.compare(), head.compare("nuc")
                row = (
                    *(
                        loss.item(),
                        optimal.mean(),
                        head.entropy.mean(),
                        np.linalg.norm(head.weights),
                    ),
                    *(near.margin / near.best_margin, near.cosine, nuclear.cosine),
                    near.price.max(),
                )
                print(f"{step:8}" + "".join(f"{figure:9.3f}" for figure in row), flush=True)
                rows.append(row)
            descent.zero_grad()
            loss.backward()
            descent.step()
        if fixed:
            words = ("least", "up", "to 0", "growing", "up", "", "to 1", "to 0")
            print("predict." + "".join(f"{word:>9}" for word in words), end="\n\n")
    return rows


def draw(steps: tuple[int, ...], rows: list[tuple[float, ...]], file: str) -> None:
    """Draw the rows of `main` over the steps."""
    from attsvm.heads.pictures import curves

    kinds = ("only queries and keys are trained", "everything is trained")
    table = np.array(rows).reshape(len(kinds), len(steps), len(COLUMNS))
    figures = {
        name: {kind: table[k, :, c] for k, kind in enumerate(kinds)}
        for c, name in enumerate(COLUMNS)
    }
    curves(np.array(steps), figures, expected=EXPECTED).savefig(file)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("steps", nargs="*", type=int, help="steps at which figures are taken")
    parser.add_argument("--plot", metavar="FILE", help="draws the figures to this file")
    options = parser.parse_args()
    steps = tuple(options.steps) or STEPS
    rows = main(steps)
    if options.plot:
        draw(steps, rows, options.plot)
