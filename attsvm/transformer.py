"""Attention heads as data: the tokens and queries of each, and its Att-SVM.

A query is an input; the tokens that its mask shows are the tokens of that input. The logits of a
head are x^T W z. `Head.compare` compares W with the Att-SVM that selects the tokens to which the
head attends most. `attsvm.capturing` reads heads from PyTorch modules.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from attsvm._files import write_whole
from attsvm._types import Array, Bool, Float, Int, JsonObject
from attsvm._validate import ensure_array
from attsvm._words import counted
from attsvm.attention import logits_of_w, softmax
from attsvm.data import HEAD_KEYS, AttentionData, read_arrays, without_padding
from attsvm.errors import DataError, UsageError
from attsvm.svm.certified import finite
from attsvm.svm.frobenius import FrobeniusAnswer, solve_programme
from attsvm.svm.geometry import margins
from attsvm.svm.nuclear import NuclearAnswer, solve_nuclear
from attsvm.svm.programme import att_svm_programme


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A head on n queries over up to T tokens.

    Attributes:
        name: the attention of the module, in the order of computation, and the head in it.
        X: tokens; with a last coordinate 1 if the projections have biases.
        Z: queries, likewise.
        W: the logits are x^T W z: W_K^T W_Q over the root of the head's dimension. For a plain
            scaled dot product, whose tokens are its keys, a multiple of the identity.
        mask: the tokens that each query sees.
        values: the averaged vectors, one per token.
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
        """The token of largest weight of each query; the first one on a tie."""
        index: Array = self.weights.argmax(axis=1).astype(np.int64)
        return index

    @property
    def entropy(self) -> Float[Array, " n"]:
        """Entropy of the weights of each query, in nats: 0 if one token has all the weight."""
        logs = np.log(np.where(self.weights > 0.0, self.weights, 1.0))
        nats: Array = -(self.weights * logs).sum(axis=1)
        return np.maximum(nats, 0.0)

    @property
    def data(self) -> AttentionData:
        """The queries as a data set with the weights as scores: selected tokens are optimal.

        Copies of a selected token, which no W can distinguish from it, are masked.
        """
        rows = np.arange(len(self.Z))
        copies = (self.X[rows, self.selected][:, None] == self.X).all(axis=2)
        copies[rows, self.selected] = False
        return AttentionData(self.X, self.Z, scores=self.weights, mask=self.mask & ~copies)

    @property
    def prices(self) -> Float[Array, "n T"]:
        """The relative change of the head's output if one token alone is dropped.

        It is infinite if the token has all the weight, and NaN if the query does not see it.
        """
        output = (self.weights[:, None, :] @ self.values)[:, 0]
        away = np.linalg.norm(self.values - output[:, None], axis=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(self.weights < 1.0, self.weights / (1.0 - self.weights), np.inf)
            moved = np.where(away > 0.0, odds * away, 0.0)
            relative: Array = moved / np.linalg.norm(output, axis=1)[:, None]
        return np.where(self.mask, relative, np.nan)

    def compare(
        self,
        norm: Literal["fro", "nuc"] = "fro",
        answer: FrobeniusAnswer | NuclearAnswer | None = None,
    ) -> Comparison:
        """Compare W with the Att-SVM that selects the same tokens.

        Args:
            norm: the norm that the Att-SVM minimises: the Frobenius norm, which descent on W
                favours, or the nuclear norm, which descent on (K, Q) favours.
            answer: the answer of that Att-SVM, if known; otherwise it is solved.

        Raises:
            SolverError: no method reached a proof to 1e-9.
            UsageError: an unknown norm.
        """
        if norm not in ("fro", "nuc"):
            raise UsageError("no such norm", value=norm, remedy="Use fro or nuc.")
        if answer is None:
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


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A comparison of a head with the Att-SVM that selects the same tokens.

    Attributes:
        head: the head.
        answer: the Att-SVM with the head's selected tokens as targets. It is solvable, as the
            head's own W gives them positive margins, unless two tokens have the same logit.
        margins: margins of the head's W by query and token, infinite for tokens without a
            constraint.
        active: the part of W on which the margins depend: the matrix of least Frobenius norm with
            the same margins.
    """

    head: Head
    answer: FrobeniusAnswer | NuclearAnswer
    margins: Float[Array, "n T"]
    active: Float[Array, "d d"]

    @property
    def margin(self) -> float:
        """The smallest margin of W, divided by the norm of the active part of W.

        The norm is that which the Att-SVM minimises. Without constraints it is infinite.
        """
        size = np.linalg.norm(self.active, self._order)
        return float(self.margins.min() / size) if size > 0.0 else math.inf

    @property
    def best_margin(self) -> float:
        """The smallest margin of the Att-SVM scaled to norm 1: no W of norm 1 has a larger one."""
        return 1.0 / self.answer.value if self.answer.value > 0.0 else math.inf

    @property
    def cosine(self) -> float:
        """Cosine of the active part of W and the Att-SVM; NaN if either is 0 or does not exist."""
        sizes = np.linalg.norm(self.active) * np.linalg.norm(self.answer.W)
        return float((self.active * self.answer.W).sum() / sizes) if sizes > 0.0 else math.nan

    @property
    def residual(self) -> float:
        """Distance of the active part of W and the Att-SVM, both scaled to Frobenius norm 1.

        It is NaN if either is 0 or does not exist.
        """
        sizes = np.linalg.norm(self.active), np.linalg.norm(self.answer.W)
        if min(sizes) == 0.0:
            return math.nan
        return float(np.linalg.norm(self.active / sizes[0] - self.answer.W / sizes[1]))

    @property
    def needed(self) -> Bool[Array, "n T"]:
        """Tokens on which the Att-SVM depends: selected ones, their copies, and support tokens."""
        head = self.head
        kept = head.mask & ~head.data.present
        kept[np.arange(len(kept)), head.selected] = True
        for i, tokens in enumerate(self.answer.support):
            kept[i, list(tokens)] = True
        return kept

    @property
    def droppable(self) -> Bool[Array, "n T"]:
        """The visible tokens that are not needed: without them the Att-SVM is the same."""
        return self.head.mask & ~self.needed

    @property
    def price(self) -> Float[Array, " n"]:
        """The relative change of each output if all droppable tokens are dropped.

        The softmax is recomputed over the remaining tokens.
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

    def json(self) -> JsonObject:
        """Return the figures as in `attsvm solve --json`; infinite and NaN ones are null."""
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
        plain: JsonObject = finite(document)
        return plain

    @property
    def _order(self) -> Literal["fro", "nuc"]:
        return "nuc" if isinstance(self.answer, NuclearAnswer) else "fro"

    def facts(self) -> Mapping[str, str]:
        """Return the figures of the comparison by name."""
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


def read_head(path: str | os.PathLike[str]) -> tuple[AttentionData, Head | None]:
    """Read a data file, which may also have the W of a head and the values that the head averages.

    If the file has no values, the head averages the tokens. If the file has neither scores nor
    labels, the data are those of the head: the tokens to which it attends most are optimal.

    Returns:
        The data, and the head if the file has W.

    Raises:
        FileError: as `AttentionData.load`.
        DataError: the arrays are not a data set, or W, values or logits are not finite or do not
            fit.
    """
    arrays = read_arrays(path, HEAD_KEYS)
    W, values = arrays.pop("W", None), arrays.pop("values", None)
    if W is None:
        if values is not None:
            raise DataError("the file has values but no W of a head", remedy="Give W as well.")
        return AttentionData(**arrays), None
    scored = bool({"y", "v", "scores"} & arrays.keys())
    data = AttentionData(
        **({} if scored else {"scores": np.zeros(arrays["X"].shape[:2])}), **arrays
    )
    W = ensure_array("W", W, ("d", "e"), {"d": data.d, "e": data.d})
    mask, sizes = data.present, {"n": data.n, "T": data.T}
    inputs = data.X if values is None else without_padding(values, data.mask)
    averaged = ensure_array("values", inputs, ("n", "T", "v"), sizes)
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


def _active(data: AttentionData, targets: Array, reached: Array) -> Array:
    """Return the W of least Frobenius norm with these margins.

    It lies in the span of (x_target - x_t) z^T over all constraints.
    """
    inputs, tokens = np.nonzero(np.isfinite(reached))
    if not inputs.size:
        return np.zeros((data.d, data.d))
    D = data.X[inputs, targets[inputs]] - data.X[inputs, tokens]
    rows = np.einsum("md,me->mde", D, data.Z[inputs]).reshape(len(D), -1)
    result: Array = np.linalg.lstsq(rows, reached[inputs, tokens], rcond=1e-10)[0]
    return result.reshape(data.d, data.d)
