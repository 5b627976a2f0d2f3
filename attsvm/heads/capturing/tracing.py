"""The projections that made queries, keys and values, found by the numbers that attention got.

A product of tokens with a weight has the outputs y = x w^T + b. Queries, keys and values are looked
for among the last products in two ways that know nothing of the module:

1. The numbers are columns of y, in any order or interleaving, perhaps several times.
2. Each head has a block of columns of y with the same norm for each token, up to one factor.
   Then the head is a multiple of the block, such as queries that are scaled after their projection.
   Or it is the block after a rotation by position, or after another change that keeps norms; the
   search does not distinguish these two.

Every match is checked on all numbers, or all norms, not only on the samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

from attsvm._types import Tensor
from attsvm.heads.capturing.references import Kept, Projection, version

_SAMPLES = 16
"""Maximum number of tokens by which columns are compared first."""

_FEWEST = 4
"""Smallest number of tokens by which a factor or a rotation is recognised."""

_TINY = 1e-30
"""Smallest norm that is divided by."""

_ROUNDINGS = {2: 4, 4: 32, 8: 32}
"""Maximum error of equal numbers, as a multiple of the relative precision, by bytes per number.

In half precision this is a few percent; with more, different numbers would pass as equal.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """A product y = x weight^T + bias of tokens (..., d) with a weight (F, d).

    Attributes:
        x, weight, bias, y: the tensors.
        versions: their versions after the product, which change if one is overwritten.
    """

    x: Tensor
    weight: Tensor
    bias: Tensor | None
    y: Tensor
    versions: tuple[int, ...]

    @classmethod
    def of(cls, x: Tensor, weight: Tensor, bias: Tensor | None, y: Tensor) -> Product:
        """Return a product as it is now; tensors of inference mode have no version: a copy."""
        x, y = (a.clone() if a.is_inference() else a for a in (x, y))
        return cls(x, weight, bias, y, _versions(x, weight, bias, y))

    @property
    def is_fresh(self) -> bool:
        """Whether no tensor was overwritten."""
        return self.versions == _versions(self.x, self.weight, self.bias, self.y)

    def by_sequence(self, T: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield inputs (B, T, d) and outputs (B, T, F), the batch first or the tokens first."""
        x, y = (a.reshape(-1, a.shape[-1]) for a in (self.x, self.y))
        B = len(y) // T
        if len(y) != B * T:
            return
        yield x.reshape(B, T, -1), y.reshape(B, T, -1)
        if B > 1 and T > 1:
            yield x.reshape(T, B, -1).transpose(0, 1), y.reshape(T, B, -1).transpose(0, 1)


def _versions(*tensors: Tensor | None) -> tuple[int, ...]:
    return tuple(version(tensor) for tensor in tensors if tensor is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """The columns (H, e) of a product, with a factor, and whether a rotation followed."""

    columns: Tensor
    factor: float = 1.0
    turned: bool = False


def trace(
    part: Tensor, heads: int | None, products: Iterable[Product], *, turns: bool
) -> Projection | None:
    """Return the projection that made queries, keys or values; None if there is none.

    Args:
        part: the numbers (..., T, e).
        heads: the number of heads, if the axis before the last two is that of heads; None if heads
            and sequences may be on one axis.
        products: the products to look among, the latest one last.
        turns: whether a factor or a rotation may have followed.
    """
    T, e = part.shape[-2:]
    flat = part.detach().reshape(-1, T, e)
    recent = [p for p in products if p.y.dtype == part.dtype and p.is_fresh][::-1]
    for find in (_columns, _blocks) if turns else (_columns,):
        for product in recent:
            for x, y in product.by_sequence(T):
                B = len(y)
                if len(flat) % B or (heads is not None and len(flat) != B * heads):
                    continue
                numbers = flat.reshape(B, -1, T, e)
                match = find(numbers, y)
                if match is not None and _unique(match.columns, product, y):
                    bias = None if product.bias is None else Kept.of(product.bias)
                    kept = Kept.of(x), Kept.of(product.weight), bias
                    view = _view(y, match.columns) if find is _columns else None
                    return Projection(*kept, match.columns, match.factor, match.turned, view)
    return None


def _view(y: Tensor, columns: Tensor) -> Tensor | None:
    """Return columns (H, e) of y as a view (B, H, T, e); None if they are not evenly spaced."""
    H, e = columns.shape
    first = int(columns[0, 0])
    step = int(columns[1, 0]) - first if H > 1 else e
    spaced = torch.arange(H)[:, None] * step + torch.arange(e) + first
    if not torch.equal(columns, spaced.to(columns)):
        return None
    to_b, to_t, to_f = y.stride()
    sizes, steps = (len(y), H, y.shape[1], e), (to_b, step * to_f, to_t, to_f)
    return y.as_strided(sizes, steps, y.storage_offset() + first * to_f)


def _sampled(numbers: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return some tokens of `numbers` and of y, as rows (R, H e) and (R, F)."""
    B, _, T, _ = numbers.shape
    rows = torch.linspace(0, B * T - 1, min(_SAMPLES, B * T), device=y.device).long()
    b, t = rows // T, rows % T
    return numbers[b, :, t].reshape(len(rows), -1), y[b, t]


def _keys(rows: Tensor) -> Tensor:
    """Return a hash of each column; equal columns have equal hashes."""
    bits = (rows.double() + 0.0).view(torch.int64)
    odd = torch.arange(1, 2 * len(rows), 2, device=rows.device) * 0x5851F42D4C957F2D
    return ((bits ^ (bits >> 29)) * odd[:, None]).sum(0)


def _columns(numbers: Tensor, y: Tensor) -> Match | None:
    """Return the column of each entry of a head, if all numbers are columns of y."""
    mine, theirs = map(_keys, _sampled(numbers, y))
    ordered, places = theirs.sort()
    best = torch.searchsorted(ordered, mine).clamp(max=len(theirs) - 1)
    if not torch.equal(ordered[best], mine):
        return None
    _, H, _, e = numbers.shape
    columns = places[best].reshape(H, e)
    same = all(torch.equal(numbers[:, h], _selected(y, columns[h])) for h in range(H))
    return Match(columns) if same else None


def _selected(y: Tensor, columns: Tensor) -> Tensor:
    """Return columns of y, without a copy if they lie side by side."""
    first, e = int(columns[0]), len(columns)
    beside = torch.equal(columns, torch.arange(first, first + e, device=columns.device))
    return y[..., first : first + e] if beside else y[..., columns]


def _blocks(numbers: Tensor, y: Tensor) -> Match | None:
    """Return for each head the block of columns that has its norms, up to one factor.

    The numbers are then a multiple of the block, or have its norms, as after a rotation.
    """
    B, _, T, e = numbers.shape
    if y.shape[-1] % e or B * T < _FEWEST:
        return None
    mine = numbers.float().norm(dim=-1).transpose(1, 2)
    theirs = y.reshape(B, T, -1, e).float().norm(dim=-1)
    some, every = (a.reshape(B * T, -1)[:: max(1, B * T // _SAMPLES)] for a in (mine, theirs))
    some, every = (a / a.norm(dim=0).clamp(min=_TINY) for a in (some, every))
    # for each head the block with the largest cosine of the norms over tokens
    blocks = (some.T @ every).argmax(1)
    chosen = theirs[..., blocks]
    factor = float((mine * chosen).sum() / chosen.square().sum().clamp(min=_TINY))
    tolerance = _ROUNDINGS[y.element_size()] * torch.finfo(y.dtype).eps
    if not (mine - factor * chosen).abs().max() <= tolerance * mine.max():
        return None
    columns = e * blocks[:, None] + torch.arange(e, device=y.device)
    far = numbers - factor * y[..., columns].permute(0, 2, 1, 3)
    return Match(columns, factor, turned=bool(far.abs().max() > tolerance * numbers.abs().max()))


def _unique(columns: Tensor, product: Product, y: Tensor) -> bool:
    """Return whether no other column of y has the same numbers but other weights.

    Few or equal tokens may not decide, such as inputs that are all zero.
    """
    chosen, rows = columns.flatten(), y.reshape(-1, y.shape[-1])
    for some in (rows[:: max(1, len(rows) // _SAMPLES)], rows):  # all rows only if some leave doubt
        _, group = torch.unique(_keys(some), return_inverse=True)
        first = torch.zeros_like(group).scatter_(0, group, torch.arange(len(group)).to(group))
        twins = first[group] != torch.arange(len(group)).to(group)
        own, others = twins.nonzero().flatten(), first[group][twins]
        differ = (product.weight[own] != product.weight[others]).any(1)
        doubted = torch.zeros_like(twins)
        doubted[group[own[differ]]] = True
        if not doubted[group[chosen]].any():
            return True
    return False
