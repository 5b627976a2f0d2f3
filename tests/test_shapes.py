"""Shapes in annotations are checked in this suite, and every public function has them."""

import dataclasses
import importlib
import inspect
import pkgutil
import random
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import jaxtyping
import numpy as np
import pytest
from beartype.door import is_bearable
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from jaxtyping import Bool, Float
from shape_checks import EACH, Unknown, kind, remembering, sparingly

import attsvm
import attsvm.exact
import attsvm.paths
import attsvm.plots
import attsvm.svm
import attsvm.training
from attsvm.attention import logits_of_kq, logits_of_p, logits_of_w, softmax
from attsvm.data import AttentionData
from attsvm.losses import LOG_LOSS, logistic
from attsvm.risk import covariance, gradient_p, gradient_w, normalised_gradient
from attsvm.svm import att_svm_programme
from attsvm.svm.frobenius import grade
from attsvm.training import descend_p, follow_w

DATA = AttentionData.of(np.ones((2, 3, 4)), np.ones((2, 4)), scores=np.eye(2, 3))
X, Z = DATA.X, DATA.Z


def zeros(*shape):
    return np.zeros(shape)


WRONG = {
    "softmax: mask of another length": lambda: softmax(zeros(2, 3), np.ones((2, 2), dtype=bool)),
    "softmax: integers": lambda: softmax(np.zeros((2, 3), dtype=int)),
    "softmax: a list": lambda: softmax([0.0, 1.0]),
    "logits_of_p: prompt of another dimension": lambda: logits_of_p(X, zeros(3)),
    "logits_of_p: tokens of one input": lambda: logits_of_p(X[0], zeros(4)),
    "logits_of_w: weights not square": lambda: logits_of_w(X, Z, zeros(4, 3)),
    "logits_of_w: queries of another number": lambda: logits_of_w(X, zeros(3, 4), zeros(4, 4)),
    "logits_of_kq": lambda: logits_of_kq(X, Z, zeros(4, 2), zeros(4, 3)),
    "covariance": lambda: covariance(zeros(3), zeros(4)),
    "gradient_w": lambda: gradient_w(DATA, zeros(4, 3), LOG_LOSS),
    "gradient_w: no data": lambda: gradient_w(X, zeros(4, 4), LOG_LOSS),
    "gradient_p": lambda: gradient_p(DATA, zeros(4, 1), LOG_LOSS),
    "normalised_gradient": lambda: normalised_gradient(X, Z, zeros(2, 4), zeros(4, 4), LOG_LOSS),
    "follow_w": lambda: follow_w(DATA, zeros(4), LOG_LOSS, [1.0]),
    "descend_p: step of text": lambda: descend_p([DATA], zeros(4), LOG_LOSS, step="1", steps=1),
    "logistic: a number": lambda: logistic(0.5),
    "grade": lambda: grade(att_svm_programme(DATA), zeros(2, 2), solved=True),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=list(WRONG))
def test_wrong_shapes_and_types_are_caught_before_and_after_right_ones(call):
    for _ in range(2):
        with pytest.raises(jaxtyping.TypeCheckError):
            call()
        _right_shapes_pass()


def _right_shapes_pass():
    assert logits_of_p(X, zeros(4)).shape == (2, 3)
    assert logits_of_w(X, Z, zeros(4, 4)).shape == (2, 3)
    assert gradient_w(DATA, zeros(4, 4), LOG_LOSS).shape == (4, 4)
    assert softmax(zeros(2, 3), np.ones((2, 3), dtype=bool)).shape == (2, 3)


HINTS = [
    Float[np.ndarray, "n d"],
    Float[np.ndarray, "n n"],
    Float[np.ndarray, "2 ..."],
    Bool[np.ndarray, "..."],
    Float[np.ndarray, "n d"] | None,
    tuple[float, ...],
    tuple[Float[np.ndarray, "n d"], str],
    Literal["fro", "nuc"],
    Sequence[float],
    Callable[..., float],
    float | int,
    bool,
]
VALUES = st.deferred(
    lambda: (
        st.sampled_from(["fro", "nuc", "hard", None, True, False, len, np.float64(1.0), DATA])
        | st.integers()
        | st.floats()
        | arrays(
            st.sampled_from([np.float64, np.float32, np.int64, np.bool_]),
            array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        )
        | st.tuples(VALUES, VALUES)
        | st.floats().map(lambda x: [x, x])
    )
)


@given(st.lists(VALUES, min_size=10))
def test_values_of_one_kind_fit_the_same_annotations(values):
    fits = {}
    for value in values:
        fits.setdefault(kind(value), set()).add(tuple(_fits(value, hint) for hint in HINTS))
    assert all(len(ways) == 1 for ways in fits.values())


def _fits(value, hint):
    """Looked at often, as of several items beartype looks at one, taken by chance."""
    with jaxtyping.jaxtyped("context"):
        return all(is_bearable(value, hint) for _ in range(40))


@pytest.mark.parametrize(
    "value",
    [{1: 2}, {1}, frozenset(), list(range(17)), int, [[{}]], [1, "a"], range(3), deque([1])],
)
def test_what_an_annotation_may_look_into_has_no_kind(value):
    with pytest.raises(Unknown):
        kind(value)


def test_a_result_of_another_shape_is_caught_although_the_arguments_were_seen():
    calls = []

    @remembering
    def positive(x: Float[np.ndarray, "n"]) -> Float[np.ndarray, "n"]:
        calls.append(x)
        return x if (x > 0).all() else x[x > 0]

    for _ in range(2):
        assert positive(np.ones(3)).shape == (3,)
        with pytest.raises(jaxtyping.TypeCheckError, match="return value"):
            positive(np.array([1.0, -1.0, 1.0]))
    assert len(calls) == 4


