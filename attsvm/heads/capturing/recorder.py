"""A recorder that makes a layer of every attention: queries, keys, values, scale and masks."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from attsvm._types import Tensor
from attsvm._words import counted
from attsvm.errors import DataError, present
from attsvm.heads.capturing.layer import Layer, is_explained
from attsvm.heads.capturing.masks import Mask, Term
from attsvm.heads.capturing.references import Kept, Part, Projection, place
from attsvm.heads.capturing.tracing import Product, trace

_PRODUCTS = 12
"""Maximum number of products with weights among which projections are looked for."""

Hidden = tuple[Tensor, bool]
"""A tensor that hides tokens or is added to logits, and whether true entries hide a token."""


class Recorder:
    """A list of layers, and the last products with weights.

    Args:
        names: modules of weights by the addresses of their storage.
        wanted: returns whether the attention of this index is wanted.
        inputs: whether tokens are the inputs of a layer, if they can be found.
    """

    def __init__(
        self, names: Mapping[int, str], wanted: Callable[[int], bool], *, inputs: bool
    ) -> None:
        self.names, self.wanted, self.inputs = names, wanted, inputs
        self.layers: list[Layer] = []
        self.left_out: list[str | None] = []  # modules of unrecognised attentions
        self.products: deque[Product] = deque(maxlen=_PRODUCTS)
        self.count = 0
        self._kept: defaultdict[int, list[Kept]] = defaultdict(list)  # by address of storage

    def attention(
        self,
        parts: tuple[Tensor, Tensor, Tensor],
        scale: float,
        hidden: Sequence[Hidden],
        *,
        causal: bool,
    ) -> None:
        """Add a layer of queries, keys and values (..., H, T, e), and trace their projections."""
        index = self._next()
        if index is None:
            return
        query = parts[0]
        *lead, L, _ = query.shape
        heads = [part.shape[-3] if part.ndim > 3 else None for part in parts]
        queries, keys = (
            trace(part, h, self.products, turns=True)
            for part, h in zip(parts[:2], heads, strict=False)
        )
        _drop_earlier(self.products, queries, keys)
        B = math.prod(lead[:-1])
        if query.ndim < 4:  # heads and sequences are on one axis
            B = math.prod(lead) if queries is None else len(queries.x.tensor)
        H = math.prod(lead) // B
        named = queries or keys or trace(parts[2], heads[2], self.products, turns=False)
        if any(part is None or len(part.x.tensor) != B for part in (queries, keys)):
            queries = keys = None
        dtype = _computed(query)
        views = (None, *_views(self.products, parts, heads[2], keys))
        made = [
            _part(part.to(dtype), projection, view, lead, (B, H))
            for part, projection, view in zip(parts, (queries, keys, None), views, strict=True)
        ]
        mask = Mask((L, parts[1].shape[-2]), _terms(hidden, lead, (B, H)), causal)
        self._add(self._name(index, named), (B, H), made, scale, mask, dtype)

    def multi_head(
        self,
        y: object,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        embed_dim_to_check: int,
        num_heads: int,
        in_proj_weight: Tensor | None,
        in_proj_bias: Tensor | None,
        bias_k: Tensor | None,
        bias_v: Tensor | None,
        add_zero_attn: bool,
        *rest: object,
        key_padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        q_proj_weight: Tensor | None = None,
        k_proj_weight: Tensor | None = None,
        v_proj_weight: Tensor | None = None,
        **others: object,
    ) -> None:
        """Record a multi-head attention, whose tensors are (tokens, batch, features).

        Raises:
            DataError: a key belongs to no token.
        """
        index = self._next()
        if index is None:
            return
        made = _projections(
            (query, key, value),
            (q_proj_weight, k_proj_weight, v_proj_weight),
            in_proj_weight,
            in_proj_bias,
            num_heads,
        )
        B, sizes, terms = query.shape[1] if query.ndim > 2 else 1, (len(query), len(key)), []
        if attn_mask is not None:
            if attn_mask.ndim == 3:
                attn_mask = attn_mask.reshape(B, num_heads, *sizes)
            terms.append(Term.of(attn_mask, hides=True))
        if key_padding_mask is not None:
            terms.append(Term.of(key_padding_mask.reshape(B, 1, 1, -1), hides=True))
        name = self._name(index, made[0].projection)
        _ensure_tokens(name, bias_k is None and not add_zero_attn)
        scale = (query.shape[-1] // num_heads) ** -0.5
        self._add(name, (B, num_heads), made, scale, Mask(sizes, tuple(terms)), _computed(query))

    def overwritten(self, tensor: Tensor) -> None:
        """Copy what layers keep of a tensor that is about to be overwritten."""
        if self._kept:
            for kept in self._kept.pop(place(tensor), ()):
                kept.copy()

    def leave_out(self, values: Tensor) -> None:
        """Note the module that made the values (..., S, e) of an unrecognised attention."""
        heads = values.shape[-3] if values.ndim > 3 else None
        made = trace(values, heads, self.products, turns=False)
        self.left_out.append(self._module(made))

    def _module(self, projection: Projection | None) -> str | None:
        """Return the module of a projection's weight; None if it has no name."""
        if projection is None:
            return None
        return self.names.get(place(projection.weight.tensor))

    def _next(self) -> int | None:
        """Return the index of an attention; None if it is not wanted."""
        self.count += 1
        return self.count - 1 if self.wanted(self.count - 1) else None

    def _name(self, index: int, projection: Projection | None) -> str:
        """Return the module of a projection's weight, numbered from its second call on."""
        name = self._module(projection) or f"attention {index}"
        calls = sum(layer.name.split(", call ")[0] == name for layer in self.layers)
        return f"{name}, call {calls + 1}" if calls else name

    def _add(
        self,
        name: str,
        sizes: tuple[int, int],
        parts: Sequence[Part],
        scale: float,
        mask: Mask,
        dtype: torch.dtype,
    ) -> None:
        """Add a layer with sentences on its tokens, masks and precision."""
        layer = Layer(name, sizes, parts[0], parts[1], parts[2], scale, mask, self.inputs, ())
        reason = ""
        if self.inputs and not is_explained(layer):
            layer = replace(layer, inputs=False)
            reason = ": queries and keys are not linear in inputs of the layer, as far as was seen"
        self.layers.append(replace(layer, notes=(*_notes(layer, reason, dtype), *mask.notes())))
        for kept in layer.kept():
            self._kept[place(kept.tensor)].append(kept)


