"""References to tensors of a module, read as float64 arrays when they are needed."""

from dataclasses import dataclass
from typing import Self

from attsvm._types import Array, Tensor
from attsvm.errors import DataError, present


@dataclass(slots=True, eq=False)
class Kept:
    """A tensor that a module computed with.

    It is copied only in inference mode, or when the module is about to overwrite it.

    Attributes:
        tensor: the tensor.
        version: its version when it was captured, which changes if it is overwritten.
    """

    tensor: Tensor
    version: int

    @classmethod
    def of(cls, tensor: Tensor) -> Self:
        """Return a reference to a tensor as it is now."""
        tensor = tensor.clone() if tensor.is_inference() else tensor.detach()
        return cls(tensor, version(tensor))

    def copy(self) -> None:
        """Keep a copy of a tensor about to be overwritten, unless it already was overwritten."""
        if version(self.tensor) == self.version:
            self.tensor = self.tensor.clone()
            self.version = version(self.tensor)

    def array(self, *index: int | Tensor) -> Array:
        """Return a part of the tensor as a float64 array; truth values stay what they are.

        Raises:
            DataError: the tensor was overwritten since it was captured.
        """
        if version(self.tensor) != self.version:
            raise DataError(
                "a tensor was overwritten since it was captured, as training does with weights",
                value=f"shape {tuple(self.tensor.shape)}",
                remedy="Use heads before the module is trained on, or save them; capture again.",
            )
        part = self.tensor[index].cpu()
        numbers: Array = (part.double() if part.is_floating_point() else part).numpy()
        return numbers


def place(tensor: Tensor) -> int:
    """Return the address of the storage of a tensor; 0 if it has none, as sparse tensors."""
    try:
        return tensor.untyped_storage().data_ptr()
    except RuntimeError:
        return 0


def version(tensor: Tensor) -> int:
    """Return the version of a tensor, which changes if it is overwritten; 0 in inference mode."""
    return 0 if tensor.is_inference() else tensor._version


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """The linear map that made the queries, keys or values of a layer from its inputs.

    Head h of a token x is factor * (weight[columns[h]] x + bias[columns[h]]).

    Attributes:
        x: the inputs of the layer (B, T, d).
        weight: all rows (F, d) of the product.
        bias: the bias (F,), if there is one.
        columns: the rows of each head (H, e).
        factor: the factor that multiplies the product.
        turned: whether a map that keeps norms, such as a rotation, changed the outputs.
        outputs: a view (B, H, T, e) of the product, if attention got these numbers or a copy.
    """

    x: Kept
    weight: Kept
    bias: Kept | None
    columns: Tensor
    factor: float = 1.0
    turned: bool = False
    outputs: Tensor | None = None

    def inputs(self, sequence: int) -> Array:
        """Return the inputs (T, d) of a sequence."""
        return self.x.array(sequence)

    def rows(self, head: int) -> Array:
        """Return the weights (e, d) of a head."""
        rows: Array = self.factor * self.weight.array(self.columns[head])
        return rows

    def shift(self, head: int) -> Array | None:
        """Return the bias (e,) of a head, if there is one."""
        if self.bias is None:
            return None
        shift: Array = self.factor * self.bias.array(self.columns[head])
        return shift

    def of(self, inputs: Array, head: int) -> Array:
        """Return the outputs (T, e) of a head for these inputs (T, d)."""
        outputs: Array = inputs @ self.rows(head).T
        shift = self.shift(head)
        return outputs if shift is None else outputs + shift


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The queries, keys or values of all heads of a layer.

    Attributes:
        held: the numbers (B, H, T, e) that attention got; None if they are outputs of `projection`.
        projection: how they were made, if that is known.
        group: the number of heads of queries that share a head of these.
    """

    held: Kept | None
    projection: Projection | None
    group: int = 1

    def array(self, sequence: int, head: int, *, exact: bool = False) -> Array:
        """Return the numbers (T, e) of a head; if `exact`, its projection computed in float64."""
        if self.held is not None and not exact:
            return self.held.array(sequence, head // self.group)
        projection = present(self.projection, "the projection of numbers that are not held")
        return projection.of(projection.inputs(sequence), head // self.group)

    def samples(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Return the numbers (H, R, e) of some tokens of the first sequence, held and projected.

        Heads of queries that share one of these heads get copies of it.
        """
        held, projection = present(self.held, "numbers"), present(self.projection, "a projection")
        got, x = held.tensor[0][:, places], projection.x.tensor[0][places]
        (H, e), R = projection.columns.shape, len(places)
        chosen = projection.columns.flatten()
        made = _wide(x) @ _wide(projection.weight.tensor[chosen]).T
        if projection.bias is not None:
            made = made + _wide(projection.bias.tensor[chosen])
        made = projection.factor * made.reshape(R, H, e).transpose(0, 1)
        got, made = (a.repeat_interleave(self.group, dim=0) for a in (_wide(got), made))
        return got, made


def _wide(tensor: Tensor) -> Tensor:
    """Return a tensor in float32 at least."""
    return tensor if tensor.element_size() >= 4 else tensor.float()
