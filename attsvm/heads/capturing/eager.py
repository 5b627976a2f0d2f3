"""Attention that is written out: the scale and the mask between a product q k^T and a softmax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from attsvm._types import Tensor
from attsvm.heads.capturing.masks import LOWEST
from attsvm.heads.capturing.references import version

_HIDDEN = 0.9 * LOWEST
"""Upper bound of the difference of logits and products that hides a token."""

_ROUNDINGS = 64
"""Maximum error of sums in logits, as a multiple of their precision and the largest logit.

Sums of half precision are taken in single precision.
"""

_HALF = 4
"""Maximum error of a logit in half precision, as a multiple of that precision and the logit."""

_ROWS = 16
"""Maximum number of queries by which the scale is found."""


@dataclass(slots=True, eq=False)
class Pair:
    """A product y = factor * a b^T of two activations (..., L, e) and (..., S, e).

    Attributes:
        a, b: the factors.
        y: the product; None if it was dropped, as it takes much memory.
        shape: that of the product.
        versions: the versions of a, b and y after the product, which change if one is overwritten.
        factor: the number by which the module multiplied the product.
    """

    a: Tensor
    b: Tensor
    y: Tensor | None
    shape: torch.Size
    versions: tuple[int, ...]
    factor: float = 1.0

    @classmethod
    def of(cls, a: Tensor, b: Tensor, y: Tensor) -> Pair:
        """Return a product as it is now."""
        return cls(a, b, y, y.shape, tuple(map(version, (a, b, y))))

    @property
    def is_fresh(self) -> bool:
        """Whether y is in memory and provably was not overwritten."""
        y = self.y
        return y is not None and not y.is_inference() and version(y) == self.versions[2]

    def replace(self, y: Tensor, factor: float) -> None:
        """Store another multiple of a b^T as y, so that the memory of the old y can be freed."""
        self.y, self.factor, self.versions = y, factor, (*self.versions[:2], version(y))

    def whole(self) -> Tensor | None:
        """Return the product, recomputed if it was overwritten or dropped.

        Return None if a factor was overwritten. In inference mode tensors have no version: then the
        product is always recomputed, and an overwritten factor is not noticed.
        """
        if tuple(map(version, (self.a, self.b))) != self.versions[:2]:
            return None
        y = self.y
        if y is None or not self.is_fresh:
            y = self.a @ self.b.transpose(-1, -2)
            self.replace(y, 1.0)
        return y


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Logits as scale * product, with a mask and with numbers that are added.

    Attributes:
        scale: the factor.
        seen: truth values (..., L, S), which may have axes of length 1; None if all
            tokens are seen.
        added: the numbers that are added, likewise; None if there are none.
        causal: whether `seen` is the causal mask, and therefore None.
    """

    scale: float
    seen: Tensor | None
    added: Tensor | None
    causal: bool


def fitted(y: Tensor, logits: Tensor) -> Fit | None:
    """Return the scale, mask and added numbers that turn a product y into logits, or None.

    Numbers that are added must depend on the distance of query and token or on the token alone, or
    be the same for all sequences; otherwise the scale is unknown.
    """
    logits = logits.reshape(y.shape).to(y.dtype)
    is_half = y.element_size() == 2
    precision = _ROUNDINGS * torch.finfo(torch.float32 if is_half else y.dtype).eps
    relative = _HALF * torch.finfo(y.dtype).eps if is_half else 0.0
    rows = list({*np.linspace(0, logits.shape[-2] - 1, _ROWS).astype(int).tolist()})
    some, products = logits[..., rows, :].float(), y[..., rows, :].float()
    largest = torch.where(some > LOWEST, some, 0).abs().max()
    scale = _scale(some, products, precision, relative)
    exact = scale is not None
    if scale is None:
        wide, room = (logits.float(), y.float()), 2.0 * relative * float(largest)
        scales = (_scale(*apart, precision, 0.0, room) for apart in _differences(*wide))
        scale = next((s for s in scales if s), None)
    if scale is None:
        return None
    shown: list[Tensor] = []
    rests: list[Tensor] = []
    far = 0.0
    leads = [table.reshape(-1, *table.shape[-2:]) for table in (logits, y)]
    rest = torch.empty_like(leads[0][0])
    seen = torch.empty(rest.shape, dtype=torch.bool, device=rest.device)
    for one, product in zip(*leads, strict=True):  # one head fits in the cache
        torch.add(one, product, alpha=-scale, out=rest)
        torch.gt(rest, _HIDDEN, out=seen)
        torch.threshold_(rest, _HIDDEN, 0.0)  # twice as fast as `where`
        if is_half:
            far = max(far, float((rest.abs() - relative * one.abs()).max()))
        else:
            far = max(far, *map(abs, map(float, rest.aminmax())))
        shown.append(shown[0] if shown and _equal(seen, shown[0]) else seen.clone())
        if not exact:
            rests.append(rest.clone())
    lead = y.shape[:-2]
    added = None
    if far > precision * largest:
        if exact:
            return None
        tolerance = float((precision + relative) * largest)
        added = shared(torch.stack(rests).reshape(*lead, *rest.shape), tolerance)
    alike = all(other is shown[0] for other in shown)
    if alike and _equal(shown[0], torch.ones_like(shown[0]).tril()):
        return Fit(scale, None, added, causal=True)
    seen = shown[0] if alike else shared(torch.stack(shown).reshape(*lead, *rest.shape))
    return Fit(scale, None if alike and bool(seen.all()) else seen, added, causal=False)


def _equal(one: Tensor, other: Tensor) -> bool:
    """Return whether two contiguous masks are equal; comparing 8 bytes at once is faster."""
    if one.numel() % 8 == 0:
        one, other = (table.view(-1).view(torch.int64) for table in (one, other))
    return torch.equal(one, other)


def _scale(
    logits: Tensor, products: Tensor, precision: float, relative: float, room: float = 0.0
) -> float | None:
    """Return the factor of products in logits that are not masked.

    Return None if an error exceeds `precision` max |logit| + `relative` |its logit| + `room`.
    """
    logits, products = (torch.where(logits > LOWEST, a, 0) for a in (logits, products))
    square = products.square().sum()
    if square == 0:
        return None
    scale = float((logits * products).sum() / square)
    beyond = ((logits - scale * products).abs() - relative * logits.abs()).max()
    return scale if beyond <= precision * logits.abs().max() + room else None


def _differences(logits: Tensor, products: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield differences in which numbers that are added may cancel.

    They are taken between sequences, along diagonals, and between queries.
    """
    hidden = torch.where(logits > LOWEST, logits, -torch.inf)
    pairs = []
    if logits.ndim > 3 and len(logits) > 1:
        pairs.append([a[1:] - a[:1] for a in (hidden, products)])
    pairs.append([a[..., 1:, 1:] - a[..., :-1, :-1] for a in (hidden, products)])
    pairs.append([a[..., 1:, :] - a[..., :-1, :] for a in (hidden, products)])
    for difference, other in pairs:
        yield torch.where(difference.isfinite(), difference, -torch.inf), other


def shared(table: Tensor, tolerance: float = 0.0) -> Tensor:
    """Return a table; axes before the last two have length 1 if it is constant along them."""
    for axis in range(table.ndim - 2):
        first = table.narrow(axis, 0, 1)
        same = (
            torch.equal(table, first.expand_as(table))
            if table.dtype == torch.bool
            else (table - first).abs().max() <= tolerance
        )
        if same:
            table = first
    return table.clone()
