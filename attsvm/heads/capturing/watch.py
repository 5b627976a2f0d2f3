"""A mode of PyTorch that sees the products and the attention that a module computes."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from attsvm._types import Tensor
from attsvm.heads.capturing.eager import Fit, Pair, fitted
from attsvm.heads.capturing.recorder import Recorder
from attsvm.heads.capturing.tracing import Product

F = torch.nn.functional
_PAIRS = 3
"""Maximum number of products of two activations among which logits are looked for."""


class Watch(TorchFunctionMode):
    """A mode that tells a recorder of products with weights, and of every attention.

    Args:
        recorder: it makes the layers.
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        self._pairs: deque[Pair] = deque(maxlen=_PAIRS)
        self._open: tuple[Pair, float, Fit] | None = None  # logits that wait for their values
        self._unread: torch.Size | None = None  # the shape of weights without known logits

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: object,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Call a function of PyTorch, and record what it computed."""
        for tensor in _written(func, args, kwargs or {}):
            self.recorder.overwritten(tensor)
        if func in _SOFTMAX:
            with torch.no_grad():
                self._softmax(*args, **(kwargs or {}))  # type: ignore[arg-type]
        result = func(*args, **(kwargs or {}))
        if func in _SEEN:
            with torch.no_grad():  # a module may switch gradients on
                _SEEN[func](self, result, *args, **(kwargs or {}))
        return result

    def _linear(self, y: Tensor, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
        self.recorder.products.append(Product.of(input, weight, bias, y))

    def _addmm(
        self, y: Tensor, input: Tensor, mat1: Tensor, mat2: Tensor, **factors: float
    ) -> None:
        if not factors and input.ndim == 1:
            self.recorder.products.append(Product.of(mat1, mat2.T, input, y))

    def _matmul(self, y: Tensor, first: Tensor, *second: Tensor, **named: Tensor) -> None:
        other = (*second, *named.values())[0]
        if other.ndim == 2 and first.ndim >= 2:
            self.recorder.products.append(Product.of(first, other.T, None, y))
        if other.ndim == first.ndim >= 2:
            self._multiplied(Pair.of(first, other.transpose(-1, -2), y))

    def _baddbmm(
        self, y: Tensor, input: Tensor, batch1: Tensor, batch2: Tensor, **factors: float
    ) -> None:
        product = torch.bmm(batch1, batch2)
        self._multiplied(Pair.of(batch1, batch2.transpose(-1, -2), product))

    def _einsum(self, y: Tensor, equation: str, *operands: Tensor) -> None:
        """Record a product of two activations that sums over one axis, and has one axis of each."""
        match = re.fullmatch(r"(\w+),(\w+)->(\w+)", equation.replace(" ", ""))
        if match is None or len(operands) != 2:
            return
        first, second, out = match.groups()
        row, column = ([c for c in out if c not in other] for other in (second, first))
        shared = [c for c in out if c in first and c in second]
        summed = [c for c in first if c not in out]
        if len(row) == len(column) == len(summed) == 1 and len(first) == len(second) == len(out):
            orders = (first, [*shared, *row, *summed]), (second, [*shared, *column, *summed])
            a, b = (
                operand.permute([letters.index(c) for c in order])
                for operand, (letters, order) in zip(operands, orders, strict=True)
            )
            y = y.permute([out.index(c) for c in (*shared, *row, *column)])
            self._multiplied(Pair.of(a, b, y))

    def _multiplied(self, pair: Pair) -> None:
        """Record a product of two activations: of weights with values, or of queries with keys."""
        if self._unread is not None and _alike(pair.a.shape, self._unread):
            self._unread = None
            self._pairs.clear()
            self.recorder.leave_out(pair.b.transpose(-1, -2))
            return
        if self._open is None or pair.a.shape != self._open[0].shape:
            self._pairs.append(pair)
            return
        logits, factor, fit = self._open
        self._open = None
        self._pairs.clear()
        parts = logits.a, logits.b, pair.b.transpose(-1, -2)
        hidden = [(tensor, False) for tensor in (fit.seen, fit.added) if tensor is not None]
        self.recorder.attention(parts, factor * fit.scale, hidden, causal=fit.causal)

    def _scaled(self, y: Tensor, input: object, other: object, *, divides: bool) -> None:
        """Replace a product of queries and keys by its multiple y, as the module just did."""
        for pair in self._pairs:
            if pair.y is input and pair.is_fresh and y.dtype == pair.a.dtype:
                is_scalar = isinstance(other, torch.Tensor) and not other.ndim
                number = other.item() if is_scalar else other  # type: ignore[attr-defined]
                if isinstance(number, (int, float)) and 0.0 < abs(number) < math.inf:
                    pair.replace(y, pair.factor / number if divides else pair.factor * number)

    def _times(self, y: Tensor, input: object, other: object, **named: object) -> None:
        self._scaled(y, input, other, divides=False)

    def _over(self, y: Tensor, input: object, other: object, **named: object) -> None:
        if "rounding_mode" not in named:
            self._scaled(y, input, other, divides=True)

    def _softmax(
        self, input: Tensor, dim: int | None = None, *rest: object, **named: object
    ) -> None:
        """Take logits apart, and drop the product before the softmax needs memory."""
        if dim not in (-1, input.ndim - 1) or input.ndim < 2:
            return
        self._unread = None
        if self._open is not None and _alike(self._open[0].shape, input.shape):
            self._open = None  # no product with values followed
        for pair in reversed(self._pairs):
            if _alike(pair.shape, input.shape):
                y = pair.whole()
                fit = None if y is None else fitted(y, input)
                if fit is not None:
                    self._open = pair, pair.factor, fit
                    pair.y = None
                    return
        self._unread = input.shape

    def _multi_head(self, *args: Any, **named: Any) -> None:
        self.recorder.multi_head(*args, **named)

    def _dot_product(
        self,
        y: object,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> None:
        """Record a call of `scaled_dot_product_attention`."""
        hidden = [] if attn_mask is None else [(attn_mask, False)]
        scale = query.shape[-1] ** -0.5 if scale is None else float(scale)
        self.recorder.attention((query, key, value), scale, hidden, causal=bool(is_causal))


_SOFTMAX = {F.softmax, torch.softmax, torch.Tensor.softmax}

_SEEN: dict[object, Callable[..., None]] = {
    F.linear: Watch._linear,
    **dict.fromkeys((torch.addmm, torch.Tensor.addmm), Watch._addmm),
    **dict.fromkeys((torch.baddbmm, torch.Tensor.baddbmm), Watch._baddbmm),
    torch.einsum: Watch._einsum,
    F.scaled_dot_product_attention: Watch._dot_product,
    F.multi_head_attention_forward: Watch._multi_head,
    **dict.fromkeys((torch.mul, torch.Tensor.mul, torch.Tensor.__mul__), Watch._times),
    **dict.fromkeys((torch.div, torch.Tensor.div, torch.Tensor.__truediv__), Watch._over),
    **dict.fromkeys((torch.matmul, torch.mm, torch.bmm), Watch._matmul),
    **dict.fromkeys((torch.Tensor.matmul, torch.Tensor.mm, torch.Tensor.bmm), Watch._matmul),
    torch.Tensor.__matmul__: Watch._matmul,
}
"""Methods that record calls of functions.

An instance with its own bound methods would be a reference cycle: then its tensors, and the output
of the module, would stay in memory until Python collects garbage.
"""


def _written(
    func: object, args: Sequence[object], kwargs: Mapping[str, object]
) -> Iterator[Tensor]:
    """Yield tensors that a call may overwrite, and some that it only reads."""
    name = getattr(func, "__name__", "")
    in_place = name.startswith("__i") or (name.endswith("_") and not name.endswith("__"))
    written = [kwargs.get("out")]
    if in_place or name == "__setitem__" or kwargs.get("inplace"):
        written += [*args[:1], kwargs.get("input")]
    for one in written:
        for tensor in one if isinstance(one, (list, tuple)) else (one,):
            if isinstance(tensor, torch.Tensor):
                yield tensor


def _alike(one: torch.Size, other: torch.Size) -> bool:
    """Return whether tables of two shapes differ at most in the axes before the last two."""
    return one.numel() == other.numel() and one[-2:] == other[-2:]
