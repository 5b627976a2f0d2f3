"""Constraints of the whole family: one row for each token that competes with a selected one.

Every programme of the sources minimises a norm of W under linear constraints on m_j = D_j^T W z_j.
They differ in the rows, in the bounds, and in which rows are equalities:

  Att-SVM, Local-SVM   x_target - x_t, query z_i           m_j >= 1
  p-SVM                k_target - k_t, z = 1               m_j >= 1
  v-SVM                y_i x_target, z = 1                 m_j >= 1
  joint p-SVM          as the p-SVM                        m_j >= 1, or 0 off the support of v
  Gen-SVM              x_selected - x_t, query z_i         m_j >= 1, or = 0 within the selection
  W_fin                x_selected - x_t within selections  m_j = log ratio of probabilities
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from attsvm._types import Array, Bool, Float, Int, Shaped
from attsvm._validate import ensure_array, ensure_mask
from attsvm._words import counted
from attsvm.data import AttentionData
from attsvm.errors import DataError, present
from attsvm.tokens import target_tokens

Tokens = tuple[tuple[int, ...], ...]
"""Some tokens of each input."""


@dataclass(frozen=True, slots=True, eq=False)
class Programme:
    """min ||W|| subject to D_j^T W z_j >= bound_j, with = in the rows marked by `equal`.

    Attributes:
        name: the name of the programme in the family.
        D: left factor of A_j = D_j z_j^T, one row per constraint: (kept - rival), through `keys`.
        Z: right factor, the query of each constraint; 1 if the unknown is a vector.
        bound: the required margin.
        equal: whether the margin must equal its bound.
        input: the input that a constraint belongs to.
        token: the token that it compares with the target.
        targets: the token that each input selects, or the reference among several.
        shape: (n, T) of the data.
        kept, rival: the tokens whose difference is D, up to rounding; exact evaluation uses them.
        keys: the matrix that maps tokens to keys, if it is not the identity.
    """

    name: str
    D: Float[Array, "m d"]
    Z: Float[Array, "m e"]
    bound: Float[Array, " m"]
    equal: Bool[Array, " m"]
    input: Int[Array, " m"]
    token: Int[Array, " m"]
    targets: Int[Array, " n"]
    shape: tuple[int, int]
    kept: Float[Array, "m k"]
    rival: Float[Array, "m k"]
    keys: Float[Array, "d k"] | None = None

    def __repr__(self) -> str:
        """Return a summary in one line."""
        return f"<{self.name} programme of {self.sizes}: {counted(len(self.bound), 'constraint')}>"

    @property
    def gram(self) -> Float[Array, "m m"]:
        """Inner products <A_j, A_k> of the constraint matrices A_j = D_j z_j^T."""
        gram: Array = (self.D @ self.D.T) * (self.Z @ self.Z.T)
        return gram

    @property
    def entries(self) -> int:
        """Number of entries of all rows."""
        return int(self.D.size + self.Z.size)

    @property
    def sides(self) -> tuple[int, int]:
        """Numbers of rows and of columns of W."""
        return self.D.shape[1], self.Z.shape[1]

    @property
    def norms(self) -> Float[Array, " m"]:
        """Frobenius norms of the constraint matrices."""
        norms: Array = np.linalg.norm(self.D, axis=1) * np.linalg.norm(self.Z, axis=1)
        return norms

    @property
    def duplicates(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Groups of (input, token) with equal constraints."""
        sides = np.hstack([self.D, self.Z, self.bound[:, None], self.equal[:, None]])
        groups: dict[bytes, list[tuple[int, int]]] = {}
        for row, i, t in zip(sides + 0.0, self.input, self.token, strict=True):
            groups.setdefault(row.tobytes(), []).append((int(i), int(t)))
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    @property
    def is_vector(self) -> bool:
        """Whether the unknown is a vector (p or v), written as a matrix of one column."""
        return self.Z.shape[1] == 1 and not (self.Z != 1.0).any()

    def margins(self, W: Float[Array, "d e"]) -> Float[Array, " m"]:
        """Return the margins <A_j, W> = D_j^T W z_j."""
        margins: Array = ((self.D @ W) * self.Z).sum(axis=1)
        return margins

    def combine(self, weights: Float[Array, " m"]) -> Float[Array, "d e"]:
        """Return the matrix sum_j weights_j A_j."""
        return (self.D * weights[:, None]).T @ self.Z

    def table(self, values: Array, fill: float | bool) -> Shaped[Array, "n T"]:
        """Return one value per constraint in a table by input and token, with `fill` elsewhere."""
        table = np.full(self.shape, fill)
        table[self.input, self.token] = values
        return table

    def by_input(self, chosen: Bool[Array, " m"]) -> Tokens:
        """Return the tokens of the chosen constraints, input by input."""
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in self.table(chosen, False))

    @property
    def sizes(self) -> str:
        """The numbers of inputs and tokens, in words."""
        return f"{counted(self.shape[0], 'input')}, {counted(self.shape[1], 'token')}"


