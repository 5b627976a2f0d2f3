"""Shapes in annotations are checked in this suite, and every public function has them."""

import dataclasses
import importlib
import inspect
import pkgutil
import random
from collections.abc import Sequence

import jaxtyping
import numpy as np
import pytest
from jaxtyping import Float

import attsvm
import attsvm.exact
import attsvm.heads
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
from tests.shape_checks import EACH, FIRST, always, checked

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
    "descend_p: step of text": lambda: descend_p(
        [DATA], zeros(4), LOG_LOSS, step="1", steps=1, record="all"
    ),
    "logistic: a number": lambda: logistic(0.5),
    "grade": lambda: grade(att_svm_programme(DATA), zeros(2, 2), solved=True),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=list(WRONG))
def test_wrong_shapes_and_types_are_caught(call):
    with always(), pytest.raises(jaxtyping.TypeCheckError):
        call()


def test_right_shapes_pass():
    with always():
        assert logits_of_p(X, zeros(4)).shape == (2, 3)
        assert logits_of_w(X, Z, zeros(4, 4)).shape == (2, 3)
        assert gradient_w(DATA, zeros(4, 4), LOG_LOSS).shape == (4, 4)
        assert softmax(zeros(2, 3), np.ones((2, 3), dtype=bool)).shape == (2, 3)


def test_the_first_calls_are_checked_and_then_one_in_so_many():
    @checked
    def first(x: Float[np.ndarray, "n"]) -> float:
        return float(x.flat[0])

    refused = []
    for k in range(FIRST + 2 * EACH):
        try:
            first(zeros(2, 3))
        except jaxtyping.TypeCheckError:
            refused.append(k)
    assert refused == [*range(FIRST), FIRST, FIRST + EACH]


def test_checks_draw_nothing_from_the_generator_that_all_share():
    @checked
    def total(x: Sequence[float]) -> float:
        return float(len(x))

    before, caught = random.getstate(), 0
    for _ in range(FIRST):
        try:
            total((1.0, "a"))
        except jaxtyping.TypeCheckError:
            caught += 1
    assert caught >= FIRST // 2  # every check looks at the item after the last one
    assert random.getstate() == before


def test_methods_properties_and_data_classes_are_checked_each_time():
    @checked
    @dataclasses.dataclass
    class Record:
        x: Float[np.ndarray, "n"]

        @property
        @checked
        def first(self) -> float:
            return self.x[0] if len(self.x) else None

        @staticmethod
        @checked
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


ROOMS = (
    *(attsvm.svm, attsvm.exact, attsvm.training, attsvm.paths, attsvm.plots),
    attsvm.heads,
)
NAMES = (
    "attention data errors heads language limits lipschitz losses paths plots prediction "
    "reproduce risk"
)
MATHEMATICS = sorted(
    [f"attsvm.{name}" for name in [*NAMES.split(), "tokens", "training"]]
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
