"""Attention of PyTorch modules as data: the tokens and queries of each head, and its Att-SVM.

`capture` runs a module and takes every attention that it computes apart, head by head. A query is
an input; the tokens that its mask lets it see are the tokens of that input. The logits of a head
are x^T W z, so that the theory's W can be read off the module, and `Head.compare` holds it against
the Att-SVM that selects the tokens which the head attends to most.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from attsvm._files import write_whole
from attsvm._html import cell, table
from attsvm._types import Array, Bool, Float, Int
from attsvm._validate import ensure_array
from attsvm._words import counted
from attsvm.attention import logits_of_w, softmax
from attsvm.data import HEAD_KEYS, AttentionData, read_arrays, without_padding
from attsvm.errors import DataError, UsageError
from attsvm.svm.answer import finite
from attsvm.svm.frobenius import FrobeniusAnswer, solve_programme
from attsvm.svm.geometry import margins
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.svm.programme import att_svm_programme


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A head on n queries over up to T tokens.

    Attributes:
        name: which attention of the module, in the order of computation, and which head of it.
        X: tokens; where the projections have biases with a last coordinate 1.
        Z: queries, likewise.
        W: the logits are x^T W z: W_K^T W_Q over the root of the head's dimension; of a plain
            scaled dot product, whose tokens are its keys, a multiple of the identity.
        mask: the tokens that each query sees.
        values: what is averaged: a vector a token.
        weights: attention weights.
    """

    name: str
    X: Float[Array, "n T d"]
    Z: Float[Array, "n d"]
    W: Float[Array, "d d"]
    mask: Bool[Array, "n T"]
    values: Float[Array, "n T v"]
    weights: Float[Array, "n T"]

    @property
    def selected(self) -> Int[Array, " n"]:
        """The token of largest weight of each query, the first where several have it."""
        index: Array = self.weights.argmax(axis=1).astype(np.int64)
        return index

    @property
    def entropy(self) -> Float[Array, " n"]:
        """Entropy of the weights of each query, in nats: 0 where one token has all of it."""
        logs = np.log(np.where(self.weights > 0.0, self.weights, 1.0))
        nats: Array = -(self.weights * logs).sum(axis=1)
        return np.maximum(nats, 0.0)

    @property
    def data(self) -> AttentionData:
        """The queries as a data set whose scores are the weights: what is selected is optimal.

        Copies of a selected token, which no W tells from it, are masked.
        """
        rows = np.arange(len(self.Z))
        copies = (self.X[rows, self.selected][:, None] == self.X).all(axis=2)
        copies[rows, self.selected] = False
        return AttentionData(self.X, self.Z, scores=self.weights, mask=self.mask & ~copies)

    @property
    def prices(self) -> Float[Array, "n T"]:
        """How far the head's output moves, relative to its length, if one token alone is dropped.

        Infinite where the token has all the weight, NaN where the query does not see it.
        """
        output = (self.weights[:, None, :] @ self.values)[:, 0]
        away = np.linalg.norm(self.values - output[:, None], axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(self.weights < 1.0, self.weights / (1.0 - self.weights), np.inf)
            moved = np.where(away > 0.0, odds * away, 0.0)
            relative: Array = moved / np.linalg.norm(output, axis=1)[:, None]
        return np.where(self.mask, relative, np.nan)

    def compare(self, norm: Literal["fro", "nuc"] = "fro") -> Comparison:
        """Hold W against the Att-SVM that selects the same tokens.

        Args:
            norm: what the Att-SVM minimises: the Frobenius norm, to which descent on W is drawn,
                or the nuclear norm, to which descent on (K, Q) is.

        Raises:
            SolverError: no method reached a proof to 1e-9.
            UsageError: another norm.
        """
        if norm not in ("fro", "nuc"):
            raise UsageError("no such norm", value=norm, remedy="Use fro or nuc.")
        programme = att_svm_programme(self.data, self.selected)
        answer = solve_programme(programme) if norm == "fro" else solve_nuclear(programme)
        reached = margins(self.data, self.W, self.selected)
        return Comparison(self, answer, reached, _active(self.data, self.selected, reached))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file of X, Z, W, mask and values, for `attsvm solve` and `read_head`.

        Raises:
            FileError: the place cannot be written.
        """
        arrays = {name: getattr(self, name) for name in ("X", "Z", "W", "mask", "values")}
        write_whole(path, lambda file: np.savez(file, **arrays))

    def __repr__(self) -> str:
        n, T, d = self.X.shape
        return (
            f"<{self.name}: {counted(n, 'query').replace('querys', 'queries')}, "
            f"up to {counted(T, 'token')} in dimension {d}, mean entropy {self.entropy.mean():.4g}>"
        )

    def _repr_html_(self) -> str:
        """The selected tokens for a notebook."""
        chosen, rows = self.selected, np.arange(len(self.Z))
        facts = zip(rows, chosen, self.weights[rows, chosen], self.entropy, strict=True)
        lines = ((i, t, f"{weight:.4g}", f"{nats:.4g}") for i, t, weight, nats in facts)
        return f"<b>{cell(repr(self))}</b>{table(('query', 'selects', 'weight', 'entropy'), lines)}"


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A head beside its max-margin solution.

    Attributes:
        head: the head.
        answer: the Att-SVM with the head's selected tokens as targets. It is solvable, as the
            head's own W gives them positive margins, unless two tokens have the same logit.
        margins: of the head's W by query and token, infinite where there is nothing to compare.
        active: the part of W that these queries see: the least W with the same margins.
    """

    head: Head
    answer: FrobeniusAnswer | NuclearAnswer
    margins: Float[Array, "n T"]
    active: Float[Array, "d d"]

    @property
    def margin(self) -> float:
        """The least margin over the norm that the Att-SVM minimises, of W; infinite for none."""
        size = np.linalg.norm(self.active, self._order)
        return float(self.margins.min() / size) if size > 0.0 else math.inf

    @property
    def best_margin(self) -> float:
        """The same of the Att-SVM: no W has a larger one."""
        return 1.0 / self.answer.value if self.answer.value > 0.0 else math.inf

    @property
    def cosine(self) -> float:
        """Between what is active of W and the Att-SVM; NaN where either is 0 or does not exist."""
        sizes = np.linalg.norm(self.active) * np.linalg.norm(self.answer.W)
        return float((self.active * self.answer.W).sum() / sizes) if sizes > 0.0 else math.nan

    @property
    def residual(self) -> float:
        """The distance of the two when both are scaled to Frobenius norm 1; NaN as the cosine."""
        sizes = np.linalg.norm(self.active), np.linalg.norm(self.answer.W)
        if min(sizes) == 0.0:
            return math.nan
        return float(np.linalg.norm(self.active / sizes[0] - self.answer.W / sizes[1]))

    @property
    def needed(self) -> Bool[Array, "n T"]:
        """Selected tokens with their copies, and support tokens; the Att-SVM rests on no others."""
        head = self.head
        kept = head.mask & ~head.data.present
        kept[np.arange(len(kept)), head.selected] = True
        for i, tokens in enumerate(self.answer.support):
            kept[i, list(tokens)] = True
        return kept

    @property
    def droppable(self) -> Bool[Array, "n T"]:
        """The other tokens: without them the Att-SVM is the same."""
        return self.head.mask & ~self.needed

    @property
    def price(self) -> Float[Array, " n"]:
        """How far each output moves, relative to its length, if all droppable tokens are dropped.

        The softmax is taken anew over the tokens that are left.
        """
        head = self.head
        kept = np.where(self.needed, head.weights, 0.0)
        kept = kept / kept.sum(axis=1, keepdims=True)
        whole, less = ((w[:, None, :] @ head.values)[:, 0] for w in (head.weights, kept))
        moved = np.linalg.norm(whole - less, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative: Array = np.where(moved > 0.0, moved / np.linalg.norm(whole, axis=1), 0.0)
        return relative

    @property
    def cheapest(self) -> list[tuple[int, int, float]]:
        """Query, index and price of each droppable token if it alone is dropped, cheapest first."""
        prices = np.where(self.droppable, self.head.prices, np.inf)
        order = np.argsort(prices, axis=None, kind="stable")[: int(self.droppable.sum())]
        places = zip(*np.unravel_index(order, prices.shape), strict=True)
        return [(int(i), int(t), float(prices[i, t])) for i, t in places]

    def json(self) -> dict[str, Any]:
        """The figures as `solve --json` has them, null where there is none."""
        document = {
            "selected": self.head.selected.tolist(),
            "margins": self.margins.tolist(),
            "margin": self.margin,
            "best_margin": self.best_margin,
            "cosine": self.cosine,
            "residual": self.residual,
            "norm": float(np.linalg.norm(self.head.W)),
            "active_norm": float(np.linalg.norm(self.active)),
            "entropy": self.head.entropy.tolist(),
            "support": [list(tokens) for tokens in self.answer.support],
            "droppable": [{"input": i, "token": t, "price": p} for i, t, p in self.cheapest],
            "price": self.price.tolist(),
        }
        plain: dict[str, Any] = finite(document)
        return plain

    @property
    def _order(self) -> Literal["fro", "nuc"]:
        return "nuc" if isinstance(self.answer, NuclearAnswer) else "fro"

    def facts(self) -> Mapping[str, str]:
        """What a reader asks for, by name."""
        drop, seen = int(self.droppable.sum()), int(self.head.mask.sum())
        support = sum(map(len, self.answer.support))
        return {
            "Att-SVM": repr(self.answer).strip("<>"),
            "margin": f"{self.margin:.6g} of {self.best_margin:.6g} that is possible",
            "direction": f"cosine {self.cosine:.6g}, residual {self.residual:.6g}",
            "in sight": f"{np.linalg.norm(self.active):.6g} of the norm "
            f"{np.linalg.norm(self.head.W):.6g} of W acts on these queries",
            "entropy": f"{self.head.entropy.mean():.6g} on average, {self.head.entropy.max():.6g} "
            "at most",
            "support": counted(support, "support token"),
            "droppable": f"{drop} of {counted(seen, 'token')}; dropping all of them moves an "
            f"output by {self.price.max():.3g} of its length at most",
        }

    def __repr__(self) -> str:
        lines = (f"{name:<9} {value}" for name, value in self.facts().items())
        return "\n".join([self.head.name, *lines])

    def _repr_html_(self) -> str:
        """The same for a notebook, with the cheapest tokens."""
        rows = ((i, t, f"{price:.3g}") for i, t, price in self.cheapest)
        facts = table(("", ""), self.facts().items())
        cheapest = table(("query", "droppable token", "price"), rows)
        return f"<b>{cell(self.head.name)}</b>{facts}{cheapest}"


def read_head(path: str | os.PathLike[str]) -> tuple[AttentionData, Head | None]:
    """Read a data file, which may hold the W of a head, and the values that the head averages.

    Without values the tokens are averaged. Where the file has neither scores nor labels, the data
    are those of the head: the tokens that it attends to most are optimal.

    Returns:
        The data, and the head where the file has W.

    Raises:
        FileError: as `AttentionData.load`.
        DataError: the arrays make no data set, or W, values or logits are not finite or do not fit.
    """
    arrays = read_arrays(path, HEAD_KEYS)
    W, values = arrays.pop("W", None), arrays.pop("values", None)
    if W is None:
        if values is not None:
            raise DataError("values were given without the W of a head", remedy="Give W as well.")
        return AttentionData(**arrays), None
    scored = bool({"y", "v", "scores"} & arrays.keys())
    data = AttentionData(
        **({} if scored else {"scores": np.zeros(arrays["X"].shape[:2])}), **arrays
    )
    W = ensure_array("W", W, ("d", "e"), {"d": data.d, "e": data.d})
    mask, sizes = data.present, {"n": data.n, "T": data.T}
    given = data.X if values is None else without_padding(values, data.mask)
    averaged = ensure_array("values", given, ("n", "T", "v"), sizes)
    with np.errstate(over="ignore", invalid="ignore"):
        logits = logits_of_w(data.X, data.Z, W)
    if not np.isfinite(logits[mask]).all():
        raise DataError(
            "logits X W z overflow float64",
            value=float(np.abs(W).max()),
            remedy="Rescale W, the tokens X or the queries Z.",
        )
    name = f"W of {Path(path).name}"
    head = Head(name, data.X, data.Z, W, mask, averaged, softmax(logits, mask))
    return data if scored else head.data, head


def capture(module: Any, *inputs: Any, **keywords: Any) -> tuple[Head, ...]:
    """Run a module, and take apart every attention that it computes, head by head.

    Seen are `torch.nn.MultiheadAttention`, whose tokens are what it projects to keys, and calls of
    `torch.nn.functional.scaled_dot_product_attention`, whose tokens are the keys themselves.
    Weights are computed anew in double precision, without dropout. Queries that see no token are
    left out.

    Args:
        module: a module, or any function that computes with tensors.
        inputs: its arguments.
        keywords: its arguments by name.

    Raises:
        UsageError: PyTorch is missing.
        DataError: no attention was computed, or one whose logits are not those of tokens and
            queries alone: with biases added to them, or with keys that are no token's.
    """
    try:
        import torch
        from torch.overrides import TorchFunctionMode
    except ImportError as error:
        raise UsageError(
            "attention of PyTorch modules is captured with PyTorch, which is missing",
            remedy="pip install 'attsvm[reference]'",
        ) from error
    F = torch.nn.functional
    found: list[Head] = []
    several = inspect.signature(F.multi_head_attention_forward)
    plain = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")

    class Watch(TorchFunctionMode):
        """Takes down the arguments of what computes attention."""

        calls = 0

        def __torch_function__(
            self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if func is F.multi_head_attention_forward:
                bound = several.bind(*args, **kwargs)
                bound.apply_defaults()
                found.extend(_projected(bound.arguments, f"attention {self.calls}"))
                self.calls += 1
            elif func is F.scaled_dot_product_attention:
                given = dict(zip(plain, args, strict=False)) | kwargs
                found.extend(_dot_products(given, f"attention {self.calls}"))
                self.calls += 1
            return func(*args, **kwargs)

    training = getattr(module, "training", False)
    if training:
        module.eval()
    try:
        with torch.no_grad(), Watch():
            module(*inputs, **keywords)
    finally:
        if training:
            module.train()
    if not found:
        raise DataError(
            "the module computed no attention that can be captured",
            value=type(module).__name__,
            remedy="It must call torch.nn.MultiheadAttention or scaled_dot_product_attention.",
        )
    return tuple(found)


def _numbers(tensor: Any) -> Array:
    array: Array = tensor.detach().cpu().double().numpy()
    return array


def _projected(given: Mapping[str, Any], name: str) -> list[Head]:
    """The heads of a multi-head attention, whose tensors are (tokens, batch, features)."""
    if given["bias_k"] is not None or given["add_zero_attn"]:
        raise DataError(
            f"{name} has a key that belongs to no token",
            remedy="Build it without add_bias_kv and add_zero_attn.",
        )
    query, key, value = (_numbers(given[n]) for n in ("query", "key", "value"))
    if query.ndim == 2:  # no batch
        query, key, value = query[:, None], key[:, None], value[:, None]
    h, E = int(given["num_heads"]), query.shape[2]
    if given["use_separate_proj_weight"]:
        maps = [_numbers(given[f"{n}_proj_weight"]) for n in "qkv"]
    else:
        maps = np.split(_numbers(given["in_proj_weight"]), 3)
    bias = given["in_proj_bias"]
    if bias is not None:
        shifts = np.split(_numbers(bias), 3)
        maps = [np.hstack([m, b[:, None]]) for m, b in zip(maps, shifts, strict=True)]
        query, key, value = (
            np.concatenate([a, np.ones((*a.shape[:2], 1))], axis=2) for a in (query, key, value)
        )
    if query.shape[2] != key.shape[2]:
        raise DataError(
            f"{name} has queries and keys of different dimensions",
            value=(E, int(given["key"].shape[-1])),
            remedy="The theory has one dimension for both: leave kdim out.",
        )
    L, S, B = len(query), len(key), query.shape[1]
    mask = _mask(given["attn_mask"], (B, h, L, S), name, hides=True)
    padding = given["key_padding_mask"]
    if padding is not None:
        mask &= _mask(padding.reshape(B, 1, 1, S), (B, h, L, S), name, hides=True)
    heads = []
    for j, (q, k, v) in enumerate(zip(*(np.split(m, h) for m in maps), strict=True)):
        W = k.T @ q / math.sqrt(len(q))
        X, Z, V = key.swapaxes(0, 1), query.swapaxes(0, 1), (value @ v.T).swapaxes(0, 1)
        heads.append(_head(f"{name}, head {j}", X, Z, V, W, mask[:, j]))
    return heads


def _dot_products(given: Mapping[str, Any], name: str) -> list[Head]:
    """The heads of a scaled dot product, whose tensors are (..., head, tokens, features)."""
    query, key, value = (_numbers(given[n]) for n in ("query", "key", "value"))
    if given.get("enable_gqa"):
        key, value = (np.repeat(a, query.shape[-3] // a.shape[-3], axis=-3) for a in (key, value))
    shape = (*query.shape[:-1], key.shape[-2])
    mask = _mask(given.get("attn_mask"), shape, name, hides=False)
    if given.get("is_causal"):
        mask &= np.tri(*shape[-2:], dtype=np.bool_)
    scale = given.get("scale")
    W = np.eye(query.shape[-1]) * (query.shape[-1] ** -0.5 if scale is None else float(scale))
    h = shape[-3] if len(shape) > 3 else 1

    def apart(array: Array) -> Array:
        split: Array = array.reshape(-1, h, *array.shape[-2:])
        return split

    X, Z, V, seen = map(apart, (key, query, value, mask))
    return [_head(f"{name}, head {j}", X[:, j], Z[:, j], V[:, j], W, seen[:, j]) for j in range(h)]


def _mask(given: Any, shape: tuple[int, ...], name: str, *, hides: bool) -> Array:
    """The tokens that each query sees, from a mask in either of PyTorch's ways to write one."""
    if given is None:
        return np.ones(shape, dtype=np.bool_)
    array: Array = given.detach().cpu().numpy()
    if array.ndim == 3 and len(shape) == 4:  # one for each head of each batch
        array = array.reshape(shape)
    if array.dtype != np.bool_:
        odd = (array != 0.0) & (array != -np.inf)
        if odd.any():
            raise DataError(
                f"{name} adds numbers to its logits",
                value=float(array[odd][0]),
                remedy="Logits of the theory are x^T W z: a mask holds 0 and minus infinity.",
            )
        array, hides = array == 0.0, False
    seen: Array = np.broadcast_to(~array if hides else array, shape).copy()
    return seen


def _head(name: str, X: Array, Z: Array, V: Array, W: Array, mask: Array) -> Head:
    """A head from arrays (batch, ...), a query an input."""
    B, L, S = mask.shape
    tokens, values = (
        np.broadcast_to(a[:, None], (B, L, *a.shape[1:])).reshape(B * L, *a.shape[1:])
        for a in (X, V)
    )
    mask, queries = mask.reshape(-1, S), Z.reshape(-1, Z.shape[-1])
    some = mask.any(axis=1)
    if not some.any():
        raise DataError(f"no query of {name} sees a token", remedy="Look at its masks.")
    tokens, values, mask, queries = tokens[some], values[some], mask[some], queries[some]
    weights = softmax(logits_of_w(tokens, queries, W), mask)
    return Head(name, tokens, queries, W, mask, values, weights)


def _active(data: AttentionData, targets: Array, reached: Array) -> Array:
    """The least W with these margins: in the span of (x_target - x_t) z^T."""
    inputs, tokens = np.nonzero(np.isfinite(reached))
    if not inputs.size:
        return np.zeros((data.d, data.d))
    D = data.X[inputs, targets[inputs]] - data.X[inputs, tokens]
    rows = np.einsum("md,me->mde", D, data.Z[inputs]).reshape(len(D), -1)
    found: Array = np.linalg.lstsq(rows, reached[inputs, tokens], rcond=1e-10)[0]
    return found.reshape(data.d, data.d)