def att_svm_programme(data: AttentionData, targets: object = None) -> Programme:
    """Return the Att-SVM, or the Local-SVM if `targets` are not the optimal tokens.

    Raises:
        TiedTokensError: no targets are given and the optimal tokens are not unique.
        DataError: `data` is no AttentionData; targets are out of range; no input has two tokens,
            so that there are no constraints; or differences of entries overflow.
    """
    if not isinstance(data, AttentionData):
        raise DataError(
            "an Att-SVM is solved for an AttentionData",
            value=type(data).__name__,
            remedy="Write AttentionData(X, Z, scores=...), with tokens X and queries Z.",
        )
    chosen = target_tokens(data, targets)
    rivals = data.present.copy()
    rivals[np.arange(data.n), chosen] = False
    if 2 * data.d * int(rivals.sum()) > LARGEST_LISTED:
        return Unlisted(data, chosen)
    return _select("Att-SVM", data, chosen, data.Z, None)


def listed(
    sides: tuple[Array, Array, Array],
    queries: Array,
    tokens: Array,
    targets: Array,
    shape: tuple[int, int],
) -> Programme:
    """Return the Att-SVM of some constraints: tokens kept, rivals and queries, row by row."""
    (kept, rival, Z), m = sides, len(queries)
    return Programme(
        name="Att-SVM",
        D=kept - rival,
        Z=Z,
        bound=np.ones(m),
        equal=np.zeros(m, dtype=np.bool_),
        input=queries,
        token=tokens,
        targets=targets,
        shape=shape,
        kept=kept,
        rival=rival,
    )


def p_svm_programme(
    data: AttentionData, targets: object = None, W: Float[Array, "k d"] | None = None
) -> Programme:
    """Return the p-SVM over the keys k_it = W x_it, W the identity by default.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`; W has another shape.
    """
    chosen = target_tokens(data, targets)
    keys = None if W is None else ensure_array("W", W, ("k", "d"), {"d": data.d})
    return _select("p-SVM", data, chosen, np.ones((data.n, 1)), keys)


def v_svm_programme(data: AttentionData, targets: object = None) -> Programme:
    """Return the v-SVM: y_i v^T x_target >= 1 for every input.

    Raises:
        TiedTokensError, DataError: as `att_svm_programme`; data without labels.
    """
    if data.y is None:
        raise DataError(
            "the v-SVM separates labels, but the data have scores instead",
            remedy="Give labels y and a head v.",
        )
    chosen = target_tokens(data, targets)
    n = data.n
    D = data.y[:, None] * data.X[np.arange(n), chosen]
    result = D, np.ones((n, 1)), D, np.zeros_like(D), np.arange(n), chosen
    return _made("v-SVM", data, chosen, result, None)


def joint_programme(
    data: AttentionData,
    supporting: Bool[Array, " n"],
    targets: object = None,
    W: Float[Array, "k d"] | None = None,
) -> Programme:
    """Return the p-SVM with margin 0 in place of 1 for inputs that do not support v.

    Args:
        data: tokens with labels.
        supporting: True for the inputs that are support vectors of the v-SVM.
        targets: tokens to select, by default the optimal ones.
        W: the matrix that maps tokens to keys, by default the identity.

    Raises:
        TiedTokensError, DataError: as `p_svm_programme`; `supporting` is not one bool per input.
    """
    plain = p_svm_programme(data, targets, W)
    flags = np.asarray(supporting)
    if flags.dtype != np.bool_ or flags.shape != (data.n,):
        raise DataError(
            f"supporting must be {data.n} booleans, one per input",
            value=supporting,
            remedy="For every input, give whether it is a support vector of the v-SVM.",
        )
    bound = np.where(flags[plain.input], 1.0, 0.0)
    return replace(plain, name="joint p-SVM", bound=bound)


def generalised_programme(data: AttentionData, selected: Bool[Array, "n T"]) -> Programme:
    """Return the Gen-SVM: equal logits within each selection, margins to the rest.

    One selected token per input is the reference of all others; constraints between other pairs
    follow from these.

    Raises:
        DataError: `selected` is not one bool per token, selects nothing in an input or an absent
            token, or there are no constraints.
    """
    chosen, within = _selection(data, selected)
    plain = _select("Gen-SVM", data, chosen, data.Z, None)
    equal = within[plain.input, plain.token]
    return replace(plain, name="Gen-SVM", bound=np.where(equal, 0.0, 1.0), equal=equal)


