"""Capture of all 144 heads of a model of GPT-2's shape, beside its forward pass, and their table.

The model has random weights: 12 layers of 12 heads, dimension 768, one sequence. `fused` is
`scaled_dot_product_attention`, `eager` a softmax that is written out. Notes have the size of the
tensors that heads keep beside the weights, and the seconds that the table of all heads takes.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attsvm import capture
from attsvm.heads import Heads
from attsvm.heads.capturing.layer import LayerHead
from benchmarks.timers.timing import Timer, Way

LAYERS, HEADS, WIDTH, WORDS, LONGEST = 12, 12, 768, 50257, 1024


class Conv1D(nn.Module):
    """A linear map with a transposed weight, as in GPT-2."""

    def __init__(self, outputs: int, inputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Return the map of tokens."""
        y = torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight)
        return y.view(*x.shape[:-1], -1)


class Block(nn.Module):
    """One layer: causal attention and a perceptron, each with a residual."""

    def __init__(self, *, eager: bool) -> None:
        super().__init__()
        self.eager = eager
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = Conv1D(3 * WIDTH, WIDTH), Conv1D(WIDTH, WIDTH)
        self.c_fc, self.out = Conv1D(4 * WIDTH, WIDTH), Conv1D(WIDTH, 4 * WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return the tokens of the next layer."""
        B, T, _ = x.shape
        parts = self.c_attn(self.ln_1(x)).split(WIDTH, dim=2)
        q, k, v = (part.view(B, T, HEADS, -1).transpose(1, 2) for part in parts)
        k, v = k.clone(), v.clone()  # as a cache for the next words does
        if self.eager:
            hidden = torch.full((T, T), torch.finfo(q.dtype).min).triu(1)
            logits = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5 + hidden
            mixed = nn.functional.softmax(logits, dim=-1) @ v
        else:
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(mixed.transpose(1, 2).reshape(B, T, WIDTH))
        return x + self.out(nn.functional.gelu(self.c_fc(self.ln_2(x))))


class Model(nn.Module):
    """A model of GPT-2's shape; its words are read by the embedding."""

    def __init__(self, *, eager: bool) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.h = nn.ModuleList([Block(eager=eager) for _ in range(LAYERS)])

    def forward(self, words: Tensor) -> Tensor:
        """Return the scores of the words that may follow."""
        x = self.wte(words) + self.wpe(torch.arange(words.shape[1]))
        for block in self.h:
            x = block(x)
        return x @ self.wte.weight.T


def kept(heads: Heads) -> int:
    """Return the number of bytes of the tensors that heads keep, without weights."""
    sizes: dict[int, int] = {}
    for head in heads:
        if isinstance(head.source, LayerHead):
            layer = head.source.layer
            for part in (layer.queries, layer.keys, layer.values):
                inputs = None if part.projection is None else part.projection.x
                for tensor in (part.held, inputs):
                    if tensor is not None:
                        storage = tensor.tensor.untyped_storage()
                        sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


def noted(cases: Sequence[Any], ours: Sequence[Any], others: Mapping[str, Any]) -> str:
    """Return the bytes that are kept, and the seconds of the table."""
    start = time.process_time()
    ours[0].table()
    seconds = time.process_time() - start
    return f"{kept(ours[0]) / 1e6:.0f} MB kept, table {seconds:.1f} s"


@torch.no_grad()
def forward(case: tuple[Model, Tensor]) -> None:
    """Run the model alone."""
    model, words = case
    model(words)


def heads() -> Iterator[Timer]:
    """Yield the rows of the table."""
    torch.set_num_threads(1)
    for eager in (False, True):
        torch.manual_seed(0)
        model = Model(eager=eager).eval()
        for T in (128, 256, 512, 1024):
            words = torch.randint(0, WORDS, (1, T))
            yield Timer(
                f"capture, {'eager' if eager else 'fused'}",
                f"T = {T}",
                lambda case=(model, words): [case],
                Way(lambda case: capture(*case)),
                {"forward": Way(forward)},
                noted,
                clock=time.process_time,
            )