def test_sequences_of_mixed_items_are_looked_at_every_time():
    @remembering
    def total(x: Sequence[float]) -> float:
        return float(len(x))

    before, caught = random.getstate(), 0
    for _ in range(64):
        try:
            total((1.0, "a"))
        except jaxtyping.TypeCheckError:
            caught += 1
    assert caught >= 32  # every check looks at the item after the last one
    assert random.getstate() == before


def test_annotations_that_speak_of_values_are_checked_every_time():
    @remembering
    def pick(k: Literal[1, 2], x: Float[np.ndarray, "{k}"]) -> float:
        return 0.0

    assert pick(1, np.ones(1)) == pick(2, np.ones(2)) == 0.0
    for arguments in [(3, np.ones(3)), (2, np.ones(1))]:
        with pytest.raises(jaxtyping.TypeCheckError):
            pick(*arguments)


def test_arrays_of_subclasses_have_shapes_too():
    @remembering
    def trace(x: Float[np.ndarray, "n n"]) -> float:
        return 0.0

    assert trace(np.ma.zeros((2, 2))) == 0.0
    with pytest.raises(jaxtyping.TypeCheckError):
        trace(np.ma.zeros((2, 3)))


def test_functions_that_look_alike_do_not_share_what_was_seen():
    made = []
    for dims in ("m", "n n"):
        space = {"Float": Float, "np": np, "__name__": f"module {dims}"}
        exec(f"def f(x: Float[np.ndarray, ' {dims}']) -> int:\n    return 0\n", space)
        made.append(remembering(space["f"]))
    row, square = made
    assert row(np.ones(3)) == row(np.ones(3)) == 0
    with pytest.raises(jaxtyping.TypeCheckError):
        square(np.ones(3))


def test_threads_do_not_mix_their_results_up():
    @remembering
    def same(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return x

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda n: len(same(np.ones(n % 9))) == n % 9, range(2000)))


def test_functions_made_anew_share_what_was_seen_and_see_their_own_values():
    def outer(result):
        @remembering
        def inner(x: float) -> Float[np.ndarray, "2"]:
            return result

        return inner

    right = np.ones(2)
    assert all(outer(right)(1.0) is right for _ in range(3))
    for wrong in (np.ones(3), np.ones(2, dtype=int), None):
        with pytest.raises(jaxtyping.TypeCheckError):
            outer(wrong)(1.0)


def test_methods_properties_and_data_classes_are_checked_each_time():
    @remembering
    @dataclasses.dataclass
    class Record:
        x: Float[np.ndarray, "n"]

        @property
        @remembering
        def first(self) -> float:
            return self.x[0] if len(self.x) else None

        @staticmethod
        @remembering
        def of(n: int) -> "Record":
            return Record(np.ones((n, n)) if n > 2 else np.ones(n))

    for _ in range(2):
        assert Record.of(2).first == 1.0
        with pytest.raises(jaxtyping.TypeCheckError):
            Record.of(3)
        with pytest.raises(jaxtyping.TypeCheckError):
            Record.of("2")
        with pytest.raises(jaxtyping.TypeCheckError):
            Record(np.ones(0)).first  # noqa: B018


ROOMS = (attsvm.svm, attsvm.exact, attsvm.training, attsvm.paths, attsvm.plots)
NAMES = (
    "attention capturing data errors heads language limits lipschitz losses paths plots reproduce "
    "risk"
)
MATHEMATICS = sorted(
    [f"attsvm.{name}" for name in [*NAMES.split(), "tokens", "training", "transformer"]]
    + [
        module.name
        for package in ROOMS
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
)


def public(name):
    """Functions and classes that a module defines, with their methods, but for private names."""
    for word, thing in vars(importlib.import_module(name)).items():
        function = inspect.isclass(thing) or inspect.isfunction(thing)
        if word.startswith("_") or not function or thing.__module__ != name:
            continue
        yield f"{name}.{word}", thing
        if inspect.isclass(thing):
            for attribute, member in vars(thing).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if not attribute.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{word}.{attribute}", function


def test_every_mathematics_module_is_looked_at():
    names = {module.name for module in pkgutil.iter_modules(attsvm.__path__, "attsvm.")}
    elsewhere = {"attsvm.cli", "attsvm.theory", "attsvm.svm", "attsvm.exact", "attsvm.kernels"}
    elsewhere.add("attsvm.strategies")  # draws instances, and computes nothing
    elsewhere.add("attsvm.primitives")  # computes in every arithmetic, of which each has its types
    elsewhere.add("attsvm.sources")  # finds the claims that come with an installed attsvm
    private = {name for name in names if "._" in name}
    assert names - elsewhere - private == {name for name in MATHEMATICS if name.count(".") == 1}


@pytest.mark.parametrize("name", MATHEMATICS)
def test_everything_public_is_listed_by_kind_described_and_annotated(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for word, thing in public(name):
        assert inspect.getdoc(thing), word
        if inspect.isclass(thing):
            continue
        signature = inspect.signature(thing)
        assert signature.return_annotation is not inspect.Signature.empty, word
        for parameter in signature.parameters.values():
            named = parameter.name in ("self", "cls")
            assert named or parameter.annotation is not inspect.Parameter.empty, word


def test_one_call_in_so_many_is_checked_where_that_is_done_sparingly():
    @remembering
    def first(x: Float[np.ndarray, "n"]) -> float:
        return float(x.flat[0])

    def refused(count):
        found = []
        for k in range(count):
            try:
                first(zeros(2, 3))
            except jaxtyping.TypeCheckError:
                found.append(k)
        return found

    with sparingly():
        assert refused(2 * EACH) == [0, EACH]
    assert refused(3) == [0, 1, 2]