def finite_part_programme(
    data: AttentionData,
    selected: Bool[Array, "n T"],
    probabilities: Float[Array, "n T"],
) -> Programme:
    """Return W_fin: least norm, logits that give the selected tokens these ratios of probabilities.

    Args:
        data: tokens and queries.
        selected: True for the tokens that keep weight.
        probabilities: softmax probabilities; only ratios within each selection matter.

    Raises:
        DataError: as `generalised_programme`; a selected token has no positive probability; no
            input selects two tokens.
    """
    chosen, within = _selection(data, selected)
    p = ensure_array("probabilities", probabilities, ("n", "T"), {"n": data.n, "T": data.T})
    if (p[within] <= 0.0).any():
        raise DataError(
            "a selected token has no positive probability",
            value=float(p[within].min()),
            remedy="Select only tokens that keep weight.",
        )
    plain = _select("W_fin", data, chosen, data.Z, None)
    keep = within[plain.input, plain.token]
    if not keep.any():
        raise DataError(
            "every input selects a single token, so the finite part has nothing to balance",
            remedy="Select two tokens of some input.",
        )
    logs = np.log(np.where(within, p, 1.0))
    bound = logs[plain.input, chosen[plain.input]] - logs[plain.input, plain.token]
    part = replace(plain, bound=bound, equal=np.ones_like(keep))
    return subset(part, keep)


def subset(programme: Programme, keep: Bool[Array, " m"]) -> Programme:
    """Return the programme with only the rows for which `keep` is True."""
    by_row = ("D", "Z", "bound", "equal", "input", "token", "kept", "rival")
    return changed(programme, **{name: getattr(programme, name)[keep] for name in by_row})


def changed(programme: Programme, **parts: Array) -> Programme:
    """Return a programme with some parts replaced, and with all rows written out."""
    every = {field.name: getattr(programme, field.name) for field in fields(Programme)}
    return Programme(**every | parts)


def _selection(data: AttentionData, selected: object) -> tuple[Array, Array]:
    """Return the first selected token of each input, and the mask of the selected tokens."""
    within = ensure_mask("selected", selected, ("n", "T"), {"n": data.n, "T": data.T})
    absent = np.argwhere(within & ~data.present)
    if absent.size:
        raise DataError(
            "selected names a token that the mask removes",
            value=absent[0].tolist(),
            remedy="Choose tokens that are present.",
        )
    return within.argmax(axis=1).astype(np.int64), within


def _select(
    name: str, data: AttentionData, chosen: Array, queries: Array, keys: Array | None
) -> Programme:
    result = _differences(data, chosen, queries)
    if len(result[0]) == 0:
        raise DataError(
            "every input has a single token, so there is nothing to separate",
            value=f"T = {data.T}",
            remedy="Give at least one input with two tokens.",
        )
    if keys is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            result = result[0] @ keys.T, *result[1:]
    return _made(name, data, chosen, result, keys)


_Rows = tuple[Array, Array, Array, Array, Array, Array]


def _differences(data: AttentionData, chosen: Array, queries: Array) -> _Rows:
    """Return the rows of all tokens but the chosen ones, as `attsvm.kernels.least_norm.rows` does.

    It uses numpy, so that a programme can be built without compiling.
    """
    rivals = data.present.copy()
    rivals[np.arange(data.n), chosen] = False
    inputs, tokens = rivals.nonzero()
    kept, rival = data.X[inputs, chosen[inputs]], data.X[inputs, tokens]
    with np.errstate(over="ignore"):
        return kept - rival, queries[inputs], kept, rival, inputs, tokens


