"""Small models with random weights, whose attention is laid out as in models that people use."""

import math

import torch
from torch import nn

F = nn.functional
WIDTH, HEADS, LENGTH = 24, 4, 10
SIZE = WIDTH // HEADS


def sdpa(q, k, v, mask, scale=None):
    """Attention by one function; `mask` is None, boolean or additive."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)


def eager(q, k, v, mask, scale=None):
    """Attention written out, as eager models do."""
    logits = torch.matmul(q, k.transpose(2, 3)) * (SIZE**-0.5 if scale is None else scale)
    if mask is not None:
        zeros = torch.zeros(mask.shape, dtype=q.dtype)
        logits = logits + (
            zeros.masked_fill(~mask, torch.finfo(q.dtype).min)
            if mask.dtype == bool or mask.dtype == torch.bool
            else mask
        )
    weights = F.softmax(logits, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def causal(length=LENGTH):
    return torch.ones(length, length, dtype=torch.bool).tril()[None, None]


def split(x, heads=HEADS):
    return x.view(*x.shape[:2], heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


def turned(x, part=1.0):
    """Rotary positions on the first part of each head."""
    size = int(x.shape[-1] * part)
    angles = torch.arange(x.shape[2])[:, None] / 100.0 ** (torch.arange(0, size, 2) / size)
    cos, sin = (f(angles).repeat(1, 2).to(x.dtype) for f in (torch.cos, torch.sin))
    rest, x = x[..., size:], x[..., :size]
    half = torch.cat([-x[..., size // 2 :], x[..., : size // 2]], -1)
    return torch.cat([x * cos + half * sin, rest], -1)


class Conv1D(nn.Module):
    """The linear map of GPT-2: its weight is transposed, and `addmm` computes it."""

    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * 0.2)
        self.bias = nn.Parameter(torch.randn(outputs) * 0.2)

    def forward(self, x):
        y = torch.addmm(self.bias, x.view(-1, x.shape[-1]), self.weight)
        return y.view(*x.shape[:-1], -1)


class Model(nn.Module):
    """Two layers of attention with a residual; `how` computes the softmax."""

    def __init__(self, kind, how):
        super().__init__()
        self.layers = nn.ModuleList([kind(how) for _ in range(2)])

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(F.layer_norm(x, x.shape[-1:]))
        return x


class GPT2(nn.Module):
    """Queries, keys and values from one product; a cache copies keys and values."""

    def __init__(self, how):
        super().__init__()
        self.how, self.c_attn, self.c_proj = how, Conv1D(3 * WIDTH, WIDTH), Conv1D(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (split(part) for part in self.c_attn(x).split(WIDTH, dim=2))
        return self.c_proj(joined(self.how(q, k.clone(), v.clone(), causal(x.shape[1]))))


class Bert(nn.Module):
    """Separate projections with biases, no mask."""

    bias, factor, groups = True, 1.0, HEADS

    def __init__(self, how):
        super().__init__()
        self.how = how
        self.q_proj = nn.Linear(WIDTH, WIDTH, self.bias)
        self.k_proj, self.v_proj = (
            nn.Linear(WIDTH, SIZE * self.groups, self.bias) for _ in range(2)
        )
        for part in (self.q_proj, self.k_proj):
            part.weight.data *= 3

    def parts(self, x):
        k, v = (split(part(x), self.groups) for part in (self.k_proj, self.v_proj))
        return split(self.q_proj(x)), k, v

    def forward(self, x):
        return joined(self.how(*self.parts(x), None))


class OPT(Bert):
    """Queries are scaled after their projection; heads and sequences share an axis."""

    def forward(self, x):
        q, k, v = self.parts(x)
        q = q * SIZE**-0.5
        if self.how is sdpa:
            return joined(sdpa(q, k, v, causal(x.shape[1]), scale=1.0))
        q, k, v = (part.reshape(-1, *part.shape[2:]) for part in (q, k, v))
        logits = torch.bmm(q, k.transpose(1, 2)).view(len(x), HEADS, x.shape[1], -1)
        mask = torch.zeros(1, 1, x.shape[1], x.shape[1]).masked_fill(~causal(x.shape[1]), -1e9)
        weights = nn.functional.softmax((logits + mask).view(-1, *logits.shape[2:]), dim=-1)
        return joined(torch.bmm(weights, v).view(len(x), HEADS, *v.shape[1:]))


class T5(Bert):
    """No scale and no biases; a number by head and distance is added to the logits."""

    bias = False

    def forward(self, x):
        far = torch.arange(x.shape[1])[None] - torch.arange(x.shape[1])[:, None]
        numbers = torch.sin(far / 3.0 + torch.arange(HEADS)[:, None, None])[None]
        return joined(self.how(*self.parts(x), numbers, 1.0))


class Llama(Bert):
    """Rotary positions, and two heads of queries for each head of keys."""

    bias, groups = False, HEADS // 2

    def forward(self, x):
        q, k, v = self.parts(x)
        k, v = (part.repeat_interleave(2, dim=1) for part in (turned(k), v))
        return joined(self.how(turned(q), k, v, causal(x.shape[1])))


class Neighbours(Llama):
    """Rotary positions on pairs of neighbouring coordinates, as in GPT-J."""

    def forward(self, x):
        q, k, v = self.parts(x)
        order = [0, 2, 4, 1, 3, 5]
        q, k = (turned(part[..., order])[..., [0, 3, 1, 4, 2, 5]] for part in (q, k))
        k, v = (part.repeat_interleave(2, dim=1) for part in (k, v))
        return joined(self.how(q, k, v, causal(x.shape[1])))


class NeoX(nn.Module):
    """Queries, keys and values of a head lie together; positions rotate a part of each head."""

    def __init__(self, how):
        super().__init__()
        self.how, self.query_key_value = how, nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        made = self.query_key_value(x).view(*x.shape[:2], HEADS, 3 * SIZE).transpose(1, 2)
        q, k, v = made.chunk(3, dim=-1)
        part = 4 / SIZE
        return joined(self.how(turned(q, part), turned(k, part), v, causal(x.shape[1])))


class Normed(Bert):
    """Queries and keys are normalised after their projection, as in Qwen3."""

    def forward(self, x):
        q, k, v = self.parts(x)
        q, k = (F.rms_norm(part, part.shape[-1:]) for part in (q, k))
        return joined(self.how(q, k, v, None))


class Einsum(Bert):
    """Products of queries, keys and values by `einsum`."""

    def forward(self, x):
        q, k, v = (part.transpose(1, 2) for part in self.parts(x))
        logits = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(SIZE)
        weights = logits.masked_fill(~causal(x.shape[1]), -torch.inf).softmax(-1)
        return torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)


class Single(Bert):
    """One head, written out without an axis of heads."""

    def forward(self, x):
        q, k, v = (part(x) for part in (self.q_proj, self.k_proj, self.v_proj))
        return (q @ k.transpose(-1, -2) / math.sqrt(WIDTH)).softmax(dim=-1) @ v


class Alibi(Bert):
    """`baddbmm` adds numbers by distance first, as in Bloom."""

    def forward(self, x):
        q, k, v = (part.reshape(-1, *part.shape[2:]) for part in self.parts(x))
        far = torch.arange(x.shape[1], dtype=x.dtype).expand(len(q), 1, -1) / 10
        logits = far.baddbmm(q, k.transpose(1, 2), beta=1.0, alpha=SIZE**-0.5)
        logits = logits.view(len(x), HEADS, *logits.shape[1:])
        weights = F.softmax(logits.masked_fill(~causal(x.shape[1]), -1e30), dim=-1)
        return joined(
            torch.bmm(weights.view(-1, *weights.shape[2:]), v).view(len(x), HEADS, *v.shape[1:])
        )


def tokens(batch=2, length=LENGTH, width=WIDTH, seed=0):
    return torch.randn(batch, length, width, generator=torch.Generator().manual_seed(seed))


def built(kind, how=sdpa, seed=1):
    torch.manual_seed(seed)
    return Model(kind, how).eval()