def _ensure_tokens(name: str, have_tokens: bool) -> None:
    if not have_tokens:
        raise DataError(
            f"{name} has a key that belongs to no token",
            remedy="Build it without add_bias_kv and add_zero_attn, or choose other layers.",
        )


def _drop_earlier(products: deque[Product], *made: Projection | None) -> None:
    """Drop products recorded before those of queries and keys, so that their memory is freed."""
    used = {place(one.weight.tensor) for one in made if one is not None}
    while used and products and place(products[0].weight) not in used:
        products.popleft()


def _views(
    products: Sequence[Product],
    parts: tuple[Tensor, Tensor, Tensor],
    heads: int | None,
    keys: Projection | None,
) -> tuple[Tensor | None, Tensor | None]:
    """Return keys and values as views of the product that holds the queries as well.

    The queries keep this product in memory anyway. So copies of its parts, such as those in a
    cache, need not be kept. The result is None for keys or values that are no such copy.
    """
    query, key, value = (place(part) for part in parts)
    made = [None if key == query else keys, None]
    if value != query:
        same = [product for product in products if place(product.y) == query]
        made[1] = trace(parts[2], heads, same, turns=False)
    outputs = (None if one is None else one.outputs for one in made)
    first, second = (x if x is not None and place(x) == query else None for x in outputs)
    return first, second


def _part(
    part: Tensor,
    projection: Projection | None,
    view: Tensor | None,
    lead: Sequence[int],
    sizes: tuple[int, int],
) -> Part:
    """Return queries, keys or values with axes of sequences and heads, as a view if it fits."""
    B, H = sizes
    whole = part.expand(*lead[:-1], *part.shape[-3:]) if part.ndim > 3 else part
    whole = whole.reshape(B, -1, *part.shape[-2:])
    if view is not None and view.shape == whole.shape:
        whole = view.to(part.dtype)
    return Part(Kept.of(whole), projection, H // whole.shape[1])


def _terms(
    hidden: Sequence[Hidden], lead: Sequence[int], sizes: tuple[int, int]
) -> tuple[Term, ...]:
    """Return the terms of a mask; a joint axis of sequences and heads is split into two."""
    terms = []
    for tensor, hides in hidden:
        if tensor.ndim > 2 and len(lead) != 2:
            tensor = tensor.expand(*lead, *tensor.shape[-2:]).reshape(*sizes, *tensor.shape[-2:])
        terms.append(Term.of(tensor, hides=hides))
    return tuple(terms)


def left_out_notes(names: Sequence[str | None]) -> tuple[str, ...]:
    """Return a sentence on attentions that were left out, with their number and names."""
    if not names:
        return ()
    each = dict.fromkeys(name or "one without a name" for name in names)
    return (
        f"{counted(len(names), 'attention')} left out, of which the logits are not scaled products "
        f"with a mask: {', '.join(each)}",
    )


def _projections(
    inputs: Sequence[Tensor],
    separate: Sequence[Tensor | None],
    weights: Tensor | None,
    biases: Tensor | None,
    heads: int,
) -> list[Part]:
    """Return queries, keys and values of a multi-head attention.

    Their numbers are computed only for half precision, in which rounding may change selections.
    """
    E, made = inputs[0].shape[-1], []
    for i, (x, own) in enumerate(zip(inputs, separate, strict=True)):
        third = slice(i * E, (i + 1) * E)
        weight = present(own, "a weight") if weights is None else weights[third]
        bias = None if biases is None else Kept.of(biases[third])
        columns = torch.arange(E, device=x.device).reshape(heads, -1)
        by_sequence = x.transpose(0, 1) if x.ndim > 2 else x[None]
        held = None
        if _computed(x) in _HALF:
            numbers = torch.nn.functional.linear(
                by_sequence, weight, None if biases is None else biases[third]
            )
            held = Kept.of(numbers.reshape(*numbers.shape[:2], heads, -1).transpose(1, 2))
        made.append(Part(held, Projection(Kept.of(by_sequence), Kept.of(weight), bias, columns)))
    return made


_HALF = (torch.float16, torch.bfloat16)


def _computed(x: Tensor) -> torch.dtype:
    """Return the dtype in which products of a tensor are computed."""
    kind = x.device.type
    if x.dtype == torch.float32 and torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return x.dtype


def _notes(layer: Layer, reason: str, dtype: torch.dtype) -> list[str]:
    """Return sentences on the tokens and the precision of a layer."""
    notes = ["tokens are the inputs of the layer"]
    if not layer.inputs:
        notes = [f"tokens are the keys, so that W is a multiple of the identity{reason}"]
    elif layer.turned:
        notes.append(
            "queries or keys keep the norms of their projections but not the directions, as rotary "
            "positions do: no single W is compared (at_distance takes one)"
        )
    if dtype in _HALF:
        notes.append(f"computed in {str(dtype).removeprefix('torch.')}")
    return notes