class Unlisted(Programme):
    """The Att-SVM of a large data set, whose rows are written out only if a method needs them.

    Attributes:
        data: tokens and queries.
    """

    __slots__ = ("_rows", "data")
    data: AttentionData
    _rows: _Rows | None

    def __init__(self, data: AttentionData, chosen: Int[Array, " n"]) -> None:
        rivals = data.present.copy()
        rivals[np.arange(data.n), chosen] = False
        inputs, tokens = rivals.nonzero()
        parts = {
            "name": "Att-SVM",
            "bound": np.ones(len(inputs)),
            "equal": np.zeros(len(inputs), dtype=np.bool_),
            "input": inputs,
            "token": tokens,
            "targets": chosen,
            "shape": rivals.shape,
            "keys": None,
            "data": data,
            "_rows": None,
        }
        for name, value in parts.items():
            object.__setattr__(self, name, value)
        sizes = [row_sizes(D, data.Z[i : i + 1]) for i, D in self._differences()]
        largest, smallest = (np.array(ends) for ends in zip(*sizes, strict=True))
        kept = data.X[np.arange(data.n), chosen]
        _ensure_finite(float(largest.max()), float(smallest.min()), kept)

    def __reduce__(self) -> tuple[type, tuple[AttentionData, Array]]:
        """Copy by data and targets."""
        return type(self), (self.data, self.targets)

    def _differences(self) -> Iterator[tuple[int, Array]]:
        """Yield each input with its rows, written out for this input alone."""
        ends = np.searchsorted(self.input, np.arange(self.shape[0] + 1))
        for i in np.flatnonzero(np.diff(ends)).tolist():
            X = self.data.X[i]
            with np.errstate(over="ignore"):
                yield i, X[self.targets[i]] - X[self.token[ends[i] : ends[i + 1]]]

    def _written(self) -> _Rows:
        """Return the rows, which are kept from then on."""
        if self._rows is None:
            object.__setattr__(self, "_rows", _differences(self.data, self.targets, self.data.Z))
        return present(self._rows, "the rows")

    @property
    def D(self) -> Float[Array, "m d"]:
        """Left factors."""
        return self._written()[0]

    @property
    def Z(self) -> Float[Array, "m e"]:
        """Right factors."""
        return self._written()[1]

    @property
    def kept(self) -> Float[Array, "m k"]:
        """Targets, row by row."""
        return self._written()[2]

    @property
    def rival(self) -> Float[Array, "m k"]:
        """Their rivals."""
        return self._written()[3]

    @property
    def entries(self) -> int:
        """Number of entries of all rows."""
        return 2 * self.data.d * len(self.bound)

    @property
    def sides(self) -> tuple[int, int]:
        """Numbers of rows and of columns of W."""
        return self.data.d, self.data.d

    def margins(self, W: Float[Array, "d e"]) -> Float[Array, " m"]:
        """Return the margins D_j^T W z_j."""
        return np.concatenate([D @ (W @ self.data.Z[i]) for i, D in self._differences()])

    def combine(self, weights: Float[Array, " m"]) -> Float[Array, "d e"]:
        """Return the matrix sum_j weights_j A_j."""
        sums, start = np.zeros((self.shape[0], self.data.d)), 0
        for i, D in self._differences():
            sums[i] = weights[start : start + len(D)] @ D
            start += len(D)
        combined: Array = sums.T @ self.data.Z
        return combined

    @property
    def is_vector(self) -> bool:
        """Whether the unknown is a vector."""
        return self.data.d == 1 and not (self.data.Z != 1.0).any()

    @property
    def duplicates(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Groups of (input, token) with equal constraints."""
        groups: dict[bytes, list[tuple[int, int]]] = {}
        place = 0
        for i, D in self._differences():
            query = (self.data.Z[i] + 0.0).tobytes()
            for row in D + 0.0:
                key = hashlib.blake2b(row.tobytes() + query, digest_size=16).digest()
                groups.setdefault(key, []).append((i, int(self.token[place])))
                place += 1
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


LARGEST_LISTED = 400_000
"""Maximum number of entries of the rows of an Att-SVM that are written out from the start."""


def row_sizes(D: Array, Z: Array) -> tuple[float, float]:
    """Return the largest absolute entry of D and Z, and the largest entry of their smallest row.

    Zero rows are ignored for the second number. NaN in an entry makes the first one NaN.
    """
    tops = np.concatenate([np.abs(D).max(axis=1), np.abs(Z).max(axis=1)])
    return float(tops.max()), float(tops[tops > 0.0].min(initial=np.inf))


def _made(
    name: str, data: AttentionData, chosen: Array, rows: _Rows, keys: Array | None
) -> Programme:
    """Return a programme of inequalities of bound 1.

    Raises:
        DataError: entries leave the range of `_finite`.
    """
    D, Z, kept, rival, inputs, tokens = rows
    bound, equal, shape = np.ones(len(D)), np.zeros(len(D), dtype=np.bool_), data.present.shape
    return _finite(
        Programme(name, D, Z, bound, equal, inputs, tokens, chosen, shape, kept, rival, keys)
    )


LARGEST, SMALLEST = 1e140, 1e-140
"""Limits of the largest entry of each nonzero row: within them all figures stay in float64."""


def _finite(programme: Programme) -> Programme:
    """Return the programme.

    Raises:
        DataError: the largest entry of a nonzero row lies outside [SMALLEST, LARGEST].
    """
    largest, smallest = row_sizes(programme.D, programme.Z)
    _ensure_finite(largest, smallest, programme.kept)
    return programme


def _ensure_finite(largest: float, smallest: float, tokens: Array) -> None:
    """Raise unless the sizes of rows lie within the limits.

    Raises:
        DataError: one does not.
    """
    if not largest < LARGEST:
        raise DataError(
            "inner products of the constraints overflow float64",
            value=float(np.abs(tokens).max()),
            remedy="Rescale the tokens or the queries.",
        )
    if smallest < SMALLEST:
        raise DataError(
            "inner products of the constraints underflow float64",
            value=smallest,
            remedy="Rescale the tokens or the queries.",
        )
